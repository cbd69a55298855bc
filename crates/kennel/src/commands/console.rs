//! Owns what is said about one server: to people or programs on standard error, and to whoever asks a gateway later.

mod allowance;
mod output;
mod ring;

use allowance::{Allowance, Quoted};
use kennel_hub::Observer;
use kennel_supervisor::{Failure, LifecycleEvent, Next, Noise, Phase, State};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use output::{Format, Naming, Output};
pub(crate) use ring::Ring;

/// The shortest value of a variable that is looked for in output: shorter ones are no secrets, and are everywhere.
const SHORTEST_SECRET: usize = 6;
/// How many such values are looked for.
const MOST_SECRETS: u64 = 1024;
/// How much of a line of a server is shown.
const MOST_SHOWN: usize = 4096;
/// How often people hear how an install gets on.
const NEWS_INTERVAL: Duration = Duration::from_secs(1);
/// How much of what a server has printed is kept.
const KEPT_LINES: usize = 500;
const KEPT_BYTES: usize = 64 << 10;

/// Says what happens to one server, or to Kennel itself.
pub(crate) struct Console {
    /// Whom it is about; nobody in particular if `None`.
    server: Option<String>,
    output: Arc<Output>,
    /// Values that were passed to the server and must not be seen, the longest first, each with its number.
    secrets: Mutex<Vec<(u64, String)>>,
    /// When people were last told how an install gets on.
    told: Mutex<Option<Instant>>,
    /// How much more of what is no message is quoted.
    quoted: Mutex<Allowance>,
    /// What the server has printed, and what went wrong with it.
    log: Ring<LogLine>,
}

/// One line of the log of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LogLine {
    /// Seconds since 1970.
    pub(crate) time: f64,
    /// The process it is from.
    pub(crate) instance: String,
    /// Who said it.
    pub(crate) source: LogSource,
    /// What was said.
    pub(crate) text: String,
}

/// Who has said a line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogSource {
    /// The server, on its standard error.
    Stderr,
    /// Kennel, of the server.
    Kennel,
}

impl Console {
    /// A console for a server.
    pub(crate) fn new(server: &str, output: &Arc<Output>) -> Self {
        Self::about(Some(server.to_owned()), output)
    }

    /// A console for what concerns no server in particular.
    pub(crate) fn of_kennel(output: &Arc<Output>) -> Self {
        Self::about(None, output)
    }

    fn about(server: Option<String>, output: &Arc<Output>) -> Self {
        let (secrets, told, quoted) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { server, output: Arc::clone(output), secrets, told, quoted, log: Ring::new(KEPT_LINES, KEPT_BYTES) }
    }

    /// Keeps these values out of all that is said from now on, beside those before.
    pub(crate) fn hide<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let mut hidden = lock(&self.secrets);
        for secret in secrets {
            if secret.len() < SHORTEST_SECRET || hidden.iter().any(|(_, known)| known == secret) {
                continue;
            }
            let number = hidden.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
            hidden.push((number, secret.to_owned()));
        }
        // A server may get others with each start; those of long ago have been forgotten.
        let newest = hidden.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
        hidden.retain(|(number, _)| number + MOST_SECRETS >= newest);
        // Where one is in another, the rest of the longer one would be seen.
        hidden.sort_by_key(|(_, secret)| std::cmp::Reverse(secret.len()));
    }

    /// What the server has printed, and what went wrong with it.
    pub(crate) fn log(&self) -> &Ring<LogLine> {
        &self.log
    }

    /// Says something for people, and the same in members for programs.
    pub(crate) fn say(&self, event: &str, text: &str, members: Value) {
        let text = self.hidden(text);
        if self.output.keeps_events() || self.output.format() == Format::Json {
            self.record(event, &text, members);
        }
        if self.output.format() == Format::People {
            let about = self.server.as_ref().filter(|_| self.output.naming() == Naming::Each);
            let about = about.map_or_else(String::new, |server| format!("{server}: "));
            self.output.write(format!("kennel: {about}{text}"));
        }
    }

    /// Says something that only people need.
    pub(crate) fn tell(&self, text: &str) {
        if self.output.format() == Format::People {
            self.output.write(self.hidden(text));
        }
    }

    /// Says something that only programs need.
    fn record(&self, event: &str, text: &str, members: Value) {
        let mut object = json!({ "time": output::now(), "event": event, "server": self.server, "text": text });
        if let (Some(object), Value::Object(members)) = (object.as_object_mut(), members) {
            object.extend(members.into_iter().map(|(name, mut value)| {
                self.hide_in(&mut value);
                (name, value)
            }));
        }
        if self.output.format() == Format::Json {
            self.output.write(object.to_string());
        }
        self.output.keep(object);
    }

    fn note(&self, instance: &str, source: LogSource, text: &str) {
        let line = LogLine { time: output::now(), instance: instance.to_owned(), source, text: text.to_owned() };
        self.log.push(line, instance.len() + text.len());
    }

    fn hidden(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (_, secret) in lock(&self.secrets).iter() {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "•••");
            }
        }
        text
    }

    /// Hides what must not be seen in all texts of a value.
    pub(crate) fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hidden(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.hide_in(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether people have not heard of an install for a while.
    fn is_due(&self) -> bool {
        let mut told = lock(&self.told);
        let due = told.is_none_or(|told| told.elapsed() >= NEWS_INTERVAL);
        if due {
            *told = Some(Instant::now());
        }
        due
    }
}

impl Observer for Console {
    fn lifecycle(&self, instance: &str, event: &LifecycleEvent) {
        if self.output.keeps_events() || self.output.format() == Format::Json {
            let members = json!({ "instance": instance, "lifecycle": event });
            self.record("lifecycle", &self.hidden(&event.cause), members);
        }
        // People hear of what keeps them waiting; what failed is said by `failed`.
        let is_progress = event.phase == Phase::Install && event.cause != Phase::Install.as_str();
        if event.state == State::Starting && is_progress && self.is_due() && self.output.format() == Format::People {
            let about = self.server.as_ref().filter(|_| self.output.naming() == Naming::Each);
            let about = about.map_or_else(String::new, |server| format!("{server}: "));
            self.output.write(format!("kennel: {about}{}", self.hidden(&event.cause)));
        }
    }

    fn failed(&self, instance: &str, failure: &Failure, next: Next) {
        let next = match next {
            Next::RetryIn(delay) => format!("trying again in {:.1} s", delay.as_secs_f64()),
            Next::Parked => "it has failed too often and is not tried again".to_owned(),
            Next::Never => "it is not tried again".to_owned(),
        };
        let text = format!("{instance} failed in phase {failure}\n{next}").replace('\n', "\n  ");
        self.note(instance, LogSource::Kennel, &self.hidden(&text));
        self.say("failed", &text, json!({ "instance": instance, "failure": failure, "next": next }));
    }

    fn diagnostics(&self, instance: &str, line: &[u8]) {
        let line = self.hidden(&shown(line));
        self.note(instance, LogSource::Stderr, &line);
        match self.output.format() {
            Format::People => {
                let server = self.server.as_deref().unwrap_or_default();
                self.output.write(format!("[{server}] {line}"));
            }
            // Not among the events that are kept: there is a log for this.
            Format::Json => {
                let object = json!({
                    "time": output::now(), "event": "diagnostics", "server": self.server, "text": line,
                    "instance": instance,
                });
                self.output.write(object.to_string());
            }
        }
    }

    fn noise(&self, instance: &str, noise: &Noise) {
        let quoted = lock(&self.quoted).take(Instant::now());
        let text = match noise {
            Noise::NotAMessage { head, reason } => {
                format!("{instance} wrote a line that is no message ({reason}): {}", shown(head))
            }
            Noise::TooLong { length, .. } => format!("{instance} wrote a line of {length} bytes, which is too long"),
        };
        let text = match quoted {
            Quoted::Not => return,
            Quoted::After(0) => text,
            Quoted::After(skipped) => format!("{text} (after {skipped} such lines of this server)"),
            Quoted::Last => format!("{text} (the next ones are only counted)"),
        };
        self.note(instance, LogSource::Kennel, &self.hidden(&text));
        self.say("noise", &text, json!({ "instance": instance }));
    }
}

/// A line of a server without what would play tricks on a terminal.
fn shown(line: &[u8]) -> String {
    let line = line.get(..MOST_SHOWN).unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    text.chars().map(|letter| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter }).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "console_tests.rs"]
mod tests;
