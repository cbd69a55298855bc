//! Interpreters in real boxes.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod scene;
mod starting;

use kennel_testkit::{Test, run_tests};
use std::process::ExitCode;

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
    run_tests(TESTS, 1)
}
