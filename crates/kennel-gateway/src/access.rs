//! Who may come in: which user of the machine it is, which host the client believes to call, which web page it is, and
//! which token it has.
//!
//! On loopback without a token, only the user that Kennel runs as and root are let in. Other users of the machine, and
//! boxes that have a user of their own, need a token.
//!
//! A web page that resolves its own name to this machine (DNS rebinding) is stopped by the check of `Host`: only names
//! that belong to this gateway are taken. A page that calls the gateway across sites is stopped by the check of
//! `Origin`: it must be the gateway's own or listed, and a page of another port of this machine is neither. Programs send no
//! `Origin`, so its absence is fine.

use crate::peer::{Peer, Uid};
use crate::settings::AccessSettings;
use http::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use http::uri::{Authority, Uri};
use kennel_hub::Principal;
use sha2::{Digest, Sha256};
use std::net::{IpAddr, SocketAddr};

/// The rules, prepared for the bound address.
#[derive(Debug)]
pub(crate) struct Access {
    bound: SocketAddr,
    /// The address as nearly every client spells it.
    usual: [String; 2],
    hosts: Names,
    origins: Names,
    /// Only digests: the tokens themselves are not kept.
    tokens: Vec<(Digested, Principal)>,
    local: Principal,
}

type Digested = [u8; 32];

#[derive(Debug)]
enum Names {
    All,
    These(Vec<String>),
}

/// Why somebody stays outside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    /// Another user of the machine.
    #[error(
        "This connection belongs to the user {0} of this machine. Without a token, this gateway serves only the user it runs \
         as, and root. To let others in, give it a token (`--token-env`, `--token-file` or `gateway.token`), and send that \
         as `Authorization: Bearer <token>`."
    )]
    User(Uid),
    /// Nobody knows which.
    #[error(
        "The system does not say which user of this machine this connection belongs to. Without a token, this gateway serves \
         only the user it runs as, and root. Give it a token (`--token-env`, `--token-file` or `gateway.token`), and send that \
         as `Authorization: Bearer <token>`."
    )]
    UnknownUser,
    /// There is no usable `Host`.
    #[error("The request names no host: send a `Host` header with the name that the gateway is called by.")]
    NoHost,
    /// A name that is not this gateway's.
    #[error(
        "The host `{0}` is not a name of this gateway, so this may be DNS rebinding. Call it by a loopback name, or add \
         the name to the gateway's allowed hosts."
    )]
    Host(String),
    /// A page that is not allowed.
    #[error(
        "Pages of the origin `{0}` may not use this gateway. Add the origin to the gateway's allowed origins if they \
         should."
    )]
    Origin(String),
    /// A token is needed.
    #[error("This gateway needs a token: send `Authorization: Bearer <token>`.")]
    NoToken,
    /// The token is wrong.
    #[error("The bearer token is not one of this gateway's tokens.")]
    Token,
}

impl Access {
    pub(crate) fn new(settings: &AccessSettings, bound: SocketAddr) -> Self {
        Self {
            bound,
            usual: [bound.to_string(), format!("localhost:{}", bound.port())],
            hosts: Names::new(&settings.hosts),
            origins: Names::new(&settings.origins),
            tokens: settings
                .tokens
                .iter()
                .map(|token| (digest(token.secret.as_bytes()), token.principal.clone()))
                .collect(),
            local: Principal::local(),
        }
    }

    /// Says who is calling, or why they may not.
    pub(crate) fn check(&self, peer: Peer, uri: &Uri, headers: &HeaderMap) -> Result<&Principal, Denied> {
        match peer {
            Peer::Own | Peer::Unasked => {}
            Peer::Other(user) => return Err(Denied::User(user)),
            Peer::Unknown => return Err(Denied::UnknownUser),
        }
        if !self.is_usual(uri, headers) {
            let host = self.host(uri, headers)?;
            self.origin(headers, &host)?;
        }
        self.principal(headers)
    }

    /// Whether the client calls the gateway by its own address and is no web page, which needs no closer look.
    fn is_usual(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(HOST).iter();
        match (uri.authority(), named.next(), named.next()) {
            (None, Some(host), None) => {
                self.usual.iter().any(|usual| usual.as_bytes() == host.as_bytes()) && !headers.contains_key(ORIGIN)
            }
            _ => false,
        }
    }

    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Denied> {
        let mut named = headers.get_all(HOST).iter();
        // Where the request line holds a whole address, that counts and `Host` must be ignored (RFC 9112, 3.2.2).
        let authority = match (uri.authority(), named.next(), named.next()) {
            (Some(authority), _, _) => authority.clone(),
            (None, Some(host), None) => {
                Authority::try_from(host.as_bytes()).map_err(|_| Denied::Host(shown(host.as_bytes())))?
            }
            (None, None, _) | (None, Some(_), Some(_)) => return Err(Denied::NoHost),
        };
        if self.is_own_host(authority.host()) {
            Ok(authority)
        } else {
            Err(Denied::Host(shown(authority.host().as_bytes())))
        }
    }

    fn is_own_host(&self, host: &str) -> bool {
        match address(host) {
            _ if self.hosts.has(host) => true,
            Some(ip) if self.bound.ip().is_loopback() => ip.is_loopback(),
            // A page cannot rebind an address: whoever names one means this machine.
            Some(_) => true,
            None => host.eq_ignore_ascii_case("localhost"),
        }
    }

    fn origin(&self, headers: &HeaderMap, host: &Authority) -> Result<(), Denied> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        let denied = || Denied::Origin(shown(origin.as_bytes()));
        if origins.next().is_some() {
            return Err(denied());
        }
        let text = origin.to_str().map_err(|_| denied())?;
        if self.origins.has(text) {
            return Ok(());
        }
        // `null`, which sandboxed pages send, has no authority either.
        let authority = text.split_once("://").and_then(|(_, authority)| Authority::try_from(authority).ok());
        let authority = authority.ok_or_else(denied)?;
        // The port tells the gateway's own pages from those of other programs on this machine.
        let port = authority.port_u16().unwrap_or(if text.starts_with("https:") { 443 } else { 80 });
        let own = || is_loopback_name(authority.host()) && port == self.bound.port() && self.bound.ip().is_loopback();
        let allowed = authority == *host || own() || self.hosts.lists(authority.host());
        if allowed { Ok(()) } else { Err(denied()) }
    }

    fn principal(&self, headers: &HeaderMap) -> Result<&Principal, Denied> {
        if self.tokens.is_empty() {
            return Ok(&self.local);
        }
        let authorization = headers.get(AUTHORIZATION).ok_or(Denied::NoToken)?.as_bytes();
        let (scheme, token) = authorization.split_at_checked(7).ok_or(Denied::NoToken)?;
        if !scheme.eq_ignore_ascii_case(b"bearer ") {
            return Err(Denied::NoToken);
        }
        let presented = digest(token.trim_ascii());
        // All are compared, so that the time tells nothing about which one fits.
        let found = self.tokens.iter().fold(
            None,
            |found, (digest, principal)| {
                if same(digest, &presented) { Some(principal) } else { found }
            },
        );
        found.ok_or(Denied::Token)
    }
}

impl Names {
    fn new(names: &[String]) -> Self {
        if names.iter().any(|name| name == "*") {
            return Self::All;
        }
        Self::These(names.iter().map(|name| name.trim_end_matches('/').to_owned()).collect())
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(_) => self.lists(name),
        }
    }

    /// Whether the name itself is there.
    fn lists(&self, name: &str) -> bool {
        match self {
            Self::All => false,
            Self::These(names) => names.iter().any(|known| known.eq_ignore_ascii_case(name)),
        }
    }
}

fn is_loopback_name(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || address(host).is_some_and(|ip| ip.is_loopback())
}

/// The address that a host is, with or without the brackets of IPv6.
fn address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn digest(secret: &[u8]) -> Digested {
    Sha256::digest(secret).into()
}

/// Compares without stopping at the first difference.
fn same(left: &Digested, right: &Digested) -> bool {
    let difference = left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right));
    std::hint::black_box(difference) == 0
}

/// Foreign text as it may stand in an answer.
fn shown(text: &[u8]) -> String {
    text.iter().take(128).map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '?' }).collect()
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
