//! Interpreters in real boxes.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod scene;
mod starting;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    ("an_interpreter_is_ready_and_speaks", starting::an_interpreter_is_ready_and_speaks),
    ("its_box_is_what_code_mode_promises", starting::its_box_is_what_code_mode_promises),
    ("one_that_ends_early_says_why", starting::one_that_ends_early_says_why),
    ("one_that_is_never_ready_is_ended", starting::one_that_is_never_ready_is_ended),
    ("a_pool_of_real_ones_gives_living_ones", starting::a_pool_of_real_ones_gives_living_ones),
    ("every_python_at_hand_starts", starting::every_python_at_hand_starts),
];

fn main() -> ExitCode {
    // Before anything else: the helper that makes boxes is this same program.
    kennel_jail::run_if_helper();
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    let filters = words.iter().filter(|word| !word.starts_with('-')).collect::<Vec<_>>();
    let chosen = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let listing = words.iter().any(|word| word == "--list");
    let mut failed = 0;
    for (name, test) in TESTS.iter().filter(|(name, _)| chosen(name)) {
        if listing {
            println!("{name}: test");
            continue;
        }
        let outcome = catch_unwind(AssertUnwindSafe(test));
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        failed += usize::from(outcome.is_err());
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(101) }
}
