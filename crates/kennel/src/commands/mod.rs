//! One module per command.

mod asking;
mod call;
mod clients;
mod connect;
mod console;
mod definition;
mod doctor;
mod exec;
mod launcher;
mod naming;
mod plain;
mod run;
mod sandbox;
mod self_check;
mod server;
mod service;
mod snippets;
mod streams;
mod tools;

use crate::cli::{Arguments, Command};
use crate::failure::{Failure, Shown};
use clap::CommandFactory;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// Does what the command line says.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Shown> {
    match arguments.command {
        Command::Exec(flags) => exec::run(*flags).map_err(Shown::from),
        Command::Run(flags) => run::run(*flags).map_err(Shown::from),
        Command::Call(flags) => call::run(*flags).map_err(Shown::from),
        Command::Tools(flags) => tools::run(*flags).map_err(Shown::from),
        Command::Add(flags) => clients::add(*flags).map_err(Shown::from),
        Command::Remove(flags) => clients::remove(&flags).map_err(Shown::from),
        Command::Import(flags) => clients::import(&flags).map_err(Shown::from),
        Command::Export(flags) => clients::export(&flags).map_err(Shown::from),
        Command::Client(command) => clients::client(command).map_err(Shown::from),
        Command::Connect(flags) => connect::run(&flags).map_err(Shown::from),
        Command::Doctor(flags) => doctor::run(&flags).map_err(Shown::from),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "kennel", &mut script);
            print(&String::from_utf8_lossy(&script)).map(|()| ExitCode::SUCCESS).map_err(Shown::from)
        }
        Command::SelfCheck => self_check::run().map_err(Shown::from),
    }
}

/// Prints to standard output. A reader that has seen enough and gone is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|source| Failure::System { what: "writing to standard output", source }),
    }
}

/// Prints what comes from a server: to a terminal without what would play tricks on it, to a program as it is.
fn print_foreign(text: &str) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() { print(&plain::printable(text)) } else { print(text) }
}

/// Says on standard error what did not keep the command from doing its work.
fn complain(problems: &[String]) {
    for problem in problems {
        // Whoever has closed standard error does not want to know.
        let _ = writeln!(std::io::stderr(), "kennel: {problem}");
    }
}
