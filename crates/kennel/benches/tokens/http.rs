//! An MCP client over HTTP that does one thing after the other.

use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(2);
const VERSION: &str = "2025-06-18";

/// A session at one address.
pub(crate) struct Client {
    port: u16,
    path: &'static str,
    session: Option<String>,
}

impl Client {
    /// Opens a session.
    pub(crate) fn connect(port: u16, path: &'static str) -> io::Result<Self> {
        let mut client = Self { port, path, session: None };
        let info = json!({"name": "bench", "version": "1"});
        client.request("initialize", &json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": info}))?;
        client.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// All tools.
    pub(crate) fn tools(&mut self) -> io::Result<Vec<Value>> {
        let mut tools = Vec::new();
        let mut params = json!({});
        loop {
            let page = self.request("tools/list", &params)?;
            tools.extend(page["tools"].as_array().cloned().unwrap_or_default());
            match page["nextCursor"].as_str() {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(tools),
            }
        }
    }

    /// The result of a request; an error response is an error here.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> io::Result<Value> {
        let body = self.post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))?;
        let answer = messages(&body).find(|message| message["id"] == 1);
        let answer = answer.ok_or_else(|| io::Error::other(format!("{} {method}: {body}", self.path)))?;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(io::Error::other(format!("{} {method}: {}", self.path, answer["error"]))),
        }
    }

    /// Posts a message and returns the body of what comes back.
    fn post(&mut self, message: &Value) -> io::Result<String> {
        let (port, path, body) = (self.port, self.path, message.to_string());
        let session = self.session.as_ref();
        let session = session.map(|id| format!("mcp-session-id: {id}\r\nmcp-protocol-version: {VERSION}\r\n"));
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // In HTTP/1.0 a body ends with its connection.
        write!(
            stream,
            "POST {path} HTTP/1.0\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{}content-length: {}\r\n\r\n{body}",
            session.unwrap_or_default(),
            body.len()
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
        let status = head.lines().next().unwrap_or_default();
        if status.split(' ').nth(1).is_none_or(|code| !code.starts_with('2')) {
            return Err(io::Error::other(format!("{path}: {status}: {body}")));
        }
        for (name, value) in head.lines().filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("mcp-session-id") {
                self.session = Some(value.trim().to_owned());
            }
        }
        Ok(body.to_owned())
    }
}

/// The messages of a body: one, or those of a stream of events.
fn messages(body: &str) -> impl Iterator<Item = Value> {
    let data = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    data.filter_map(|line| serde_json::from_str(line.trim()).ok())
}
