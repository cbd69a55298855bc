//! The doors of a gateway, as a client uses them that does not behave: it writes and reads when it likes.

use crate::gateway::{Gateway, memory};
use crate::support::gateway::{Connection, HEADERS, Response};
use crate::support::running::{Collected, Kept};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The versions with and without sessions.
pub(crate) const LEGACY: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// A WebSocket with a server, after its handshake.
pub(crate) struct Socket(TcpStream);

impl Socket {
    pub(crate) fn open(gateway: &Gateway, server: &str) -> Self {
        let mut connection = Connection::open(&gateway.address).unwrap();
        let headers = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        connection.send("GET", &format!("/servers/{server}/ws"), &headers, b"").unwrap();
        assert_eq!(connection.response_head().unwrap().status, 101);
        let mut socket = Self(connection.other_end().unwrap());
        socket.send(&initialize());
        assert!(socket.read(Duration::from_mins(1)).expect("it is initialized")["result"].is_object());
        socket.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        socket
    }

    /// Sends a message; false where the gateway takes no more.
    pub(crate) fn send(&mut self, message: &Value) -> bool {
        let payload = message.to_string().into_bytes();
        let mut frame = vec![0x81];
        match payload.len() {
            short @ 0..126 => frame.push(0x80 | u8::try_from(short).unwrap()),
            long @ 126..65536 => {
                frame.push(0xfe);
                frame.extend(u16::try_from(long).unwrap().to_be_bytes());
            }
            longer => {
                frame.push(0xff);
                frame.extend((longer as u64).to_be_bytes());
            }
        }
        // Masked with zeros, which changes nothing.
        frame.extend([0; 4]);
        frame.extend(payload);
        self.0.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
        self.0.write_all(&frame).is_ok()
    }

    /// The next message that comes in this time.
    pub(crate) fn read(&mut self, patience: Duration) -> Option<Value> {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            self.0.set_read_timeout(Some(left)).unwrap();
            let mut head = [0; 2];
            match self.0.read_exact(&mut head) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return None,
                read => read.ok()?,
            }
            self.0.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
            let mut long = [0; 8];
            let length = match head[1] {
                126 => self.0.read_exact(&mut long[6..]).map(|()| u64::from_be_bytes(long)).unwrap(),
                127 => self.0.read_exact(&mut long).map(|()| u64::from_be_bytes(long)).unwrap(),
                short => u64::from(short),
            };
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.0.read_exact(&mut payload).unwrap();
            if head[0] == 0x81 {
                return Some(serde_json::from_slice(&payload).unwrap());
            }
        }
    }

    /// Reads until a message is a refusal with these words.
    pub(crate) fn refusal(&mut self, words: &str) -> Result<(), String> {
        let mut last = None;
        while let Some(message) = self.read(Duration::from_secs(10)) {
            if message["error"]["message"].as_str().is_some_and(|text| text.contains(words)) {
                return Ok(());
            }
            last = Some(message.to_string().chars().take(300).collect::<String>());
        }
        Err(format!("nothing was refused with `{words}`; the last message was {last:?}"))
    }
}

fn initialize() -> Value {
    let info = json!({ "name": "flood", "version": "1" });
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// A call of the one tool.
pub(crate) fn call(id: impl Into<Value>, arguments: impl Into<Value>) -> Value {
    let params = json!({ "name": "go", "arguments": arguments.into() });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params })
}

/// Makes one stateless request.
pub(crate) fn stateless(gateway: &Gateway, server: &str, method: &str, mut params: Value) -> Response {
    let names =
        ["protocolVersion", "clientInfo", "clientCapabilities"].map(|name| format!("io.modelcontextprotocol/{name}"));
    params["_meta"] = json!({ &names[0]: STATELESS, &names[1]: { "name": "flood", "version": "1" }, &names[2]: {} });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let headers = [HEADERS[0], HEADERS[1], ("mcp-protocol-version", STATELESS), ("mcp-method", method)];
    let mut connection = Connection::open(&gateway.address).unwrap();
    connection.request("POST", &format!("/servers/{server}/mcp"), &headers, body.as_bytes()).unwrap()
}

/// Whether an answer is a refusal with these words.
pub(crate) fn refused(response: &Response, words: &str) -> Result<(), String> {
    let text = response.text();
    if text.contains(words) {
        Ok(())
    } else {
        Err(format!("not refused with `{words}`: {} {text:.400}", response.status))
    }
}

/// The door `--stdio`, in a Kennel of its own: says how much that has grown, and what it has answered up to what is
/// expected.
pub(crate) fn over_stdio(gateway: &Gateway, messages: &[Value], expected: &str) -> (usize, String) {
    let ground = &gateway.ground;
    let mut run = ground.kennel(["run", "--stdio", "--max-message", "256K", "--era", "legacy", "--data"]);
    run.arg(ground.path("work/stdio-data")).args(["--", "python3", &ground.text("work/flood.py"), "calm"]);
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut kept = Kept::start(run);
    let (mut stdin, mut stdout) = (kept.stdin(), kept.stdout());
    let mut byte = [0];
    let mut tell = |message: &Value| stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    tell(&initialize());
    while byte[0] != b'\n' {
        stdout.read_exact(&mut byte).unwrap();
    }
    tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let before = memory(kept.pid(), "VmRSS");
    for message in messages {
        tell(message);
    }
    std::thread::sleep(Duration::from_secs(1));
    let grown = memory(kept.pid(), "VmHWM").saturating_sub(before);
    let mut answers = Collected::from(stdout);
    let start = Instant::now();
    while !answers.text().contains(expected) && start.elapsed() < Duration::from_secs(20) {
        // There may be no more.
        let _ = answers.take(Duration::from_millis(100));
    }
    drop(stdin);
    kept.end(&mut [&mut answers]);
    (grown, answers.text())
}
