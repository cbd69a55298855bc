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
use crate::failure::Shown;
use crate::screen;
use clap::CommandFactory;
use control::Verb;
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
            screen::print_data(&String::from_utf8_lossy(&script)).map(|()| ExitCode::SUCCESS).map_err(Shown::from)
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
