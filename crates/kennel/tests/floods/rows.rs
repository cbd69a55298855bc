//! The rows of `docs/limits.md`: how each is driven, and what it may take at most.

use crate::clients;
use crate::gateway::{Gateway, KIB, MESSAGE, MIB, UNREAD};
use serde_json::json;
use std::time::Duration;

/// One row.
pub(crate) struct Row {
    /// Its name in the last column of the page.
    pub(crate) name: &'static str,
    /// What the bounds on its way allow in memory, together.
    pub(crate) bound: usize,
    /// Whether it is driven as an ordinary user too.
    pub(crate) is_for_both: bool,
    /// Drives it; the error says what was not as the page says.
    pub(crate) drive: fn(&Gateway) -> Result<(), String>,
}

/// Lines that a process has written and that are being read: the log of its output, what is read at once, and the line
/// that has not ended.
const OUTPUT: usize = 2 * MESSAGE + 256 * KIB + 2 * MESSAGE;
/// What is made of a piece of 64 KiB in which every line has one letter.
const PIECE: usize = 64 * KIB * 256;
/// What waits for one client that does not read.
const MAILBOX: usize = 4 * MIB;
/// What is remembered of the lists, as it is and as it was, and what is collected of four of them.
const LISTS: usize = 2 * 2 * MIB + 4 * (2 * MIB + 2 * MESSAGE);
/// What is kept of questions of a process, or of requests in flight.
const QUESTIONS: usize = 2 * MIB;
const IN_FLIGHT: usize = 2 * MIB;
/// Ids of tasks, of elicitations and of states.
const OWNED: usize = 3 * MIB;

const fn row(name: &'static str, bound: usize, drive: fn(&Gateway) -> Result<(), String>) -> Row {
    Row { name, bound, is_for_both: false, drive }
}

const fn both(name: &'static str, bound: usize, drive: fn(&Gateway) -> Result<(), String>) -> Row {
    Row { name, bound, is_for_both: true, drive }
}

/// A server floods for so many milliseconds.
fn floods(gateway: &Gateway, server: &str, millis: u64) -> Result<(), String> {
    let mut session = gateway.session(server);
    let answer = session.call(1, "go", json!({})).map_err(|error| error.to_string())?;
    if !answer.last().is_some_and(|answer| answer["result"].is_object()) {
        return Err(format!("{server} did not begin: {answer:?}"));
    }
    std::thread::sleep(Duration::from_millis(millis));
    clients::end(&mut session);
    Ok(())
}

pub(crate) const ROWS: [Row; 27] = [
    both("list-changed", OUTPUT + MAILBOX, |gateway| floods(gateway, "list-changed", 3000)),
    row("lists", OUTPUT + MAILBOX + LISTS, |gateway| floods(gateway, "lists", 1200)),
    row("pages", OUTPUT + MAILBOX + LISTS, |gateway| floods(gateway, "pages", 1000)),
    row("logs", OUTPUT + MAILBOX, |gateway| floods(gateway, "logs", 700)),
    row("progress", OUTPUT + MAILBOX, |gateway| floods(gateway, "progress", 700)),
    row("updates", OUTPUT + MAILBOX, |gateway| floods(gateway, "updates", 700)),
    row("cancels", OUTPUT + MAILBOX, |gateway| floods(gateway, "cancels", 700)),
    both("questions", OUTPUT + MAILBOX + QUESTIONS, |gateway| floods(gateway, "questions", 1000)),
    row("elicitations", OUTPUT + MAILBOX + QUESTIONS + OWNED, |gateway| floods(gateway, "elicitations", 1000)),
    row("pings", OUTPUT + MESSAGE, |gateway| floods(gateway, "pings", 700)),
    row("answers", OUTPUT, |gateway| floods(gateway, "answers", 700)),
    row("errors", OUTPUT, |gateway| floods(gateway, "errors", 700)),
    row("endless-line", OUTPUT, |gateway| floods(gateway, "endless-line", 700)),
    row("stderr", OUTPUT + MIB, |gateway| {
        let before = gateway.written();
        floods(gateway, "stderr", 1500)?;
        let written = gateway.written() - before;
        // As JSON, with what stands around each line.
        if written < 2 * MIB { Ok(()) } else { Err(format!("{written} bytes went to standard error")) }
    }),
    row("tasks", OUTPUT + MAILBOX + OWNED, clients::tasks),
    row("kept-results", OUTPUT + MAILBOX + IN_FLIGHT, clients::kept_results),
    row("restarts", OUTPUT, clients::restarts),
    row("upstream-event", 4 * 2 * MESSAGE, clients::upstream_event),
    row("requests", OUTPUT + MAILBOX + IN_FLIGHT, clients::requests),
    row("request-bytes", OUTPUT + MAILBOX + IN_FLIGHT + 2 * MESSAGE, clients::request_bytes),
    both("unread", OUTPUT + UNREAD + IN_FLIGHT + 2 * MESSAGE, clients::unread),
    row("names", OUTPUT + MAILBOX, clients::names),
    row("subscriptions", OUTPUT + MAILBOX + MIB, clients::subscriptions),
    row("introductions", OUTPUT + MAILBOX, clients::introductions),
    row("audit", OUTPUT + MAILBOX + 16 * MIB, clients::audit),
    row("stdio", OUTPUT + MAILBOX, clients::stdio),
    // Last, for the allocator gives little of what it takes back, and what is free does not grow.
    row("junk", OUTPUT + PIECE, |gateway| floods(gateway, "junk", 700)),
];
