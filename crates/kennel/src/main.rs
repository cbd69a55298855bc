//! The command line: thin commands that wire the crates.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod failure;
mod machine;
mod screen;
mod terminal;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: the helpers that make boxes and look at foreign trees are this same program, and must stay
    // small.
    kennel_jail::run_if_helper();
    kennel_tree::run_if_helper();
    match commands::run(cli::Arguments::parse()) {
        Ok(code) => code,
        Err(failure) => {
            screen::write_line(&failure.to_string());
            failure.code()
        }
    }
}
