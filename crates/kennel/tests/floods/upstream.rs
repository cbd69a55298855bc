//! A server elsewhere that answers every request with an event that never ends.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::spawn(move || answer(&stream));
            }
        });
        Self { address, stop }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for the next.
        let _ = TcpStream::connect(self.address);
    }
}

/// Writes until nobody reads.
fn answer(stream: &TcpStream) {
    let mut lines = BufReader::new(stream).lines();
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let mut stream = stream;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {\"x\":\"";
    let mut written = stream.write_all(head.as_bytes());
    let block = vec![b'x'; 65536];
    while written.is_ok() {
        written = stream.write_all(&block);
    }
}
