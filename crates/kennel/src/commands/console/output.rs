//! Owns the way to standard error, and the last events of all servers.

use super::ring::Ring;
use super::share::Share;
use crate::screen;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How many lines wait for a reader of standard error that is slow.
const MOST_WAITING: usize = 1024;
/// How long such a reader is waited for at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How often people hear how much of a server is not shown.
const COUNT_INTERVAL: Duration = Duration::from_secs(2);
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
    counts: Arc<Counts>,
}

/// What the writer has to tell of servers that write too much.
#[derive(Default)]
struct Counts {
    shares: Mutex<Vec<Weak<Share>>>,
    /// Whether there is anything to tell.
    is_due: AtomicBool,
}

enum Line {
    Text(String),
    /// There is something to count from now on.
    Count,
    /// Everything before is written; tell so.
    Flush(SyncSender<()>),
}

impl Output {
    pub(crate) fn new(format: Format, naming: Naming) -> Self {
        let (lines, written) = sync_channel(MOST_WAITING);
        let counts = Arc::new(Counts::default());
        let writer = Writer { format, naming, counts: Arc::clone(&counts), counted: Instant::now() };
        // It ends with the output, or with Kennel if standard error is stuck.
        std::thread::spawn(move || writer.write_all(&written));
        let events = Ring::new(KEPT_EVENTS, KEPT_BYTES);
        Self { format, naming, lines, dropped: AtomicU64::new(0), events, counts }
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

    /// What a server may make Kennel write.
    pub(super) fn share(&self, server: &str) -> Arc<Share> {
        let share = Arc::new(Share::new(server));
        let mut shares = self.counts.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares.retain(|share| share.strong_count() > 0);
        shares.push(Arc::downgrade(&share));
        share
    }

    /// Has the writer tell, before long, what was not written.
    pub(super) fn count(&self) {
        if !self.counts.is_due.swap(true, Ordering::Relaxed) {
            // A writer that has no room for this has enough to do, and looks for itself.
            let _ = self.lines.try_send(Line::Count);
        }
    }

    /// Waits until all is written, unless that takes too long.
    pub(crate) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Line::Flush(done)).is_ok() {
            let _ = written.recv_timeout(LAST_WORDS);
        }
    }

    pub(super) fn write(&self, text: String) {
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let note = format!("{dropped} lines before this were dropped: standard error is read too slowly");
            let note = match self.format {
                Format::People => format!("kennel: {note}"),
                Format::Json => json!({ "time": now(), "event": "dropped", "text": note }).to_string(),
            };
            if self.lines.try_send(Line::Text(note)).is_err() {
                self.dropped.fetch_add(dropped, Ordering::Relaxed);
            }
        }
        if self.lines.try_send(Line::Text(text)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The thread's own.
struct Writer {
    format: Format,
    naming: Naming,
    counts: Arc<Counts>,
    /// When counts were last told.
    counted: Instant,
}

impl Writer {
    fn write_all(mut self, lines: &Receiver<Line>) {
        loop {
            let line = if self.counts.is_due.load(Ordering::Relaxed) {
                lines.recv_timeout(COUNT_INTERVAL.saturating_sub(self.counted.elapsed()))
            } else {
                lines.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match line {
                Ok(Line::Text(text)) => self.write(&text),
                // What was counted a moment ago is told with what comes meanwhile.
                Ok(Line::Count) => {}
                Err(RecvTimeoutError::Timeout) => self.count(),
                Ok(Line::Flush(done)) => {
                    self.count();
                    let _ = done.try_send(());
                }
                Err(RecvTimeoutError::Disconnected) => return self.count(),
            }
            if self.counts.is_due.load(Ordering::Relaxed) && self.counted.elapsed() >= COUNT_INTERVAL {
                self.count();
            }
        }
    }

    fn write(&self, text: &str) {
        match self.format {
            Format::People => screen::write_line(text),
            Format::Json => screen::write_json_line(text),
        }
    }

    /// Tells what was not written of each server.
    fn count(&mut self) {
        self.counted = Instant::now();
        if !self.counts.is_due.swap(false, Ordering::Relaxed) {
            return;
        }
        let shares = self.counts.shares.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for share in shares.iter().filter_map(Weak::upgrade) {
            let Some(skipped) = share.take_skipped() else { continue };
            let (server, words) = (share.server(), skipped.in_words());
            self.write(&match (self.format, self.naming) {
                (Format::People, Naming::Known) => format!("[{server}] {words}"),
                (Format::People, Naming::Each) => format!("[{server}] {words}; `kennel logs {server}` has the newest"),
                (Format::Json, _) => json!({
                    "time": now(), "event": "not_shown", "server": server, "text": words, "lines": skipped.lines,
                    "bytes": skipped.bytes,
                })
                .to_string(),
            });
        }
    }
}

/// Seconds since 1970, with milliseconds.
pub(super) fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs_f64() * 1000.0).round() / 1000.0
}
