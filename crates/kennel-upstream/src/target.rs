//! A server that runs elsewhere, as it is described.

use crate::address::Address;
use crate::error::UpstreamError;
use crate::limits::Limits;
use http::{HeaderMap, HeaderName, HeaderValue};
use kennel_redact::Redactor;
use std::fmt;

/// How a server is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// Streamable HTTP, or the transport before it where the server does not know that.
    #[default]
    Auto,
    /// Streamable HTTP.
    Http,
    /// The transport of 2024-11-05: one stream of events, and an address for messages.
    Sse,
}

/// A server that runs elsewhere. `Debug` shows neither the path of its address nor a value of a header.
#[derive(Clone)]
pub struct Upstream {
    pub(crate) address: Address,
    pub(crate) headers: HeaderMap,
    pub(crate) transport: Transport,
    pub(crate) limits: Limits,
    pub(crate) roots: Vec<u8>,
}

/// What the transports set themselves.
const RESERVED: [&str; 14] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

impl Upstream {
    /// The server at this address, which is absolute and of `http` or `https`.
    pub fn new(url: &str) -> Result<Self, UpstreamError> {
        Ok(Self {
            address: Address::parse(url)?,
            headers: HeaderMap::new(),
            transport: Transport::default(),
            limits: Limits::default(),
            roots: Vec::new(),
        })
    }

    /// The same with a header in every request. Its value is taken for a secret: it goes to the origin of the address and
    /// nowhere else, and no output shows it.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, UpstreamError> {
        let field: HeaderName = name.parse().map_err(|_| UpstreamError::HeaderName(name.to_owned()))?;
        if RESERVED.contains(&field.as_str()) {
            return Err(UpstreamError::Reserved(name.to_owned()));
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| UpstreamError::HeaderValue(name.to_owned()))?;
        value.set_sensitive(true);
        self.headers.append(field, value);
        Ok(self)
    }

    /// The same, talked to in this way.
    #[must_use]
    pub fn transport(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }

    /// The same within these bounds.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same, with certificates (PEM) that are trusted besides those that the machine trusts.
    #[must_use]
    pub fn trusting(self, roots: impl Into<Vec<u8>>) -> Self {
        Self { roots: roots.into(), ..self }
    }

    /// The texts that no output may show.
    fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        for value in self.headers.values().filter_map(|value| value.to_str().ok()) {
            secrets.push(value.to_owned());
            // What follows a scheme, as in `Bearer …`, is the secret itself.
            secrets.extend(value.split_once(' ').map(|(_, secret)| secret.trim().to_owned()));
        }
        let uri = self.address.uri();
        secrets.extend(uri.query().map(str::to_owned));
        let pairs = uri.query().into_iter().flat_map(|query| query.split('&')).filter_map(|pair| pair.split_once('='));
        secrets.extend(pairs.map(|(_, value)| value.to_owned()));
        // A part of the path that is long enough for a key may be one.
        secrets.extend(uri.path().split('/').filter(|part| part.len() >= LEAST_KEY).map(str::to_owned));
        secrets
    }

    /// What takes them out.
    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::new(self.secrets().iter().map(String::as_str))
    }
}

/// Shorter parts of a path are names.
const LEAST_KEY: usize = 16;

impl fmt::Debug for Upstream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Upstream")
            .field("address", &self.address)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
