//! The store with real boxes and real installers: what is installed runs offline, once, whole, and without secrets.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod atomic;
mod npm;
mod python;
mod registry;
mod scene;
mod secrets;

use kennel_testkit::{Test, run_tests};
use std::process::ExitCode;

const TESTS: &[Test] = &[
    ("an_npm_package_is_installed_once_and_runs_offline", npm::an_npm_package_is_installed_once_and_runs_offline),
    ("the_first_answer_stays_until_a_refresh", npm::the_first_answer_stays_until_a_refresh),
    ("a_changed_file_is_found", npm::a_changed_file_is_found),
    ("what_is_wrong_with_a_name_is_said", npm::what_is_wrong_with_a_name_is_said),
    (
        "a_python_package_is_installed_once_and_runs_offline",
        python::a_python_package_is_installed_once_and_runs_offline,
    ),
    ("a_python_without_pip_gets_one", python::a_python_without_pip_gets_one),
    ("uv_installs_where_it_is_at_hand", python::uv_installs_where_it_is_at_hand),
    ("nothing_of_a_wheel_runs_beside_credentials", python::nothing_of_a_wheel_runs_beside_credentials),
    ("a_source_is_built_without_credentials", python::a_source_is_built_without_credentials),
    ("what_is_wrong_with_a_python_name_is_said", python::what_is_wrong_with_a_python_name_is_said),
    ("a_killed_install_leaves_the_store_as_it_was", atomic::a_killed_install_leaves_the_store_as_it_was),
    ("what_belongs_to_nobody_is_removed_and_nothing_else", atomic::what_belongs_to_nobody_is_removed_and_nothing_else),
    ("many_at_once_install_once", atomic::many_at_once_install_once),
    ("an_install_ends_with_its_budget", atomic::an_install_ends_with_its_budget),
    ("a_dropped_install_leaves_the_store_as_it_was", atomic::a_dropped_install_leaves_the_store_as_it_was),
    ("credentials_reach_the_download_and_nothing_else", secrets::credentials_reach_the_download_and_nothing_else),
    (
        "an_install_step_reaches_no_other_port_of_this_machine",
        secrets::an_install_step_reaches_no_other_port_of_this_machine,
    ),
    ("the_installer_sees_nothing_else_of_the_user", secrets::the_installer_sees_nothing_else_of_the_user),
];

fn main() -> ExitCode {
    // Before anything else: the helpers that make boxes and look at installs are this same program.
    kennel_jail::run_if_helper();
    kennel_tree::run_if_helper();
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    if words.first().is_some_and(|word| word == scene::CHILD) {
        scene::run_as_child(&words[1..]);
        return ExitCode::SUCCESS;
    }
    run_tests(TESTS, 1)
}
