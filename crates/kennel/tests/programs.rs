//! Real programs in a box, with nothing but the paths they need: interpreters, what was installed with them, compilers.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "programs/node.rs"]
mod node;
#[path = "programs/python.rs"]
mod python;
mod support;
#[path = "programs/tools.rs"]
mod tools;

use std::process::Command;
use support::ground::Ground;

/// `kennel exec` with the home directory and the `PATH` of whoever runs the tests.
fn as_at_home(ground: &Ground, flags: &[&str], command: &[&str]) -> Command {
    let mut command = ground.exec(flags, command);
    for name in ["HOME", "PATH"] {
        command.env(name, std::env::var_os(name).unwrap_or_else(|| panic!("the tests need {name}")));
    }
    command
}

/// Where a program is on the `PATH` of whoever runs the tests.
fn on_path(program: &str) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(program))
        .find(|path| path.exists())
}
