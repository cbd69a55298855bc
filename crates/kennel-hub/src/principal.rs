//! Who is calling, and under which session.

use crate::fault::Fault;
use kennel_wire::ErrorCode;
use std::fmt::{self, Write};
use std::sync::Arc;

/// Who is calling: owns sessions and, where processes are per user, instances.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// A principal by name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.0
    }

    /// The user of this machine, where nobody has to say who they are.
    #[must_use]
    pub fn local() -> Self {
        Self::new("local")
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A session's name on the wire: 192 random bits, visible ASCII. Knowing it is not a right to use it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// A new one; an error if the system has no randomness to give.
    pub(crate) fn random() -> Result<Self, Fault> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes)
            .map_err(|error| Fault::refused(ErrorCode::INTERNAL_ERROR, format!("no randomness: {error}")))?;
        Ok(Self(hexadecimal(&bytes).into()))
    }

    /// One that was given out before.
    pub(crate) fn known(id: &str) -> Self {
        Self(id.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Bytes in visible ASCII.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
