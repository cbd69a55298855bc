//! Owns the `_meta` of requests: what each must say of its version and its client.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::incoming::Failure;
use crate::server::severity;

/// The only version.
pub(crate) const VERSION: &str = "2026-07-28";

/// Where a request says its version.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The members of a request's `_meta` that this server reads; an absent version is empty.
#[derive(Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Cow<'a, str>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    log_level: Option<String>,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

/// The `_meta` of a request if it says enough.
pub(crate) fn check<'a, 'b>(meta: Option<&'b Meta<'a>>) -> Result<&'b Meta<'a>, Failure> {
    let missing = |name: &str| Failure::invalid_params(format_args!("_meta has no io.modelcontextprotocol/{name}"));
    let meta = meta.ok_or_else(|| Failure::invalid_params("there is no _meta"))?;
    if meta.version.is_empty() {
        return Err(missing("protocolVersion"));
    }
    if meta.version != VERSION {
        return Err(Failure::unsupported_version(VERSION, &meta.version));
    }
    if !meta.capabilities.is_some_and(|capabilities| capabilities.get().starts_with('{')) {
        return Err(missing("clientCapabilities"));
    }
    Ok(meta)
}

impl Meta<'_> {
    /// What the client can do, as JSON.
    pub(super) fn capabilities(&self) -> &str {
        self.capabilities.map_or("{}", RawValue::get)
    }

    /// How severe a message must be to be sent to this client; None if none is to be sent.
    pub(super) fn least_level(&self) -> Result<Option<u8>, Failure> {
        let Some(name) = &self.log_level else { return Ok(None) };
        let level = severity(name);
        level.map(Some).ok_or_else(|| Failure::invalid_params(format_args!("there is no log level `{name}`")))
    }

    pub(super) fn progress_token(&self) -> Option<&str> {
        self.progress_token.map(RawValue::get)
    }
}
