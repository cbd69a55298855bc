//! Owns values that no output shows.

use std::fmt;

/// A value that is in no output: `Debug` hides it, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a value from being shown.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for where it has to go.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// That there is a value, and nothing else.
impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}
