//! Where a server is: an address of `http` or `https`, its origin, and what it calls by relative addresses.
//!
//! Paths and queries of such addresses may hold keys, so nothing here shows more than the origin.

use crate::error::UpstreamError;
use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use std::fmt;

/// An absolute address. Shown by its origin.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address(Uri);

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, UpstreamError> {
        let uri: Uri = text.trim().parse().map_err(|_| UpstreamError::NoAddress)?;
        match uri.scheme_str() {
            Some("http" | "https") => {}
            Some(_) => return Err(UpstreamError::Scheme),
            None => return Err(UpstreamError::NoAddress),
        }
        match uri.authority() {
            Some(authority) if authority.as_str().contains('@') => Err(UpstreamError::Credentials),
            Some(authority) if !authority.host().is_empty() => Ok(Self(uri)),
            Some(_) | None => Err(UpstreamError::NoAddress),
        }
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTPS)
    }

    /// What this address calls so, if it is of the same origin.
    pub(crate) fn within_origin(&self, reference: &str) -> Result<Self, Elsewhere> {
        let reference = reference.split('#').next().unwrap_or_default().trim();
        let found = self.resolve(reference).ok_or(Elsewhere::Unreadable)?;
        if found.origin() == self.origin() { Ok(found) } else { Err(Elsewhere::Other(found.to_string())) }
    }

    /// Scheme, host and port; all that counts for who gets to see credentials.
    fn origin(&self) -> (Option<&str>, Option<String>, Option<u16>) {
        let usual = if self.is_encrypted() { 443 } else { 80 };
        (self.0.scheme_str(), self.0.host().map(str::to_ascii_lowercase), self.0.port_u16().or(Some(usual)))
    }

    fn resolve(&self, reference: &str) -> Option<Self> {
        let has_scheme = reference.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
        if has_scheme {
            return Self::parse(reference).ok();
        }
        let scheme = self.0.scheme_str()?;
        if reference.starts_with("//") {
            return Self::parse(&format!("{scheme}:{reference}")).ok();
        }
        let path = self.0.path();
        let path = match reference.bytes().next() {
            None => self.0.path_and_query().map_or(path, PathAndQuery::as_str).to_owned(),
            Some(b'/') => reference.to_owned(),
            Some(b'?') => format!("{path}{reference}"),
            Some(_) => format!(
                "{}{reference}",
                path.rsplit_once('/').map_or("/", |(_, name)| { path.get(..path.len() - name.len()).unwrap_or("/") })
            ),
        };
        let authority = self.0.authority().map(Authority::as_str)?;
        Self::parse(&format!("{scheme}://{authority}{path}")).ok()
    }
}

/// Why an address that a server named is not used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// It is none.
    Unreadable,
    /// It belongs to this other origin, which must not see what is meant for the first.
    Other(String),
}

/// The origin: what comes after it may be secret.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = self.0.authority().map_or("", Authority::as_str);
        write!(formatter, "{}://{authority}", self.0.scheme_str().unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({self}/…)")
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
