//! One module per command.

mod doctor;
mod exec;
mod sandbox;
mod self_check;

use crate::cli::{Arguments, Command};
use crate::failure::Shown;
use clap::CommandFactory;
use std::process::ExitCode;

/// Does what the command line says.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Shown> {
    match arguments.command {
        Command::Exec(flags) => exec::run(*flags).map_err(Shown::from),
        Command::Doctor(flags) => doctor::run(&flags).map_err(Shown::from),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Arguments::command(), "kennel", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
        Command::SelfCheck => self_check::run().map_err(Shown::from),
    }
}
