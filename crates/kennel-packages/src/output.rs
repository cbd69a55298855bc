//! What an installer says: its lines, what they tell of its progress, and the last of them for an error.

use crate::error::{Hint, InstallPhase, LastWords};
use crate::secrets::Secrets;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How many lines are kept for an error, and how much of each.
const KEPT_LINES: usize = 20;
const KEPT_LETTERS: usize = 400;
/// The longest line that is taken as one.
const LONGEST_LINE: usize = 8192;

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
    lines: VecDeque<String>,
}

impl<'a> Observer<'a> {
    pub(crate) fn new(progress: &'a dyn InstallProgress) -> Self {
        let state = State { phase: InstallPhase::Waiting, lines: VecDeque::new() };
        Self { progress, secrets: Secrets::default(), state: Mutex::new(state) }
    }

    /// The same, knowing what may not be said.
    pub(crate) fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
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
        LastWords(self.state().lines.drain(..).collect())
    }

    fn line(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = self.secrets.redact(text.trim_end());
        if text.is_empty() {
            return;
        }
        let told = told(&text);
        {
            let mut state = self.state();
            if let Some((phase, _)) = told {
                state.phase = phase;
            }
            if state.lines.len() == KEPT_LINES {
                state.lines.pop_front();
            }
            state.lines.push_back(text.chars().take(KEPT_LETTERS).filter(|letter| !letter.is_control()).collect());
        }
        if let Some((_, step)) = told {
            self.progress.step(step);
        }
    }

    /// Reads a stream to its end.
    pub(crate) async fn follow(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = [0; 4096];
        let mut line = Vec::new();
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            for byte in &buffer[..count] {
                if matches!(byte, b'\n' | b'\r') || line.len() == LONGEST_LINE {
                    self.line(&line);
                    line.clear();
                } else {
                    line.push(*byte);
                }
            }
        }
        self.line(&line);
    }

    /// A lock whose holder panicked still guards consistent data.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
