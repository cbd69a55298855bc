//! Owns the door `/ws`: a WebSocket, byte by byte.

use crate::support::gateway::Connection;
use crate::support::waiting::PATIENCE;
use crate::wire::{Heard, Wire, cancellation};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::JoinHandle;

const TEXT: u8 = 0x81;
const MASKED: u8 = 0x80;
/// Instead of a length: it follows in two bytes, or in eight.
const LONG: u8 = 0x7e;
const LONGER: u8 = 0x7f;

/// One socket, and the thread that reads it.
pub(crate) struct Socket {
    stream: TcpStream,
    reader: Option<JoinHandle<()>>,
}

impl Socket {
    pub(crate) fn open(address: &str, sender: SyncSender<Heard>) -> Self {
        let mut connection = Connection::open(address).unwrap();
        connection.set_timeout(PATIENCE);
        let headers = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        connection.send("GET", "/ws", &headers, b"").unwrap();
        let head = connection.response_head().unwrap();
        assert_eq!((head.status, head.header("sec-websocket-accept")), (101, Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")));
        let stream = connection.other_end().unwrap();
        let mut incoming = connection.other_end().unwrap();
        // Nothing comes before the client has said something, so nothing is lost with the connection's buffer.
        drop(connection);
        let reader = std::thread::spawn(move || {
            while let Ok(frame) = frame(&mut incoming) {
                if frame.first == TEXT && sender.send(Heard::new(&String::from_utf8(frame.payload).unwrap())).is_err() {
                    return;
                }
            }
        });
        Self { stream, reader: Some(reader) }
    }
}

struct Frame {
    first: u8,
    payload: Vec<u8>,
}

/// The next frame; pings come too seldom to matter here.
fn frame(stream: &mut TcpStream) -> std::io::Result<Frame> {
    let mut head = [0; 2];
    stream.read_exact(&mut head)?;
    let length = match head[1] {
        LONG => {
            let mut long = [0; 2];
            stream.read_exact(&mut long)?;
            u64::from(u16::from_be_bytes(long))
        }
        LONGER => {
            let mut long = [0; 8];
            stream.read_exact(&mut long)?;
            u64::from_be_bytes(long)
        }
        short => u64::from(short),
    };
    let mut payload = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut payload)?;
    Ok(Frame { first: head[0], payload })
}

impl Wire for Socket {
    fn send(&mut self, message: &Value) {
        let text = message.to_string().into_bytes();
        let mut bytes = vec![TEXT];
        match u16::try_from(text.len()).expect("no message here is longer") {
            short @ ..126 => bytes.push(MASKED | u8::try_from(short).unwrap()),
            long => {
                bytes.push(MASKED | LONG);
                bytes.extend(long.to_be_bytes());
            }
        }
        // A mask of zeros is a mask.
        bytes.extend([0; 4]);
        bytes.extend(text);
        self.stream.write_all(&bytes).unwrap();
    }

    fn call_off(&mut self, id: &Value) {
        self.send(&cancellation(id));
    }

    fn initialize(&mut self, request: &Value, heard: &Receiver<Heard>) -> Option<Value> {
        self.send(request);
        let answer = heard.recv_timeout(PATIENCE).expect("initialize is answered");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        Some(answer.json)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        let _ = self.reader.take().map(JoinHandle::join);
    }
}
