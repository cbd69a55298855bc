//! The lines of `/proc/net/tcp` and `/proc/net/tcp6`.

use crate::peer::{Owned, Tuple};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The client's socket of a connection, if it is in the table.
pub(crate) fn find(table: &str, tuple: Tuple) -> Option<Owned> {
    let plain = |address: SocketAddr| (address.ip().to_canonical(), address.port());
    let wanted = (plain(tuple.client), plain(tuple.gateway));
    // The first line is the head of the table.
    table
        .lines()
        .skip(1)
        .filter_map(read)
        .find(|(near, far, _)| (plain(*near), plain(*far)) == wanted)
        .map(|(.., owned)| owned)
}

/// Reads a line: the near address, the far one, and whose the socket is.
pub(crate) fn read(line: &str) -> Option<(SocketAddr, SocketAddr, Owned)> {
    // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
    let mut fields = line.split_ascii_whitespace();
    let near = address(fields.nth(1)?)?;
    let far = address(fields.next()?)?;
    let uid = fields.nth(4)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok()?;
    Some((near, far, Owned { uid, inode }))
}

/// Reads an address: words of 32 bits in the order of this machine, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = hexadecimal(port, 4).and_then(|port| u16::try_from(port).ok())?;
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(hexadecimal(ip, 8)?.to_ne_bytes())),
        32 => {
            let mut octets = [0; 16];
            for (at, place) in octets.chunks_exact_mut(4).enumerate() {
                place.copy_from_slice(&hexadecimal(ip.get(8 * at..8 * (at + 1))?, 8)?.to_ne_bytes());
            }
            IpAddr::V6(Ipv6Addr::from(octets))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

fn hexadecimal(text: &str, length: usize) -> Option<u32> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_number { u32::from_str_radix(text, 16).ok() } else { None }
}
