//! `kennel-fixture [option…]`: an MCP server over stdio that does on request what real servers do well and badly.
//!
//! The official conformance suites find here the tools, resources and prompts that they expect; the other tools are for
//! Kennel's own tests and benches. It needs no environment and no files, and the same input gives the same output.
//!
//! Owns the command line and the reading of stdin. The protocol of 2024-11-05 to 2025-11-25 is in [`legacy`], that of
//! 2026-07-28 in [`modern`], and [`receive`] brings each line to the one that the process speaks. What they serve (tools,
//! resources, prompts) knows nothing of protocol versions; how a tool asks the client in either is in [`dialogue`].

mod answers;
mod arguments;
mod calls;
mod catalog;
mod completion;
mod content;
mod dialogue;
mod era;
mod incoming;
mod legacy;
mod listed;
mod modern;
mod options;
mod output;
mod prompts;
mod receive;
mod resources;
mod server;
mod tools;

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use options::{Mode, Options, Start};
use server::Server;

/// A line buffer that grew beyond this is given back after its message.
const KEPT_BUFFER: usize = 1 << 20;

fn main() -> ExitCode {
    let mode = match Mode::parse(std::env::args().skip(1)) {
        Ok(mode) => mode,
        Err(message) => {
            eprintln!("kennel-fixture: {message}");
            return ExitCode::from(2);
        }
    };
    let outcome = match mode {
        Mode::Serve(options) => serve(*options),
        Mode::Sleeper(sleeper) => sleeper.run(),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("kennel-fixture: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: Options) -> io::Result<ExitCode> {
    let mut record = options.record.as_ref().map(open_record).transpose()?;
    for line in 1..=options.stderr_lines {
        eprintln!("kennel-fixture: line {line} on stderr");
    }
    match options.start {
        Start::Now => {}
        Start::After(delay) => thread::sleep(delay),
        Start::Never(code) => return Ok(ExitCode::from(code)),
    }
    let at_end = options.at_end;
    let server = Arc::new(Server::new(options)?);
    let mut input = BufReader::with_capacity(64 << 10, io::stdin().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(record) = &mut record {
            record.write_all(&line)?;
        }
        receive::receive(&server, line.trim_ascii());
        line.clear();
        line.shrink_to(KEPT_BUFFER);
    }
    server.listeners.end(&server.output);
    match at_end {
        // Not by returning: calls in flight have threads, and the end of stdin ends them.
        options::AtEnd::Exit => process::exit(0),
        options::AtEnd::Stay => loop {
            thread::sleep(Duration::from_hours(1));
        },
    }
}

fn open_record(path: &std::path::PathBuf) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}
