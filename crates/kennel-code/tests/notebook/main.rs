//! Notebooks with real interpreters in real boxes: what cells do, and what is left of a notebook after them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod asks;
mod forged;
mod hostile;
mod loss;
mod many;
mod output;
mod serving;
mod stopping;
mod support;

use kennel_testkit::{Test, run_tests};
use std::process::ExitCode;

/// A table of tests: each module with its functions, which are awaited.
macro_rules! tests {
    ($($module:ident: $($name:ident),+ $(,)?;)+) => {
        &[$($((concat!(stringify!($module), "::", stringify!($name)), || awaited(crate::$module::$name())),)+)+]
    };
}

fn awaited(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

const TESTS: &[Test] = tests! {
    asks:
        a_tool_is_called_and_its_result_comes_as_objects,
        gathered_calls_run_at_once_but_not_too_many,
        a_cell_may_ask_only_so_often,
        a_server_that_is_left_out_is_refused_here_as_well,
        servers_are_told_once_and_again_when_they_change,
        calls_are_called_off_with_their_cell,
        calls_are_called_off_at_a_timeout,
        a_call_whose_task_is_cancelled_is_called_off_while_the_cell_goes_on,
        calls_that_a_cell_leaves_behind_are_called_off,
        large_arguments_and_results_pass;
    forged:
        packets_with_a_wrong_token_change_nothing,
        noise_on_the_channel_changes_nothing,
        marks_of_other_cells_are_output,
        closing_every_descriptor_harms_only_the_notebook_itself,
        code_that_finds_its_token_harms_only_itself;
    hostile:
        a_fork_bomb_ends_with_its_timeout,
        too_many_threads_are_an_error_of_the_code,
        all_memory_is_an_error_or_costs_the_interpreter,
        a_full_workspace_is_an_error_of_the_code,
        an_interpreter_that_stops_itself_is_killed,
        an_interpreter_that_becomes_another_program_is_given_up,
        programs_that_are_left_behind_hold_nothing_up,
        killing_everything_else_harms_nothing,
        a_flood_that_goes_on_between_cells_ends_no_cell;
    loss:
        an_interpreter_that_ends_says_how_and_the_next_cell_has_a_new_one,
        what_was_written_before_a_death_is_returned,
        a_death_between_cells_is_told_to_the_next,
        an_idle_interpreter_is_stopped_and_the_next_cell_says_so,
        a_cell_that_runs_longer_than_the_idle_time_is_not_idle,
        the_end_of_a_notebook_ends_its_cells;
    many:
        cells_of_a_notebook_run_one_after_the_other,
        a_full_queue_refuses_and_takes_again,
        notebooks_run_at_once_and_share_nothing,
        the_notebook_that_is_idle_longest_makes_room,
        notebooks_at_work_do_not_make_room,
        what_cannot_be_run_is_refused_with_its_bound,
        old_cells_are_forgotten_and_running_ones_are_not,
        nothing_runs_after_the_shutdown,
        interpreters_that_were_kept_ready_are_fresh;
    output:
        a_cell_returns_what_it_prints_and_its_value_and_leaves_its_variables,
        an_exception_is_an_error_and_costs_no_state,
        a_hundred_megabytes_are_read_shown_in_part_and_kept_in_part,
        what_is_left_out_can_be_read_in_pages,
        long_lines_and_raw_descriptors_break_nothing,
        bytes_that_are_no_text_are_shown_as_such,
        a_reader_gets_each_byte_once_and_others_get_them_too,
        what_is_left_out_while_a_cell_runs_can_be_had_when_it_is_over,
        output_between_cells_belongs_to_the_next,
        descriptors_that_were_closed_or_turned_away_cost_only_their_own_output,
        nothing_is_waited_for_where_marks_come,
        a_value_has_what_output_leaves_of_the_budget,
        a_cell_that_runs_can_be_watched,
        output_that_was_kept_goes_when_newer_output_needs_its_room;
    serving:
        what_belongs_to_one_user_is_no_others,
        what_belongs_to_one_view_is_no_others,
        whoever_is_not_known_runs_nothing;
    stopping:
        a_cell_that_takes_too_long_is_interrupted_and_its_state_stays,
        output_before_a_timeout_is_returned,
        a_cell_that_does_not_stop_is_killed_and_the_next_one_hears_of_it,
        an_interrupt_that_is_swallowed_once_comes_again,
        code_that_cleans_up_and_ends_says_so_itself,
        a_running_cell_can_be_cancelled,
        a_waiting_cell_can_be_cancelled_and_never_runs,
        dropping_a_hold_does_not_end_the_cell,
        an_interrupt_that_the_code_sends_itself_is_an_error;
};

fn main() -> ExitCode {
    // Before anything else: the helper that makes boxes is this same program.
    kennel_jail::run_if_helper();
    run_tests(TESTS, std::thread::available_parallelism().map_or(1, Into::into))
}
