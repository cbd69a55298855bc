//! A gateway in front of a server that reads leniently, and clients at each of its doors.

use crate::serve::{File, Scene};
use crate::support::gateway::{Client, Connection, HEADERS};
use crate::support::processes::unique_mark;
use crate::support::running::Kept;
use crate::support::waiting::PATIENCE;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The gateway and the place of the server's program.
pub(crate) struct Place {
    pub(crate) scene: Scene,
    program: tempfile::TempDir,
}

/// The servers of a file: one that reads leniently, with these keys, and whatever else.
pub(crate) fn lax(file: File, program: &std::path::Path, keys: &str, more: &str) -> File {
    let program = program.join("lax.py").to_str().unwrap().to_owned();
    file.text(&format!(
        "[servers.lax]\ncommand = \"/usr/bin/python3\"\nargs = [{program:?}]\nmodel = \"shared\"\n{keys}\n{more}\n"
    ))
}

impl Place {
    pub(crate) fn start(keys: &str, more: &str) -> Self {
        let program = tempfile::tempdir().unwrap();
        std::fs::write(program.path().join("lax.py"), include_str!("lax.py")).unwrap();
        let scene =
            Scene::start_in(tempfile::tempdir().unwrap(), unique_mark(), |file| lax(file, program.path(), keys, more));
        Self { scene, program }
    }

    /// Has the gateway take up another file; what it says is confirmed when this returns.
    pub(crate) fn change(&self, keys: &str, more: &str) {
        self.scene.rewrite(|file| lax(file, self.program.path(), keys, more));
        self.scene.kennel(&["reload"]).fine();
    }

    /// What the server was made to run.
    pub(crate) fn ran(&self) -> String {
        let answer = self.scene.call("lax", "ran", &json!({}));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// A client at each door of an address.
    pub(crate) fn clients(&self, address: &str) -> Vec<(&'static str, Box<dyn Door>)> {
        let gateway = &self.scene.address;
        vec![
            ("http", Box::new(Http::open(gateway, address, "2025-11-25"))),
            ("http with batches", Box::new(Http::open(gateway, address, "2025-03-26"))),
            ("rpc", Box::new(Rpc { address: gateway.clone(), path: format!("{address}/rpc") })),
            ("ws", Box::new(Socket::open(gateway, address))),
            ("connect", Box::new(Bridge::open(self, address))),
        ]
    }
}

/// A client at one door, in a session where the door has such.
pub(crate) trait Door {
    /// Sends any text, and returns the answer that came at once; the door may give none.
    fn send(&mut self, text: &str) -> Option<Value>;

    /// What was told since without being asked for, as far as the door tells such things.
    fn told(&mut self) -> Option<Vec<String>> {
        None
    }

    /// Sends a request, and returns its answer.
    fn exchange(&mut self, text: &str, id: u64) -> Value {
        let answer = self.send(text).expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Makes a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        static LAST: AtomicU64 = AtomicU64::new(1000);
        let id = LAST.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.exchange(&request.to_string(), id)
    }

    /// The names of the tools it is shown, without those of servers.
    fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().trim_start_matches("lax__").to_owned()).collect()
    }

    /// The text that a tool answers with.
    fn call(&mut self, tool: &str) -> Result<String, Value> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
        answer["result"]["content"][0]["text"].as_str().map(str::to_owned).ok_or(answer)
    }
}

/// A session over Streamable HTTP.
struct Http(Client);

impl Http {
    fn open(gateway: &str, address: &str, version: &str) -> Self {
        let mut connection = Connection::open(gateway).unwrap();
        let path = format!("{address}/mcp");
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
        let response = connection.request("POST", &path, &HEADERS, body.as_bytes()).unwrap();
        let session = response.header("mcp-session-id").unwrap_or_else(|| panic!("{}", response.text())).to_owned();
        let mut client = Client { connection, session, path };
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
        Self(client)
    }
}

impl Door for Http {
    fn send(&mut self, text: &str) -> Option<Value> {
        let response = self.0.post_bytes(text.as_bytes()).unwrap();
        assert!(response.status == 202 || !response.body.is_empty(), "{}: {text}", response.status);
        response.messages().pop()
    }
}

/// Plain JSON-RPC.
struct Rpc {
    address: String,
    path: String,
}

impl Door for Rpc {
    fn send(&mut self, text: &str) -> Option<Value> {
        let mut connection = Connection::open(&self.address).unwrap();
        connection.request("POST", &self.path, &HEADERS, text.as_bytes()).unwrap().messages().pop()
    }
}

/// What comes on a connection of its own: answers, and what was not asked for.
struct Incoming {
    messages: Receiver<Value>,
    told: Vec<String>,
}

impl Incoming {
    /// The next answer; a short while is enough where none may come.
    fn answer(&mut self, is_due: bool) -> Option<Value> {
        let start = Instant::now();
        loop {
            let patience = if is_due { PATIENCE } else { Duration::from_millis(100) };
            match self.messages.recv_timeout(patience.saturating_sub(start.elapsed())) {
                Ok(message) => match message["method"].as_str() {
                    Some(method) => self.told.push(method.to_owned()),
                    None => return Some(message),
                },
                Err(RecvTimeoutError::Timeout) if !is_due => return None,
                Err(error) => panic!("no answer: {error}"),
            }
        }
    }

    /// The answer with this id; others, which came late, are passed over.
    fn answer_to(&mut self, id: u64) -> Value {
        loop {
            match self.answer(true) {
                Some(answer) if answer["id"] == id => return answer,
                _ => {}
            }
        }
    }

    fn begin(&mut self, send: impl Fn(&str), version: &str) {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        });
        send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string());
        self.answer(true).expect("an answer to initialize");
        send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    }

    fn told(&mut self) -> Vec<String> {
        while let Ok(message) = self.messages.recv_timeout(Duration::from_millis(300)) {
            self.told.extend(message["method"].as_str().map(str::to_owned));
        }
        std::mem::take(&mut self.told)
    }
}

/// Whether something is to be answered: it has an id, or is not even a message.
fn is_due(text: &str) -> bool {
    text.contains("\"id\"") || !text.contains("\"method\"") || serde_json::from_str::<Value>(text).is_err()
}

/// A WebSocket.
struct Socket {
    stream: TcpStream,
    incoming: Incoming,
}

impl Socket {
    fn open(gateway: &str, address: &str) -> Self {
        let mut connection = Connection::open(gateway).unwrap();
        let headers = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        connection.send("GET", &format!("{address}/ws"), &headers, b"").unwrap();
        assert_eq!(connection.response_head().unwrap().status, 101);
        let (stream, mut reading) = (connection.other_end().unwrap(), connection.other_end().unwrap());
        reading.set_read_timeout(None).unwrap();
        let (sender, messages) = sync_channel(10_000);
        std::thread::spawn(move || {
            while let Ok(payload) = frame(&mut reading) {
                let message = serde_json::from_slice(&payload);
                if message.is_ok_and(|message| sender.send(message).is_err()) {
                    return;
                }
            }
        });
        let mut incoming = Incoming { messages, told: Vec::new() };
        incoming.begin(|text| say(&stream, text), "2025-03-26");
        Self { stream, incoming }
    }
}

/// Writes a text frame. A mask of nothing is a mask.
fn say(mut stream: &TcpStream, text: &str) {
    let mut bytes = vec![0x81, 0x80 | 0x7f];
    bytes.extend((text.len() as u64).to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(text.as_bytes());
    stream.write_all(&bytes).unwrap();
}

/// Reads the payload of a frame.
fn frame(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut head = [0; 2];
    stream.read_exact(&mut head)?;
    let extra = match head[1] {
        0x7e => 2,
        0x7f => 8,
        _ => 0,
    };
    let mut length = [0; 8];
    stream.read_exact(&mut length[8 - extra..])?;
    let length = if extra == 0 { u64::from(head[1]) } else { u64::from_be_bytes(length) };
    let mut payload = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

impl Door for Socket {
    fn send(&mut self, text: &str) -> Option<Value> {
        say(&self.stream, text);
        self.incoming.answer(is_due(text))
    }

    fn exchange(&mut self, text: &str, id: u64) -> Value {
        say(&self.stream, text);
        self.incoming.answer_to(id)
    }

    fn told(&mut self) -> Option<Vec<String>> {
        Some(self.incoming.told())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// `kennel connect`, whose client writes lines.
struct Bridge {
    _running: Kept,
    input: ChildStdin,
    incoming: Incoming,
}

impl Bridge {
    fn open(place: &Place, address: &str) -> Self {
        let url = format!("http://{}{address}/mcp", place.scene.address);
        let mut command = place.scene.command(&["connect", "--url", &url]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Kept::start(command);
        let (input, output) = (running.stdin(), BufReader::new(running.stdout()));
        let (sender, messages) = sync_channel(10_000);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line);
                if message.is_ok_and(|message| sender.send(message).is_err()) {
                    return;
                }
            }
        });
        let mut bridge = Self { _running: running, input, incoming: Incoming { messages, told: Vec::new() } };
        let input = std::cell::RefCell::new(&mut bridge.input);
        bridge.incoming.begin(|text| writeln!(input.borrow_mut(), "{text}").unwrap(), "2025-11-25");
        bridge
    }
}

impl Door for Bridge {
    fn send(&mut self, text: &str) -> Option<Value> {
        writeln!(self.input, "{text}").unwrap();
        self.incoming.answer(is_due(text))
    }

    fn exchange(&mut self, text: &str, id: u64) -> Value {
        writeln!(self.input, "{text}").unwrap();
        self.incoming.answer_to(id)
    }

    fn told(&mut self) -> Option<Vec<String>> {
        Some(self.incoming.told())
    }
}
