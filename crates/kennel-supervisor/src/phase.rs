//! Where an instance is on its way to answering calls, and which of its processes is meant.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which process of an instance: 1 for the first, one more for each start that followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(u64);

impl Generation {
    /// Before the first process.
    pub const NONE: Self = Self(0);

    /// The process with this number.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    /// The process that follows.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The phases of an instance. Each has its own budget, and every status and error names the one it is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing can be started, because what makes boxes is missing; never tried again by itself.
    EngineUnavailable,
    /// Its dependencies are being installed.
    Install,
    /// Its box is being made.
    CreateBox,
    /// Its program is being started in the box.
    StartProcess,
    /// It runs and has not said anything yet.
    Connect,
    /// It is being asked who it is.
    Handshake,
    /// It is being asked for its tools.
    Preflight,
    /// It can be called.
    Ready,
    /// It has been ready, and something happened to it outside of any call.
    Runtime,
    /// It is working on a call.
    Call,
}

impl Phase {
    /// The name in logs, metrics, errors and the admin API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EngineUnavailable => "engine_unavailable",
            Self::Install => "install",
            Self::CreateBox => "create_box",
            Self::StartProcess => "start_process",
            Self::Connect => "connect",
            Self::Handshake => "handshake",
            Self::Preflight => "preflight",
            Self::Ready => "ready",
            Self::Runtime => "runtime",
            Self::Call => "call",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
