//! Owns the protocol versions with an `initialize` handshake, and the choice among them.

/// One protocol version; the order is that of their dates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(&'static str);

/// From the oldest to the newest.
const ALL: [Version; 4] = [Version("2024-11-05"), Version("2025-03-26"), Version("2025-06-18"), Version("2025-11-25")];

/// The newest one.
pub(crate) const NEWEST: Version = Version("2025-11-25");

impl Version {
    pub(crate) fn as_str(self) -> &'static str {
        self.0
    }
}

/// Reads a version; the error is a sentence.
pub(crate) fn parse(text: &str) -> Result<Version, String> {
    known(text).ok_or_else(|| format!("there is no protocol version `{text}` with a handshake"))
}

/// What is spoken with a client that asks for a version: that one if possible, otherwise the server's newest.
pub(crate) fn negotiate(asked: &str, newest: Version) -> Version {
    known(asked).filter(|version| *version <= newest).unwrap_or(newest)
}

fn known(text: &str) -> Option<Version> {
    ALL.into_iter().find(|version| version.0 == text)
}
