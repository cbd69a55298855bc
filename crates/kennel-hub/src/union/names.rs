//! Under which names clients see what many servers offer, and what those names stand for.
//!
//! A tool or prompt is `server__name`: letters, digits, `_` and `-`, at most 64 of them, which all clients take. Where that
//! cannot be, or could mean something else, the name ends in a part of a digest of what it stands for; so a name depends
//! on nothing but server and tool, and stays what it is whatever else comes or goes. An address is `kennel://server/` and
//! the server's own address as it is, so that templates can be filled in.

use crate::principal::hexadecimal;
use sha2::{Digest, Sha256};

/// The longest name that all clients take.
const LONGEST: usize = 64;
/// How much of a digest tells names apart that would be the same otherwise.
const DIGEST: usize = 10;
const BETWEEN: &str = "__";
const SCHEME: &str = "kennel://";

/// The name of something that a server calls `name`.
pub(crate) fn joined(server: &str, name: &str) -> String {
    let whole = format!("{server}{BETWEEN}{name}");
    if whole.len() <= LONGEST && is_plain(server) && !name.is_empty() && whole.bytes().all(is_taken) {
        return whole;
    }
    digested(server, name)
}

/// The name of something that a server calls `name` and that ends in a digest, whether or not it has to.
pub(crate) fn digested(server: &str, name: &str) -> String {
    let whole = format!("{server}{BETWEEN}{name}");
    let digest = hexadecimal(&Sha256::digest(format!("{server}\0{name}")));
    let letter = |byte: u8| if is_taken(byte) { char::from(byte) } else { '_' };
    let mut joined: String = whole.bytes().map(letter).take(LONGEST - DIGEST - 1).collect();
    joined.push('_');
    joined.push_str(digest.get(..DIGEST).unwrap_or_default());
    joined
}

/// The server and its own name for something, where the joined name says so without a digest.
pub(crate) fn split(joined: &str) -> Option<(&str, &str)> {
    let (server, name) = joined.split_once(BETWEEN)?;
    (is_plain(server) && !name.is_empty()).then_some((server, name))
}

/// The address of a server's resource.
pub(crate) fn joined_address(server: &str, address: &str) -> String {
    format!("{SCHEME}{server}/{address}")
}

/// The server and its own address of a resource.
pub(crate) fn split_address(joined: &str) -> Option<(&str, &str)> {
    joined.strip_prefix(SCHEME)?.split_once('/')
}

/// Whether a server's name cannot be mistaken for one with a part of a tool's.
fn is_plain(server: &str) -> bool {
    !server.is_empty() && !server.contains(BETWEEN) && !server.ends_with('_')
}

fn is_taken(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
