//! Clients that send without end, or never finish: what Kennel holds for them.

use crate::host::{Host, LIST};
use crate::support::caller::callers;
use crate::support::gateway::{Connection, HEADERS};
use crate::support::{alone, announce};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long is poured.
const FLOOD: Duration = Duration::from_secs(4);

/// Sends a piece again and again for a while; a connection that takes no more is enough.
fn pour(stream: &mut TcpStream, piece: &[u8]) -> usize {
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let (start, mut poured) = (Instant::now(), 0);
    while start.elapsed() < FLOOD {
        match stream.write(piece) {
            Ok(count) => poured += count,
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    poured
}

/// Asserts that somebody else is still served.
#[track_caller]
fn serves(host: &Host) {
    let mut connection = Connection::open(&host.address).unwrap();
    let response = connection.request("POST", "/rpc", &HEADERS, LIST.as_bytes()).unwrap();
    assert_eq!(response.status, 200, "{}", response.text());
}

#[test]
fn a_socket_that_pings_and_never_reads_takes_little_memory() {
    let _alone = alone();
    for caller in callers() {
        let host = Host::run(caller, &[]);
        serves(&host);
        let before = host.resident();
        let mut stream = TcpStream::connect(&host.address).unwrap();
        let handshake = format!("GET /ws HTTP/1.1\r\nHost: {}\r\n{}\r\n", host.address, crate::host::UPGRADE);
        stream.write_all(handshake.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 101");
        let mut ping = vec![0x89, 0x80 | 0x7d, 0, 0, 0, 0];
        ping.extend([b'x'; 125]);
        let poured = pour(&mut stream, &ping.repeat(500));
        let grown = host.resident().saturating_sub(before);
        announce(&format!("{caller:?}: {} MiB of pings, {} MiB more memory", poured >> 20, grown >> 10));
        assert!(grown < 32 << 10, "{caller:?}: {grown} KiB more after {poured} bytes of pings");
        serves(&host);
        drop(stream);
        host.end();
    }
}

#[test]
fn unfinished_bodies_take_no_more_memory_than_their_budget() {
    let _alone = alone();
    for caller in callers() {
        let host = Host::run(caller, &[]);
        serves(&host);
        let before = host.resident();
        let length = 60 << 20;
        let mut streams: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(&host.address).unwrap()).collect();
        let writing: Vec<_> = streams
            .iter_mut()
            .map(|stream| {
                let mut stream = stream.try_clone().unwrap();
                let address = host.address.clone();
                std::thread::spawn(move || {
                    let head = format!(
                        "POST /rpc HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
                    );
                    stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
                    let _ = stream.write_all(head.as_bytes());
                    let piece = vec![b' '; 1 << 20];
                    // All but the end, as far as it is taken.
                    for _ in 0..59 {
                        if stream.write_all(&piece).is_err() {
                            break;
                        }
                    }
                })
            })
            .collect();
        let (start, mut most) = (Instant::now(), 0);
        while start.elapsed() < FLOOD * 2 {
            most = most.max(host.resident().saturating_sub(before));
            std::thread::sleep(Duration::from_millis(50));
        }
        announce(&format!("{caller:?}: {} MiB more memory with forty unfinished bodies", most >> 10));
        // Half of 256 MiB is for those without a session; buffers grow in steps.
        assert!(most < 256 << 10, "{caller:?}: {most} KiB more");
        serves(&host);
        drop(streams);
        for writing in writing {
            writing.join().unwrap();
        }
        host.end();
    }
}
