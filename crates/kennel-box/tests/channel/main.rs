//! Processes with a channel, in real boxes: what can use it, what cannot, and the places of the box's own.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod guard;
mod passing;
mod places;
mod scene;

use kennel_testkit::{Test, run_tests};
use std::process::ExitCode;

const TESTS: &[Test] = &[
    ("packets_pass_in_both_directions", passing::packets_pass_in_both_directions),
    ("the_end_of_either_side_is_seen_by_the_other", passing::the_end_of_either_side_is_seen_by_the_other),
    ("the_sender_of_a_packet_is_known", passing::the_sender_of_a_packet_is_known),
    ("what_cannot_start_is_named", passing::what_cannot_start_is_named),
    ("without_walls_the_channel_is_there_too", passing::without_walls_the_channel_is_there_too),
    ("without_a_channel_its_descriptor_is_like_any_other", passing::without_a_channel_its_descriptor_is_like_any_other),
    ("only_two_calls_can_use_the_channel", guard::only_two_calls_can_use_the_channel),
    ("the_same_calls_work_on_another_socket", guard::the_same_calls_work_on_another_socket),
    ("code_that_closes_and_writes_everywhere_does_no_harm", guard::code_that_closes_and_writes_everywhere_does_no_harm),
    ("programs_started_from_it_have_no_channel", guard::programs_started_from_it_have_no_channel),
    ("own_places_hold_what_they_may_and_no_more", places::own_places_hold_what_they_may_and_no_more),
    ("own_places_need_namespaces", places::own_places_need_namespaces),
];

fn main() -> ExitCode {
    // Before anything else: the helper that makes boxes is this same program.
    kennel_jail::run_if_helper();
    run_tests(TESTS, 1)
}
