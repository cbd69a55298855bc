//! Owns where an endpoint is: from the URL that somebody typed to the host, the port and the path of its `/rpc` door.

use std::fmt;

/// The door of a gateway for plain requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// A name or an address, without the brackets of IPv6.
    pub(crate) host: String,
    /// The port.
    pub(crate) port: u16,
    /// The path of the door.
    pub(crate) path: String,
}

/// Why a URL leads nowhere.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    /// TLS is not spoken here.
    #[error("--url {0}: only http:// is spoken here; put a proxy that speaks TLS on this machine, or an SSH tunnel")]
    Tls(String),
    /// Another protocol altogether.
    #[error("--url {0}: this is no http:// URL; write http://HOST:PORT")]
    Scheme(String),
    /// A secret where everyone can read it.
    #[error("--url: a user or password in a URL can be read by everyone on this machine; set KENNEL_TOKEN instead")]
    Secret,
    /// A part that an endpoint has not.
    #[error("--url {0}: an endpoint has no `?` and no `#`; write http://HOST:PORT")]
    Extra(String),
    /// No host, or none that can be.
    #[error("--url {0}: this names no host; write http://HOST:PORT")]
    Host(String),
    /// No port, or none that can be.
    #[error("--url {0}: `{1}` is no port; write http://HOST:PORT with a number from 1 to 65535")]
    Port(String, String),
}

impl Address {
    /// Reads a URL: that of the gateway, or of its door `/mcp` or `/rpc`.
    pub(crate) fn read(url: &str) -> Result<Self, AddressError> {
        let own = || url.to_owned();
        let rest = match url.split_once("://") {
            None => url,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => return Err(AddressError::Tls(own())),
            Some(_) => return Err(AddressError::Scheme(own())),
        };
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err(AddressError::Secret);
        }
        if url.contains(['?', '#']) {
            return Err(AddressError::Extra(own()));
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(bracketed) => bracketed.split_once(']').ok_or_else(|| AddressError::Host(own()))?,
            None => authority.find(':').map_or((authority, ""), |at| authority.split_at(at)),
        };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':' | '%');
        if host.is_empty() || !host.chars().all(is_name) {
            return Err(AddressError::Host(own()));
        }
        let port = match port.strip_prefix(':').map(str::parse) {
            Some(Ok(number @ 1..)) => number,
            None if port.is_empty() => 80,
            Some(_) | None => return Err(AddressError::Port(own(), port.trim_start_matches(':').to_owned())),
        };
        let path = path.trim_end_matches('/');
        let base = path.strip_suffix("/mcp").or_else(|| path.strip_suffix("/rpc")).unwrap_or(path);
        if !base.chars().all(|letter| letter.is_ascii_graphic()) {
            return Err(AddressError::Host(own()));
        }
        Ok(Self { host: host.to_owned(), port, path: format!("{base}/rpc") })
    }

    /// What a request calls the gateway.
    pub(crate) fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "http://{}{}", self.authority(), self.path)
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
