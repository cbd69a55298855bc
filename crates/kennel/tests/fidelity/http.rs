//! Owns the doors over HTTP: `/mcp` with its streams, in both eras, and `/rpc`.

use crate::support::gateway::{Connection, HEADERS};
use crate::support::waiting::PATIENCE;
use crate::wire::{Era, Heard, Wire, cancellation};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::JoinHandle;

/// What is under way: each request has a connection of its own, and a thread that reads its answer.
struct Requests {
    address: String,
    sender: SyncSender<Heard>,
    open: HashMap<String, TcpStream>,
    readers: Vec<JoinHandle<()>>,
}

impl Requests {
    fn new(address: &str, sender: SyncSender<Heard>) -> Self {
        Self { address: address.to_owned(), sender, open: HashMap::new(), readers: Vec::new() }
    }

    /// Makes a request, and has what comes back heard while it comes.
    fn make(&mut self, verb: &str, path: &str, headers: &[(&str, &str)], message: &Value) {
        let mut connection = Connection::open(&self.address).unwrap();
        let body = if message.is_null() { String::new() } else { message.to_string() };
        connection.send(verb, path, headers, body.as_bytes()).unwrap();
        self.open.insert(message["id"].to_string(), connection.other_end().unwrap());
        let (sender, id) = (self.sender.clone(), message["id"].clone());
        self.readers.push(std::thread::spawn(move || {
            // The connection may be shut down at any time, by this client.
            let _ = read(&mut connection, &id, &sender);
        }));
    }

    /// Makes a request whose answer says only that it was taken.
    fn tell(&self, path: &str, headers: &[(&str, &str)], message: &Value) {
        let mut connection = Connection::open(&self.address).unwrap();
        let response = connection.request("POST", path, headers, message.to_string().as_bytes()).unwrap();
        assert_eq!((response.status, response.text().as_str()), (202, ""), "{message}");
    }

    fn hang_up(&self, id: &Value) {
        if let Some(stream) = self.open.get(&id.to_string()) {
            // The other side may have done so.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        for stream in self.open.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}

fn read(connection: &mut Connection, id: &Value, sender: &SyncSender<Heard>) -> std::io::Result<()> {
    connection.set_timeout(PATIENCE);
    let head = connection.response_head()?;
    let kind = head.header("content-type").unwrap_or_default().to_owned();
    let tell = |text: &str| {
        // Nobody may listen any more.
        let _ = sender.send(Heard::new(text));
    };
    let mut body = Vec::new();
    if kind.starts_with("text/event-stream") {
        return connection.body(&head, |piece| {
            body.extend(piece);
            while let Some(end) = body.windows(2).position(|pair| pair == b"\n\n") {
                let event = String::from_utf8(body.drain(..end + 2).collect()).unwrap();
                let data = event.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
                data.filter(|data| !data.is_empty()).for_each(tell);
            }
        });
    }
    connection.body(&head, |piece| body.extend(piece))?;
    let text = String::from_utf8_lossy(&body);
    if kind.starts_with("application/json") {
        tell(&text);
    } else if head.status != 202 || !text.is_empty() {
        tell(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": head.status, "message": text}}).to_string());
    }
    Ok(())
}

/// The door `/mcp`.
pub(crate) struct Http {
    requests: Requests,
    era: Era,
    session: Option<String>,
}

impl Http {
    pub(crate) fn new(address: &str, era: Era, sender: SyncSender<Heard>) -> Self {
        Self { requests: Requests::new(address, sender), era, session: None }
    }

    /// What the headers of a message are: modern ones repeat what the body says.
    fn headers(&self, message: &Value) -> Vec<(&'static str, String)> {
        let mut headers: Vec<_> = HEADERS.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        headers.push(("mcp-protocol-version", self.era.version().to_owned()));
        if self.era == Era::Modern {
            headers.extend(message["method"].as_str().map(|method| ("mcp-method", method.to_owned())));
            let params = &message["params"];
            let name = ["name", "uri", "taskId"].into_iter().find_map(|name| params[name].as_str());
            headers.extend(name.map(|name| ("mcp-name", name.to_owned())));
        }
        headers.extend(self.session.clone().map(|session| ("mcp-session-id", session)));
        headers
    }
}

impl Wire for Http {
    fn send(&mut self, message: &Value) {
        let headers = self.headers(message);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        if message.get("method").is_some() && message.get("id").is_some() {
            self.requests.make("POST", "/mcp", &headers, message);
        } else {
            self.requests.tell("/mcp", &headers, message);
        }
    }

    fn call_off(&mut self, id: &Value) {
        match self.era {
            Era::Legacy => self.send(&cancellation(id)),
            Era::Modern => self.requests.hang_up(id),
        }
    }

    fn initialize(&mut self, request: &Value, _: &Receiver<Heard>) -> Option<Value> {
        let mut connection = Connection::open(&self.requests.address).unwrap();
        let response = connection.request("POST", "/mcp", &HEADERS, request.to_string().as_bytes()).unwrap();
        let session = response.header("mcp-session-id").map(str::to_owned);
        self.session = Some(session.unwrap_or_else(|| panic!("no session: {}", response.text())));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let session = self.session.clone().unwrap_or_default();
        let headers = [("accept", "text/event-stream"), ("mcp-session-id", session.as_str())];
        self.requests.make("GET", "/mcp", &headers, &Value::Null);
        response.messages().pop()
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        if let Some(session) = &self.session
            && let Ok(mut connection) = Connection::open(&self.requests.address)
        {
            // Kennel may be gone where a test has failed.
            let _ = connection.request("DELETE", "/mcp", &[("mcp-session-id", session)], b"");
        }
    }
}

/// The door `/rpc`.
pub(crate) struct Rpc(Requests);

impl Rpc {
    pub(crate) fn new(address: &str, sender: SyncSender<Heard>) -> Self {
        Self(Requests::new(address, sender))
    }
}

impl Wire for Rpc {
    fn send(&mut self, message: &Value) {
        self.0.make("POST", "/rpc", &HEADERS, message);
    }

    fn call_off(&mut self, id: &Value) {
        self.0.hang_up(id);
    }

    fn initialize(&mut self, _: &Value, _: &Receiver<Heard>) -> Option<Value> {
        None
    }
}
