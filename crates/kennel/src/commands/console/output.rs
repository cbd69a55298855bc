//! Owns the way to standard error, and the last events of all servers.

use super::ring::Ring;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many lines wait for a reader of standard error that is slow.
const MOST_WAITING: usize = 1024;
/// How long such a reader is waited for at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How many events are kept, and how much of them.
const KEPT_EVENTS: usize = 2000;
const KEPT_BYTES: usize = 2 << 20;

/// For whom is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    People,
    Json,
}

/// Whether people have to be told which server something is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// No: there is one, and they know which.
    Known,
    /// Yes; and whoever asks later is told too.
    Each,
}

/// Writes to standard error. Whoever says something never waits for whoever reads it: what is too much is dropped.
pub(crate) struct Output {
    format: Format,
    naming: Naming,
    lines: SyncSender<Line>,
    dropped: AtomicU64,
    events: Ring<Value>,
}

enum Line {
    Text(String),
    /// Everything before is written; tell so.
    Flush(SyncSender<()>),
}

impl Output {
    pub(crate) fn new(format: Format, naming: Naming) -> Self {
        let (lines, written) = sync_channel(MOST_WAITING);
        // It ends with the output, or with Kennel if standard error is stuck.
        std::thread::spawn(move || write_all(&written));
        Self { format, naming, lines, dropped: AtomicU64::new(0), events: Ring::new(KEPT_EVENTS, KEPT_BYTES) }
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    pub(super) fn naming(&self) -> Naming {
        self.naming
    }

    /// Whether anybody can ask for events later.
    pub(super) fn keeps_events(&self) -> bool {
        self.naming == Naming::Each
    }

    /// The last events of all servers.
    pub(crate) fn events(&self) -> &Ring<Value> {
        &self.events
    }

    pub(super) fn keep(&self, event: Value) {
        if self.keeps_events() {
            // About what it takes in memory: the text and its members.
            let bytes = event.to_string().len();
            self.events.push(event, bytes);
        }
    }

    /// Waits until all is written, unless that takes too long.
    pub(crate) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Line::Flush(done)).is_ok() {
            let _ = written.recv_timeout(LAST_WORDS);
        }
    }

    pub(super) fn write(&self, mut text: String) {
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let note = format!("{dropped} lines before this were dropped: standard error is read too slowly");
            text = match self.format {
                Format::People => format!("{text}\nkennel: {note}"),
                Format::Json => format!("{text}\n{}", json!({ "time": now(), "event": "dropped", "text": note })),
            };
        }
        if self.lines.try_send(Line::Text(text)).is_err() {
            self.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
    }
}

fn write_all(lines: &Receiver<Line>) {
    for line in lines {
        match line {
            // Whoever has closed standard error does not want to know.
            Line::Text(text) => drop(writeln!(std::io::stderr(), "{text}")),
            Line::Flush(done) => drop(done.try_send(())),
        }
    }
}

/// Seconds since 1970, with milliseconds.
pub(super) fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs_f64() * 1000.0).round() / 1000.0
}
