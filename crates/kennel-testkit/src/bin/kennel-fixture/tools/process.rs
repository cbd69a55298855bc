//! Owns the tools about the process itself: what it is, and how it ends, hangs and leaves others behind.

use std::env;
use std::process;
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;

use super::{NO_ARGUMENTS, Tool, sleeper};
use crate::calls::{Call, NoResult, Outcome};
use crate::content;
use crate::incoming::Failure;

/// The most processes that `spawn_grandchildren` leaves behind.
const MOST_GRANDCHILDREN: u64 = 1000;

const NAME: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
const DIE: &str = r#"{"type":"object","properties":{"code":{"type":"integer"},"signal":{"type":"integer"},"after_ms":{"type":"integer"},"answer_first":{"type":"boolean"}}}"#;
const HANG: &str = r#"{"type":"object","properties":{"all":{"type":"boolean"}}}"#;
const GRANDCHILDREN: &str = r#"{"type":"object","properties":{"count":{"type":"integer"},"hold_stdout":{"type":"boolean"},"marker":{"type":"string"}},"required":["count"]}"#;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new("pid", "Returns the id of the server's process", NO_ARGUMENTS, |_| {
        Ok(content::text(process::id().to_string()))
    }),
    Tool::new("environment", "Returns the value of a variable of the environment", NAME, |call| {
        let name = call.arguments.text("name")?;
        Ok(match env::var_os(name) {
            Some(value) => content::text(value.to_string_lossy()),
            None => content::tool_error(format!("{name} is not set")),
        })
    }),
    Tool::new("die", "Ends the process by exit `code` or `signal` after `after_ms`, by default unanswered", DIE, die),
    Tool::new("hang", "Never answers; with `all` the server never answers anything again", HANG, |call| {
        if call.arguments.flag("all") {
            call.server.hang();
        }
        Err(NoResult::Silent)
    }),
    Tool::new("close_stdout", "Closes stdout without an answer, and runs on", NO_ARGUMENTS, |call| {
        match call.server.output.close() {
            Ok(()) => Err(NoResult::Silent),
            Err(error) => Ok(content::tool_error(error.to_string())),
        }
    }),
    Tool::new(
        "spawn_grandchildren",
        "Leaves `count` sleeping processes behind, in sessions of their own and without a parent; returns their ids",
        GRANDCHILDREN,
        spawn_grandchildren,
    ),
];

fn die(call: &Call) -> Outcome {
    let delay = Duration::from_millis(call.arguments.number_or("after_ms", 0)?);
    let code = i32::try_from(call.arguments.number_or("code", 1)?).map_err(Failure::invalid_params)?;
    let signal = if call.arguments.has("signal") { Some(signal(call.arguments.number("signal")?)?) } else { None };
    if call.arguments.flag("answer_first") {
        thread::spawn(move || {
            // Long enough for the answer to be written.
            thread::sleep(delay.max(Duration::from_millis(20)));
            end(code, signal)
        });
        return Ok(content::text("dying"));
    }
    call.wait(delay)?;
    end(code, signal)
}

fn end(code: i32, signal: Option<Signal>) -> ! {
    // A signal that does not end the process leaves the exit.
    if let Some(signal) = signal {
        let _ = kill_process(getpid(), signal);
        thread::sleep(Duration::from_millis(100));
    }
    process::exit(code)
}

fn signal(number: u64) -> Result<Signal, Failure> {
    (i32::try_from(number).ok())
        .and_then(Signal::from_named_raw)
        .ok_or_else(|| Failure::invalid_params(format_args!("there is no signal {number}")))
}

fn spawn_grandchildren(call: &Call) -> Outcome {
    let count = call.arguments.number("count")?;
    if count > MOST_GRANDCHILDREN {
        return Err(Failure::invalid_params(format_args!("at most {MOST_GRANDCHILDREN} at once")).into());
    }
    let marker = call.arguments.text_or("marker", "")?;
    let stdout = if call.arguments.flag("hold_stdout") { sleeper::Stdout::Held } else { sleeper::Stdout::LetGo };
    Ok(match sleeper::leave_behind(count, stdout, marker) {
        Ok(ids) => content::text(json!(ids).to_string()),
        Err(error) => content::tool_error(format!("no process could be left behind: {error}")),
    })
}
