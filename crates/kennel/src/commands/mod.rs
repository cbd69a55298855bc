//! One module per command.

mod admin;
mod asking;
mod belongings;
mod call;
mod clients;
mod code;
mod coding;
mod config;
mod connect;
mod console;
mod control;
mod definition;
mod doctor;
mod elsewhere;
mod exec;
mod fetching;
mod following;
mod launcher;
mod naming;
mod neighbours;
mod plain;
mod ps;
mod run;
mod sandbox;
mod saved;
mod self_check;
mod serve;
mod server;
mod service;
mod snippets;
mod streams;
mod table;
mod tools;

use crate::cli::{Arguments, Command};
use crate::failure::{Failure, Shown};
use clap::CommandFactory;
use control::Verb;
use serde::Serialize;
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
        Command::Serve(flags) => serve::run(flags).map_err(Shown::from),
        Command::Ps(flags) => ps::list(&flags).map_err(Shown::from),
        Command::Logs(flags) => following::logs(flags).map_err(Shown::from),
        Command::Stop(flags) => control::run(Verb::Stop, &flags).map_err(Shown::from),
        Command::Start(flags) => control::run(Verb::Start, &flags).map_err(Shown::from),
        Command::Restart(flags) => control::run(Verb::Restart, &flags).map_err(Shown::from),
        Command::Inspect(flags) => ps::inspect(&flags).map_err(Shown::from),
        Command::Events(flags) => following::events(&flags).map_err(Shown::from),
        Command::Reload(flags) => control::reload(&flags).map_err(Shown::from),
        Command::Code(flags) => code::run(&flags).map_err(Shown::from),
        Command::Saved(command) => saved::run(&command).map_err(Shown::from),
        Command::Config(command) => config::run(&command).map_err(Shown::from),
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

/// Prints a value as JSON that people can read too.
fn print_json(value: &impl Serialize) -> Result<ExitCode, Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::System { what: "writing JSON", source: error.into() })?;
    print(&format!("{text}\n"))?;
    Ok(ExitCode::SUCCESS)
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
