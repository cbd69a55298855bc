//! The one place that prints, so that no command can forget to clean what it prints.
//!
//! It knows two kinds of output. What is for people ([`print`], [`say`], [`write_line`]) is cleaned wherever it goes: it quotes
//! servers, files and peers, and may be looked at later. What was asked for as data ([`print_data`], [`print_json`]) is
//! printed as it is for programs, and cleaned when standard output is a terminal. Kennel's own drawing, which moves the
//! cursor, is done here and nowhere else.

mod protocol;

use crate::failure::Failure;
use kennel_redact::{hanging, json_for_terminal, printable};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

pub(crate) use protocol::Messages;

/// Prints text for people to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_out(&printable(text))
}

/// Prints what was asked for: to a terminal without what that would obey, to a program as it is.
pub(crate) fn print_data(text: &str) -> Result<(), Failure> {
    if is_screen() { print(text) } else { write_out(text) }
}

/// Prints JSON: to a terminal with escapes for what that would obey, to a program as it is.
pub(crate) fn print_json_text(json: &str) -> Result<(), Failure> {
    write_out(&if is_screen() { json_for_terminal(json) } else { json.into() })
}

/// Prints a value as JSON that people can read too.
pub(crate) fn print_json(value: &impl Serialize) -> Result<ExitCode, Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::System { what: "writing JSON", source: error.into() })?;
    print_json_text(&format!("{text}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Says something on standard error.
pub(crate) fn say(text: impl Display) {
    write_line(&format!("kennel: {text}"));
}

/// Says on standard error what did not keep the command from doing its work.
pub(crate) fn complain(problems: &[String]) {
    for problem in problems {
        say(problem);
    }
}

/// Writes one message for people to standard error: no line of it but the first begins where a line begins.
pub(crate) fn write_line(text: &str) {
    // Whoever has closed standard error does not want to know.
    let _ = writeln!(io::stderr(), "{}", hanging(text));
}

/// Writes one JSON object to standard error.
pub(crate) fn write_json_line(json: &str) {
    let json = if io::stderr().is_terminal() { json_for_terminal(json) } else { json.into() };
    let _ = writeln!(io::stderr(), "{json}");
}

/// Whether somebody watches standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Shows a text in place of the last line of the terminal at standard error, which goes away with the next one.
pub(crate) fn show_progress(text: &str) {
    // Back to the begin of the line, and away with what is there.
    let _ = write!(io::stderr().lock(), "\r\u{1b}[K{}", kennel_redact::one_line(text));
}

/// Asks somebody at the terminal; `None` if there is none.
pub(crate) fn ask(question: &str) -> io::Result<Option<String>> {
    let (stdin, mut stderr) = (io::stdin(), io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return Ok(None);
    }
    write!(stderr, "{} ", hanging(question))?;
    stderr.flush()?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    Ok(Some(answer))
}

/// How wide standard output is, if it is a terminal.
pub(crate) fn width() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok())??;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Standard output for messages of the protocol, which are a client's and seldom for people.
pub(crate) fn protocol() -> Messages {
    Messages::to(tokio::io::stdout(), is_screen())
}

fn is_screen() -> bool {
    io::stdout().is_terminal()
}

/// A reader that has seen enough and gone is no failure.
fn write_out(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|source| Failure::System { what: "writing to standard output", source }),
    }
}
