//! Owns which era's protocol a process speaks: the one of its option, or the one of its first request.

use serde::Deserialize;

use crate::modern;

/// The two kinds of protocol.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Era {
    /// With `initialize`: 2024-11-05 to 2025-11-25.
    Legacy,
    /// Without sessions: 2026-07-28.
    Modern,
}

/// What a process can speak.
#[derive(Clone, Copy)]
pub(crate) enum Offer {
    Legacy,
    Modern,
    /// Either; the first request decides, and the other one is refused from then on.
    Dual,
}

impl Offer {
    /// Reads it; the error is a sentence.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "legacy" => Ok(Self::Legacy),
            "modern" => Ok(Self::Modern),
            "dual" => Ok(Self::Dual),
            _ => Err(format!("there is no era `{text}`, only legacy, modern and dual")),
        }
    }

    /// The era, unless the first request decides.
    pub(crate) fn decided(self) -> Option<Era> {
        match self {
            Self::Legacy => Some(Era::Legacy),
            Self::Modern => Some(Era::Modern),
            Self::Dual => None,
        }
    }
}

/// Which era a first request is of: the modern one if it says so, or if there is such a method in that era only.
pub(crate) fn of(method: &str, params: &str) -> Era {
    let says_so = || {
        let opening = serde_json::from_str::<Opening>(params).ok();
        opening.and_then(|opening| opening.meta).is_some_and(|meta| meta.get(modern::meta::VERSION_KEY).is_some())
    };
    let modern = method == "server/discover" || (method != "initialize" && says_so());
    if modern { Era::Modern } else { Era::Legacy }
}

#[derive(Deserialize)]
struct Opening {
    #[serde(rename = "_meta")]
    meta: Option<serde_json::Map<String, serde_json::Value>>,
}
