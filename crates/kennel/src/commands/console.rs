//! Owns what is said about one server: to people or programs on standard error, and to whoever asks a gateway later.

mod allowance;
mod output;
mod ring;
mod share;

use allowance::{Allowance, Quoted};
use kennel_hub::Observer;
use kennel_redact::{Redactor, cut, printable};
use kennel_supervisor::{Failure, LifecycleEvent, Next, Noise, Phase, State};
use serde::Serialize;
use serde_json::{Value, json};
use share::{Origin, Share};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

pub(crate) use output::{Format, Naming, Output};
pub(crate) use ring::{Page, Ring};

/// How many secrets are looked for.
const MOST_SECRETS: u64 = 1024;
/// How much of a line of a server is shown, and of one that is quoted with others when the server has failed.
const MOST_SHOWN: usize = 4096;
const MOST_QUOTED: usize = 1024;
/// About what is written with a line.
const AROUND: usize = 32;
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
    /// Values that were passed to the server and must not be seen, each with its number.
    secrets: Mutex<Vec<(u64, String)>>,
    /// What takes them out.
    redactor: RwLock<Arc<Redactor>>,
    /// How much of all that is written; `None` where no server is to blame.
    share: Option<Arc<Share>>,
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
        let share = server.as_ref().map(|server| output.share(server));
        let (secrets, redactor, told, quoted) =
            (Mutex::default(), RwLock::default(), Mutex::default(), Mutex::default());
        let (output, log) = (Arc::clone(output), Ring::new(KEPT_LINES, KEPT_BYTES));
        Self { server, output, secrets, redactor, share, told, quoted, log }
    }

    /// Keeps these values out of all that is said from now on, beside those before.
    pub(crate) fn hide<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let mut hidden = lock(&self.secrets);
        let mut is_new = false;
        for secret in secrets {
            if hidden.iter().any(|(_, known)| known == secret) {
                continue;
            }
            let number = hidden.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
            hidden.push((number, secret.to_owned()));
            is_new = true;
        }
        if !is_new {
            return;
        }
        // A server may get others with each start; those of long ago have been forgotten.
        let newest = hidden.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
        hidden.retain(|(number, _)| number + MOST_SECRETS >= newest);
        let redactor = Redactor::new(hidden.iter().map(|(_, secret)| secret.as_str()));
        *self.redactor.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(redactor);
    }

    /// What the server has printed after this line, and what went wrong with it; fit to be shown.
    pub(crate) fn log_after(&self, last: u64) -> Page<LogLine> {
        let mut page = self.log.after(last);
        for line in &mut page.entries {
            // Done by who reads it and not for each line: most of what a server prints is never read.
            line.text = match line.source {
                LogSource::Stderr => self.shown(&line.text),
                LogSource::Kennel => self.fit(&line.text),
            };
        }
        page
    }

    /// Waits until there is something after this line.
    pub(crate) async fn log_newer(&self, last: u64) {
        self.log.newer(last).await;
    }

    /// Says something for people, and the same in members for programs.
    pub(crate) fn say(&self, event: &str, text: &str, members: Value) {
        self.speak(Origin::Said, event, text, members);
    }

    fn speak(&self, origin: Origin, event: &str, text: &str, members: Value) {
        let text = self.fit(text);
        if !self.may_write(origin, text.len()) {
            return;
        }
        if self.output.keeps_events() || self.output.format() == Format::Json {
            self.record(event, &text, members);
        }
        if self.output.format() == Format::People {
            self.write(&text);
        }
    }

    /// Says something that only people need.
    pub(crate) fn tell(&self, text: &str) {
        if self.output.format() == Format::People {
            self.output.write(self.fit(text));
        }
    }

    fn write(&self, text: &str) {
        let about = self.server.as_ref().filter(|_| self.output.naming() == Naming::Each);
        let about = about.map_or_else(String::new, |server| format!("{server}: "));
        self.output.write(format!("kennel: {about}{text}"));
    }

    /// Says something that only programs need; the text is fit to be shown.
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

    fn note(&self, instance: &str, source: LogSource, text: String) {
        let bytes = instance.len() + text.len();
        self.log.push(LogLine { time: output::now(), instance: instance.to_owned(), source, text }, bytes);
    }

    /// Whether so much more may be written because of this server; otherwise it is counted.
    fn may_write(&self, origin: Origin, bytes: usize) -> bool {
        let Some(share) = &self.share else { return true };
        let may = share.take(origin, bytes + AROUND, Instant::now());
        if !may {
            self.output.count();
        }
        may
    }

    fn redacted(&self, text: &str) -> String {
        let redactor = Arc::clone(&self.redactor.read().unwrap_or_else(PoisonError::into_inner));
        redactor.redact(text).into_owned()
    }

    /// A text without secrets and without what would play tricks on a terminal.
    fn fit(&self, text: &str) -> String {
        printable(&self.redacted(text)).into_owned()
    }

    /// The same of a line of a server, with an end.
    fn shown(&self, line: &str) -> String {
        printable(&cut(&self.redacted(line), MOST_SHOWN)).into_owned()
    }

    /// Makes all texts of a value fit to be shown.
    pub(crate) fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.fit(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value)),
            Value::Object(members) => {
                let fit = |(name, mut value): (String, Value)| {
                    self.hide_in(&mut value);
                    (self.fit(&name), value)
                };
                *members = std::mem::take(members).into_iter().map(fit).collect();
            }
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
        // Of an install its installer speaks.
        let is_progress = event.phase == Phase::Install && event.cause != Phase::Install.as_str();
        let origin = if is_progress { Origin::Quoted } else { Origin::Said };
        let is_recorded = self.output.keeps_events() || self.output.format() == Format::Json;
        // People hear of what keeps them waiting; what failed is said by `failed`.
        let is_told = self.output.format() == Format::People && event.state == State::Starting && is_progress;
        let is_told = is_told && self.is_due();
        if !(is_recorded || is_told) || !self.may_write(origin, event.cause.len()) {
            return;
        }
        let text = self.shown(&event.cause);
        if is_recorded {
            self.record("lifecycle", &text, json!({ "instance": instance, "lifecycle": event }));
        }
        if is_told {
            self.write(&text);
        }
    }

    fn failed(&self, instance: &str, failure: &Failure, next: Next) {
        let next = match next {
            Next::RetryIn(delay) => format!("trying again in {:.1} s", delay.as_secs_f64()),
            Next::Parked => "it has failed too often and is not tried again".to_owned(),
            Next::Never => "it is not tried again".to_owned(),
        };
        let mut failure = failure.clone();
        for line in &mut failure.stderr {
            *line = cut(&self.redacted(line), MOST_QUOTED).into_owned();
        }
        let text = format!("{instance} failed in phase {failure}\n{next}").replace('\n', "\n  ");
        self.note(instance, LogSource::Kennel, text.clone());
        self.say("failed", &text, json!({ "instance": instance, "failure": failure, "next": next }));
    }

    fn diagnostics(&self, instance: &str, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        self.note(instance, LogSource::Stderr, line.clone().into_owned());
        // A server that floods its output costs no more than this for each line.
        if !self.may_write(Origin::Quoted, line.len().min(MOST_SHOWN)) {
            return;
        }
        let line = self.shown(&line);
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
        if quoted == Quoted::Not {
            return;
        }
        let text = match noise {
            Noise::NotAMessage { head, reason } => {
                let head = self.shown(&String::from_utf8_lossy(head));
                format!("{instance} wrote a line that is no message ({reason}): {head}")
            }
            Noise::TooLong { length, .. } => format!("{instance} wrote a line of {length} bytes, which is too long"),
        };
        let text = match quoted {
            Quoted::Not | Quoted::After(0) => text,
            Quoted::After(skipped) => format!("{text} (after {skipped} such lines of this server)"),
            Quoted::Last => format!("{text} (the next ones are only counted)"),
        };
        self.note(instance, LogSource::Kennel, text.clone());
        self.speak(Origin::Quoted, "noise", &text, json!({ "instance": instance }));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "console_tests.rs"]
mod tests;
