//! The protocol versions of MCP and their eras.

use std::fmt;
use std::str::FromStr;

/// A revision of MCP that Kennel speaks; later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolVersion {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
    /// 2026-07-28
    V2026_07_28,
}

/// How a process is talked to; one that has seen one era refuses the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// Sessions that begin with `initialize`: up to 2025-11-25.
    Legacy,
    /// Every request stands for itself: since 2026-07-28.
    Modern,
}

/// A version that Kennel does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("protocol version `{0}` is not known")]
pub struct UnknownVersion(pub String);

impl ProtocolVersion {
    /// All versions, the oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest version of the legacy era.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest version.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era that the version belongs to.
    #[must_use]
    pub fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => Era::Legacy,
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// Whether several messages may be sent as one array; one version brought that and the next took it back.
    #[must_use]
    pub fn allows_batches(self) -> bool {
        self == Self::V2025_03_26
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        let known = Self::ALL.into_iter().find(|version| version.as_str() == text);
        known.ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}

#[cfg(test)]
#[path = "version_tests.rs"]
mod tests;
