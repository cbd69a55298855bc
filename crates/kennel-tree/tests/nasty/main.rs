//! Nasty trees: whatever foreign code can leave on a disk is listed, read and removed within bounds, and nothing outside
//! of it is ever touched. As whoever runs this, and again as an ordinary user where that is root.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod changing;
mod generator;
mod helpers;
mod property;
mod scene;
mod shapes;

use kennel_testkit::{Test, run_tests};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, ExitCode};

const TESTS: &[Test] = &[
    ("any_tree_is_listed_read_and_removed_and_nothing_beside_it", property::any_tree_is_listed_read_and_removed),
    ("a_tree_of_any_depth_is_removed", shapes::a_tree_of_any_depth_is_removed),
    ("a_tree_that_is_too_deep_is_not_listed", shapes::a_tree_that_is_too_deep_is_not_listed),
    ("a_tree_that_is_too_wide_is_not_listed", shapes::a_tree_that_is_too_wide_is_not_listed),
    ("holes_count_as_bytes", shapes::holes_count_as_bytes),
    ("long_names_are_bounded", shapes::long_names_are_bounded),
    ("only_regular_files_are_read", shapes::only_regular_files_are_read),
    ("links_are_followed_inside_and_never_out", shapes::links_are_followed_inside_and_never_out),
    ("every_kind_of_change_is_found", shapes::every_kind_of_change_is_found),
    ("a_file_is_replaced_and_no_link_followed", shapes::a_file_is_replaced_and_no_link_followed),
    ("closed_directories_are_removed", shapes::closed_directories_are_removed),
    ("what_cannot_be_removed_is_said_and_all_else_is_gone", shapes::what_cannot_be_removed_is_said),
    ("files_that_run_as_their_owner_are_found", shapes::files_that_run_as_their_owner_are_found),
    ("a_file_that_grows_is_read_to_its_bound", changing::a_file_that_grows_is_read_to_its_bound),
    ("a_directory_that_becomes_a_link_leads_nowhere", changing::a_directory_that_becomes_a_link_leads_nowhere),
    ("a_helper_that_fails_is_an_error", helpers::a_helper_that_fails_is_an_error),
    ("a_helper_that_answers_nonsense_is_an_error", helpers::a_helper_that_answers_nonsense_is_an_error),
    ("a_helper_that_is_late_is_killed", helpers::a_helper_that_is_late_is_killed),
    ("a_helper_says_that_its_time_is_over", helpers::a_helper_says_that_its_time_is_over),
    ("a_helper_ends_when_it_is_dropped", helpers::a_helper_ends_when_it_is_dropped),
    ("a_helper_ends_with_its_caller", helpers::a_helper_ends_with_its_caller),
    ("a_helper_has_limits_and_sees_nothing_else", helpers::a_helper_has_limits_and_sees_nothing_else),
];

fn main() -> ExitCode {
    // Before anything else: the helper is this same program.
    kennel_tree::run_if_helper();
    if std::env::args().nth(1).is_some_and(|word| word == helpers::CALLER) {
        helpers::run_as_caller();
        return ExitCode::SUCCESS;
    }
    let mine = run_tests(TESTS, 2);
    let listing = std::env::args().any(|word| word == "--list");
    if listing || !rustix::process::geteuid().is_root() {
        return mine;
    }
    println!("again as an ordinary user:");
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = place.path().join("nasty");
    // By another process: a descriptor of ours, open for writing, could keep the copy from being executed.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status();
    assert!(copied.unwrap().success());
    let mut again = Command::new("setpriv");
    again.args(["--reuid=54321", "--regid=54321", "--clear-groups", "--"]).arg(&program);
    again.args(std::env::args_os().skip(1)).env("HOME", "/").current_dir("/");
    if again.status().unwrap().success() { mine } else { ExitCode::from(101) }
}
