//! The levels of log messages, and how the wishes of several clients become one.

use kennel_wire::{Message, RawJson, meta};

/// How grave a log message is; graver is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// Where `logging/setLevel` and `notifications/message` have the level.
pub(crate) const LEVEL: &[&str] = &["params", "level"];

impl Level {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Debug, "debug"),
        (Self::Info, "info"),
        (Self::Notice, "notice"),
        (Self::Warning, "warning"),
        (Self::Error, "error"),
        (Self::Critical, "critical"),
        (Self::Alert, "alert"),
        (Self::Emergency, "emergency"),
    ];

    /// The level that a message names, if it names one that is known.
    pub(crate) fn of(message: &Message) -> Option<Self> {
        Self::named(&message.text_at(LEVEL).ok()??)
    }

    /// The level that a request wants to hear of (2026-07-28).
    pub(crate) fn wanted(message: &Message) -> Option<Self> {
        Self::named(&message.text_at(&["params", "_meta", meta::LOG_LEVEL]).ok()??)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(level, _)| *level)
    }

    /// The level as a JSON string.
    pub(crate) fn raw(self) -> RawJson {
        let name = Self::ALL.iter().find(|(level, _)| *level == self).map_or("info", |(_, name)| name);
        RawJson::string(name)
    }
}

#[cfg(test)]
#[path = "level_tests.rs"]
mod tests;
