//! The helper that makes boxes when it is ended, stopped or out of memory, and what it makes of paths and ports that
//! others change or listen on: in real boxes, with the engine of this very process.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod ending;
mod ports;
mod scene;
mod swapping;

use kennel_testkit::{Test, run_tests};
use std::process::ExitCode;

const TESTS: &[Test] = &[
    ("boxes_live_on_without_their_helper_and_the_next_gets_another", ending::boxes_live_on_without_their_helper),
    ("a_box_is_an_error_when_its_helper_dies_over_it", ending::a_box_is_an_error_when_its_helper_dies_over_it),
    ("a_helper_without_memory_is_an_error_and_no_end", ending::a_helper_without_memory_is_an_error_and_no_end),
    ("a_swapped_path_shows_nothing_else", swapping::a_swapped_path_shows_nothing_else),
    ("a_box_connects_to_the_ports_it_may", ports::a_box_connects_to_the_ports_it_may),
];

fn main() -> ExitCode {
    // Before anything else: the helper that makes boxes is this same program.
    kennel_jail::run_if_helper();
    run_tests(TESTS, 1)
}
