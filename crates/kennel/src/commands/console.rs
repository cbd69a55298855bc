//! What `kennel run` says on standard error: for people, or as JSON for programs.

use kennel_hub::Observer;
use kennel_supervisor::{Failure, LifecycleEvent, Next, Noise, Phase, State};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The shortest value of a variable that is looked for in output: shorter ones are no secrets, and are everywhere.
const SHORTEST_SECRET: usize = 6;
/// How much of a line of a server is shown.
const MOST_SHOWN: usize = 4096;

/// How often people hear how an install gets on.
const NEWS_INTERVAL: Duration = Duration::from_secs(1);
/// How many lines wait for a reader of standard error that is slow.
const MOST_WAITING: usize = 1024;
/// How long such a reader is waited for at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Writes what happens. Whoever says something never waits for whoever reads it: what is too much is dropped.
pub(crate) struct Console {
    server: String,
    format: Format,
    /// Values that were passed to the server and must not be seen.
    secrets: Vec<String>,
    /// When people were last told how an install gets on.
    told: Mutex<Option<Instant>>,
    lines: SyncSender<Line>,
    dropped: AtomicU64,
}

enum Line {
    Text(String),
    /// Everything before is written; tell so.
    Flush(SyncSender<()>),
}

/// For whom it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    People,
    Json,
}

impl Console {
    pub(crate) fn new(server: &str, format: Format, secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_SECRET).collect();
        let (lines, written) = sync_channel(MOST_WAITING);
        // It ends with the console, or with Kennel if standard error is stuck.
        std::thread::spawn(move || write_all(&written));
        let (told, dropped) = (Mutex::default(), AtomicU64::new(0));
        Self { server: server.to_owned(), format, secrets, told, lines, dropped }
    }

    /// Waits until all is written, unless that takes too long.
    pub(crate) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Line::Flush(done)).is_ok() {
            let _ = written.recv_timeout(LAST_WORDS);
        }
    }

    /// Says something for people, and the same in members for programs.
    pub(crate) fn say(&self, event: &str, text: &str, members: Value) {
        match self.format {
            Format::People => self.write(&format!("kennel: {text}")),
            Format::Json => {
                let mut object = json!({ "time": now(), "event": event, "server": self.server, "text": text });
                if let (Some(object), Value::Object(members)) = (object.as_object_mut(), members) {
                    object.extend(members);
                }
                self.write(&object.to_string());
            }
        }
    }

    /// Says something that only people need.
    pub(crate) fn tell(&self, text: &str) {
        if self.format == Format::People {
            self.write(text);
        }
    }

    fn write(&self, text: &str) {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), "•••");
        }
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

    /// Whether people have not heard of an install for a while.
    fn is_due(&self) -> bool {
        let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let due = told.is_none_or(|told| told.elapsed() >= NEWS_INTERVAL);
        if due {
            *told = Some(Instant::now());
        }
        due
    }
}

impl Observer for Console {
    fn lifecycle(&self, instance: &str, event: &LifecycleEvent) {
        if self.format == Format::Json {
            return self.say("lifecycle", &event.cause, json!({ "instance": instance, "lifecycle": event }));
        }
        // People hear of what keeps them waiting; what failed is said by `failed`.
        let is_progress = event.phase == Phase::Install && event.cause != Phase::Install.as_str();
        if event.state == State::Starting && is_progress && self.is_due() {
            self.say("lifecycle", &event.cause, Value::Null);
        }
    }

    fn failed(&self, instance: &str, failure: &Failure, next: Next) {
        let next = match next {
            Next::RetryIn(delay) => format!("trying again in {:.1} s", delay.as_secs_f64()),
            Next::Parked => "it has failed too often and is not tried again".to_owned(),
            Next::Never => "it is not tried again".to_owned(),
        };
        let text = format!("{instance} failed in phase {failure}\n{next}").replace('\n', "\n  ");
        self.say("failed", &text, json!({ "instance": instance, "failure": failure, "next": next }));
    }

    fn diagnostics(&self, instance: &str, line: &[u8]) {
        let line = shown(line);
        match self.format {
            Format::People => self.write(&format!("[{}] {line}", self.server)),
            Format::Json => self.say("diagnostics", &line, json!({ "instance": instance })),
        }
    }

    fn noise(&self, instance: &str, noise: &Noise) {
        let text = match noise {
            Noise::NotAMessage { head, reason } => {
                format!("{instance} wrote a line that is no message ({reason}): {}", shown(head))
            }
            Noise::TooLong { length, .. } => format!("{instance} wrote a line of {length} bytes, which is too long"),
        };
        self.say("noise", &text, json!({ "instance": instance }));
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

/// A line of a server without what would play tricks on a terminal.
fn shown(line: &[u8]) -> String {
    let line = line.get(..MOST_SHOWN).unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    text.chars().map(|letter| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter }).collect()
}

/// Seconds since 1970, with milliseconds.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs_f64() * 1000.0).round() / 1000.0
}
