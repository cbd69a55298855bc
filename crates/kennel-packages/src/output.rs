//! What an installer says: its lines, what they tell of its progress, and the last of them for an error.

use crate::error::{Hint, InstallPhase, LastWords};
use crate::secrets::Secrets;
use kennel_redact::{Pace, cut, cut_off, printable};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How many lines are kept for an error, and how much of each.
const KEPT_LINES: usize = 20;
const KEPT_BYTES: usize = 400;
/// How much of a line is looked at; the rest of a longer one is skipped.
const LONGEST_LINE: usize = 8192;
/// How much is read at once and in each second, where a line counts more than its bytes. Install scripts are foreign code,
/// and whoever writes more has to wait.
const READ: (u64, u64) = (16 << 20, 4 << 20);
const PER_LINE: u64 = 64;
/// How many steps are told at once and in each second.
const STEPS: (u64, u64) = (200, 10);

/// Told how an install gets on. The texts hold no secrets.
pub trait InstallProgress: Send + Sync {
    /// A step was begun or done.
    fn step(&self, text: &str);
}

/// Follows one install.
pub(crate) struct Observer<'a> {
    progress: &'a dyn InstallProgress,
    secrets: Secrets,
    state: Mutex<State>,
}

struct State {
    phase: InstallPhase,
    /// The last lines as they were written: secrets are taken out before they are cut, and when they are told.
    lines: VecDeque<String>,
    steps: Pace,
}

impl<'a> Observer<'a> {
    pub(crate) fn new(progress: &'a dyn InstallProgress) -> Self {
        let steps = Pace::new(STEPS.0, STEPS.1);
        let state = State { phase: InstallPhase::Waiting, lines: VecDeque::new(), steps };
        Self { progress, secrets: Secrets::default(), state: Mutex::new(state) }
    }

    /// The same, knowing what may not be said.
    pub(crate) fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Who is told of this install; what is said there must hold no secrets.
    pub(crate) fn progress(&self) -> &'a dyn InstallProgress {
        self.progress
    }

    pub(crate) fn phase(&self) -> InstallPhase {
        self.state().phase
    }

    /// Notes the beginning of a phase.
    pub(crate) fn enter(&self, phase: InstallPhase, text: &str) {
        self.state().phase = phase;
        self.step(text);
    }

    pub(crate) fn step(&self, text: &str) {
        self.progress.step(&self.secrets.redact(text));
    }

    /// What was said last; the next command begins with nothing said.
    pub(crate) fn take_last_words(&self) -> LastWords {
        let lines: Vec<String> = self.state().lines.drain(..).collect();
        let fit = |line: &String| printable(&cut(&self.secrets.redact(line), KEPT_BYTES)).into_owned();
        LastWords(lines.iter().map(fit).collect())
    }

    fn line(&self, line: &str) {
        let text = line.trim_end();
        if text.is_empty() {
            return;
        }
        // Most lines tell nothing, and of those nothing has to be taken out now.
        let redacted = told(text).map(|_| self.secrets.redact(text));
        let told = redacted.as_deref().and_then(told);
        let is_told = {
            let mut state = self.state();
            if let Some((phase, _)) = told {
                state.phase = phase;
            }
            if state.lines.len() == KEPT_LINES {
                state.lines.pop_front();
            }
            state.lines.push_back(text.to_owned());
            told.is_some() && state.steps.take(1, Instant::now())
        };
        if let Some((_, step)) = told.filter(|_| is_told) {
            self.progress.step(&printable(step));
        }
    }

    /// Reads a stream to its end.
    pub(crate) async fn follow(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = [0; 4096];
        let mut pace = Pace::new(READ.0, READ.1);
        let mut line = Assembled::default();
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            let mut cost = count as u64;
            for byte in buffer.iter().take(count) {
                if let b'\n' | b'\r' = byte {
                    self.line(&line.take());
                    cost += PER_LINE;
                } else {
                    line.push(*byte);
                }
            }
            let pause = pace.owe(cost, Instant::now());
            if pause > Duration::ZERO {
                tokio::time::sleep(pause).await;
            }
        }
        self.line(&line.take());
    }

    /// A lock whose holder panicked still guards consistent data.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a line.
#[derive(Default)]
struct Assembled {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Assembled {
    fn push(&mut self, byte: u8) {
        if self.bytes.len() < LONGEST_LINE {
            self.bytes.push(byte);
        } else {
            self.is_cut = true;
        }
    }

    fn take(&mut self) -> String {
        let Self { bytes, is_cut } = std::mem::take(self);
        if is_cut { cut_off(&bytes) } else { String::from_utf8_lossy(&bytes).into_owned() }
    }
}

/// What a line of npm, pip or uv tells of the progress.
fn told(line: &str) -> Option<(InstallPhase, &str)> {
    let text = line.trim();
    if let Some(rest) = text.strip_prefix("npm http fetch GET 200 ") {
        let address = rest.split(' ').next()?;
        return Some(match address.rsplit_once("/-/") {
            Some((_, archive)) => (InstallPhase::Downloading, archive),
            None => (InstallPhase::Resolving, address.rsplit('/').next()?),
        });
    }
    let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    if starts(&["Collecting ", "Resolved "]) {
        Some((InstallPhase::Resolving, text))
    } else if starts(&["Downloading ", "Downloaded ", "Prepared ", "Installing collected packages", "Installed "]) {
        Some((InstallPhase::Downloading, text))
    } else if starts(&["Building wheel", "Building ", "Built ", "Preparing metadata"]) {
        Some((InstallPhase::Building, text))
    } else {
        None
    }
}

/// Words of the installers and what they mean; the first that is said counts.
const MEANINGS: [(Hint, &[&str]); 10] = [
    (Hint::DiskFull, &["ENOSPC", "No space left on device"]),
    (Hint::NoVirtualenvs, &["ensurepip is not available", "No module named venv", "No module named 'venv'"]),
    (
        Hint::Certificate,
        &[
            "SELF_SIGNED_CERT",
            "UNABLE_TO_GET_ISSUER",
            "UNABLE_TO_VERIFY_LEAF",
            "CERTIFICATE_VERIFY_FAILED",
            "UnknownIssuer",
        ],
    ),
    (
        Hint::Offline,
        &[
            "ENOTFOUND",
            "EAI_AGAIN",
            "ECONNREFUSED",
            "ENETUNREACH",
            "ECONNRESET",
            "ETIMEDOUT",
            "NewConnectionError",
            "name resolution",
            "Network is unreachable",
            "dns error",
            "error sending request",
            "Connection refused",
        ],
    ),
    (Hint::Credentials, &["E401", "E403", "401 Client Error", "403 Client Error", "401 Unauthorized", "403 Forbidden"]),
    (Hint::Build, &["subprocess-exited-with-error", "Failed to build", "command sh -c", "gyp ERR!"]),
    (Hint::OtherInterpreter, &["EBADENGINE", "requires a different Python", "Requires-Python", "No interpreter found"]),
    (Hint::NoSuchPackage, &["E404", "(from versions: none)", "was not found in the package registry"]),
    (Hint::NoSuchVersion, &["ETARGET", "(from versions: ", "there is no version of"]),
    (Hint::Memory, &["JavaScript heap out of memory", "MemoryError"]),
];

/// What the last words of a failed installer mean.
pub(crate) fn hint(words: &LastWords) -> Hint {
    let said = |parts: &[&str]| words.0.iter().any(|line| parts.iter().any(|part| line.contains(part)));
    MEANINGS.iter().find(|(_, parts)| said(parts)).map_or(Hint::Unknown, |(hint, _)| *hint)
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
