//! The TCP ports that an install may connect to: those of the web and of name servers, and those that the user's own
//! settings name for registries, indexes and proxies.
//!
//! An install shares the host's network, and steps of packages run in it. What listens on this machine on other ports,
//! such as Kennel's own endpoint, is none of their business.

use crate::settings::RegistrySettings;
use std::collections::BTreeSet;

/// Name servers over TCP, and the web.
const ALWAYS: [u16; 3] = [53, 80, 443];
/// Where proxies of this kind listen if nobody says otherwise.
const SOCKS: u16 = 1080;
/// The most ports that are taken from settings; nobody has so many registries.
const MOST: usize = 32;

/// The ports for an install of this package with these settings.
pub(crate) fn allowed(settings: &RegistrySettings, package: &str) -> Vec<u16> {
    let mut named = BTreeSet::new();
    note_addresses(package, &mut named);
    for (name, value) in &settings.variables {
        note_setting(&name.to_string_lossy(), &value.to_string_lossy(), &mut named);
    }
    for file in &settings.files {
        for line in String::from_utf8_lossy(&file.content).lines() {
            let (name, value) = line.split_once('=').unwrap_or(("", line));
            note_setting(name, value, &mut named);
        }
    }
    let named = named.into_iter().filter(|port| !ALWAYS.contains(port)).take(MOST);
    ALWAYS.into_iter().chain(named).collect()
}

fn note_setting(name: &str, value: &str, ports: &mut BTreeSet<u16>) {
    note_addresses(value, ports);
    if !name.to_ascii_lowercase().contains("proxy") {
        return;
    }
    if value.contains("socks") {
        ports.insert(SOCKS);
    }
    if !value.contains("://") {
        // Some take a proxy without a scheme.
        ports.extend(port_of(value.trim().trim_matches(['"', '\''])));
    }
}

/// Notes the port of every address in a text.
fn note_addresses(text: &str, ports: &mut BTreeSet<u16>) {
    for (at, scheme) in text.match_indices("://") {
        let rest = &text[at + scheme.len()..];
        let end = |letter: char| letter.is_whitespace() || "/?#\"',;)>".contains(letter);
        ports.extend(port_of(rest.split(end).next().unwrap_or_default()));
    }
}

/// The port at the end of an authority, if it has one.
fn port_of(authority: &str) -> Option<u16> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (name, port) = host.rsplit_once(':')?;
    // The colons of an address of version 6 are in brackets.
    let is_whole = !name.contains(':') || name.ends_with(']');
    port.parse().ok().filter(|port| is_whole && *port != 0)
}

#[cfg(test)]
#[path = "ports_tests.rs"]
mod tests;
