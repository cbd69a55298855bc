//! `kennel run` behind its endpoint, and a plain HTTP client for it.

use crate::support::programs::kennel;
use crate::support::running::{Collected, Kept};
use crate::support::waiting::PATIENCE;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A gateway that serves, with a data directory of its own. It is killed when this goes.
pub(crate) struct Gateway {
    pub(crate) kept: Kept,
    pub(crate) address: String,
    log: Collected,
    data: tempfile::TempDir,
}

impl Gateway {
    /// Starts `kennel run` with these flags and this command, and waits until it serves.
    #[track_caller]
    pub(crate) fn start(flags: &[&str], command: &[&OsStr]) -> Self {
        let data = tempfile::tempdir().unwrap();
        Self::start_in(data, flags, command)
    }

    /// The same with a data directory that is there already.
    #[track_caller]
    pub(crate) fn start_in(data: tempfile::TempDir, flags: &[&str], command: &[&OsStr]) -> Self {
        Self::start_program(kennel(), data, flags, command)
    }

    /// The same with another copy of the program.
    #[track_caller]
    pub(crate) fn start_program(program: &Path, data: tempfile::TempDir, flags: &[&str], command: &[&OsStr]) -> Self {
        let mut run = Command::new(program);
        run.args(["run", "--json", "--data"]).arg(data.path());
        if !flags.contains(&"--listen") {
            run.args(["--listen", "127.0.0.1:0"]);
        }
        run.args(flags).arg("--").args(command);
        run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut kept = Kept::start(run);
        let mut gateway = Self { log: Collected::from(kept.stderr()), kept, address: String::new(), data };
        let serving = gateway.wait_for_event("serving");
        let url = serving["url"].as_str().expect("the event has the endpoint");
        url.trim_start_matches("http://").trim_end_matches("/mcp").clone_into(&mut gateway.address);
        gateway
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// What it has said up to now.
    pub(crate) fn log(&mut self) -> String {
        self.log.take_all();
        self.log.text()
    }

    /// Waits until it says something under this name, and returns the first such event.
    #[track_caller]
    pub(crate) fn wait_for_event(&mut self, name: &str) -> Value {
        let start = Instant::now();
        loop {
            self.log.take_all();
            let text = self.log.text();
            let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            if let Some(event) = events.into_iter().find(|event| event["event"] == name) {
                return event;
            }
            assert!(start.elapsed() < PATIENCE * 4 && self.kept.lives(), "no event `{name}`; it said: {text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Asks it to stop and waits until it has.
    #[track_caller]
    pub(crate) fn stop(self) -> (ExitStatus, String) {
        let (status, log, _) = self.stop_and_keep();
        (status, log)
    }

    /// The same, and returns its data directory for a successor.
    #[track_caller]
    pub(crate) fn stop_and_keep(mut self) -> (ExitStatus, String, tempfile::TempDir) {
        self.kept.signal(Signal::INT);
        let status = self.kept.end(&mut [&mut self.log]);
        (status, self.log(), self.data)
    }

    /// Opens a session, declaring these capabilities.
    #[track_caller]
    pub(crate) fn session(&self, capabilities: impl Into<Value>) -> Client {
        Client::open(&self.address, capabilities).expect("the session opens")
    }
}

/// An HTTP response.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The messages in it, as JSON or as events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        if self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            let text = self.text();
            let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
            return data.filter(|data| !data.is_empty()).map(|data| serde_json::from_str(data).unwrap()).collect();
        }
        match serde_json::from_slice(&self.body) {
            Ok(message) => vec![message],
            Err(_) => Vec::new(),
        }
    }
}

/// One connection, used again for each request.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    address: String,
}

impl Connection {
    pub(crate) fn open(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE * 2))?;
        Ok(Self { stream: BufReader::new(stream), address: address.to_owned() })
    }

    /// Makes a request and reads the whole response, also if it is a stream of events.
    pub(crate) fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Response> {
        self.send(method, path, headers, body)?;
        let (status, headers) = self.head()?;
        let mut response = Response { status, headers, body: Vec::new() };
        let mut body = Vec::new();
        self.body(&response, |piece| body.extend(piece))?;
        response.body = body;
        Ok(response)
    }

    /// Reads the body that follows the head of a response, piece by piece as it comes.
    pub(crate) fn body(&mut self, head: &Response, mut take: impl FnMut(Vec<u8>)) -> std::io::Result<()> {
        let length = head.header("content-length").map(|length| length.parse::<usize>().unwrap());
        if let Some(length) = length {
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body)?;
            take(body);
        } else if head.header("transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk()? {
                take(chunk);
            }
        }
        Ok(())
    }

    /// Reads the head of a response, whose body is still to be read.
    pub(crate) fn response_head(&mut self) -> std::io::Result<Response> {
        let (status, headers) = self.head()?;
        Ok(Response { status, headers, body: Vec::new() })
    }

    /// Another end of the same connection, by which it can be shut down.
    pub(crate) fn other_end(&self) -> std::io::Result<TcpStream> {
        self.stream.get_ref().try_clone()
    }

    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<()> {
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n", self.address, body.len());
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        self.stream.get_mut().write_all(&bytes)
    }

    pub(crate) fn head(&mut self) -> std::io::Result<(u16, Vec<(String, String)>)> {
        let first = self.line()?;
        let status = first.split_whitespace().nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| std::io::Error::other(format!("no status line: `{first}`")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok((status, headers));
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.to_owned(), value.trim().to_owned()));
            }
        }
    }

    /// The next chunk of a chunked body; `None` at its end.
    pub(crate) fn chunk(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let line = self.line()?;
        let length = usize::from_str_radix(&line, 16).map_err(std::io::Error::other)?;
        let mut chunk = vec![0; length + 2];
        self.stream.read_exact(&mut chunk)?;
        chunk.truncate(length);
        Ok(Some(chunk).filter(|chunk| !chunk.is_empty()))
    }

    pub(crate) fn set_timeout(&self, patience: Duration) {
        self.stream.get_ref().set_read_timeout(Some(patience)).unwrap();
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// A session over one connection.
pub(crate) struct Client {
    pub(crate) connection: Connection,
    pub(crate) session: String,
    /// The address of its endpoint.
    pub(crate) path: String,
}

impl Client {
    pub(crate) fn open(address: &str, capabilities: impl Into<Value>) -> std::io::Result<Self> {
        Self::open_at(address, "/mcp", capabilities)
    }

    /// The same at one of the endpoints of a gateway.
    pub(crate) fn open_at(address: &str, path: &str, capabilities: impl Into<Value>) -> std::io::Result<Self> {
        let mut connection = Connection::open(address)?;
        let (session, _) = Self::initialize_at(&mut connection, path, "2025-11-25", capabilities)?;
        let mut client = Self { connection, session, path: path.to_owned() };
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    /// Makes the first half of a handshake and returns the session's id.
    pub(crate) fn initialize(connection: &mut Connection, capabilities: impl Into<Value>) -> std::io::Result<String> {
        Self::initialize_as(connection, "2025-11-25", capabilities).map(|(session, _)| session)
    }

    /// The same for a client of some version; also returns the result.
    pub(crate) fn initialize_as(
        connection: &mut Connection,
        version: &str,
        capabilities: impl Into<Value>,
    ) -> std::io::Result<(String, Value)> {
        Self::initialize_at(connection, "/mcp", version, capabilities)
    }

    fn initialize_at(
        connection: &mut Connection,
        path: &str,
        version: &str,
        capabilities: impl Into<Value>,
    ) -> std::io::Result<(String, Value)> {
        let capabilities = capabilities.into();
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" }
        });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
        let response = connection.request("POST", path, &HEADERS, body.as_bytes())?;
        let session = response.header("mcp-session-id").map(str::to_owned);
        let refused = || std::io::Error::other(format!("{}: {}", response.status, response.text()));
        let answer = response.messages().pop().ok_or_else(refused)?;
        Ok((session.ok_or_else(refused)?, answer["result"].clone()))
    }

    /// Posts any message and returns the response.
    pub(crate) fn post(&mut self, message: &Value) -> std::io::Result<Response> {
        self.post_bytes(message.to_string().as_bytes())
    }

    pub(crate) fn post_bytes(&mut self, message: &[u8]) -> std::io::Result<Response> {
        let headers = [HEADERS[0], HEADERS[1], ("mcp-session-id", self.session.as_str())];
        self.connection.request("POST", &self.path, &headers, message)
    }

    /// Calls a tool and returns all messages, the answer last.
    pub(crate) fn call(
        &mut self,
        id: impl Into<Value>,
        tool: &str,
        arguments: impl Into<Value>,
    ) -> std::io::Result<Vec<Value>> {
        let (id, arguments) = (id.into(), arguments.into());
        let params = json!({ "name": tool, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let response = self.post(&message)?;
        let messages = response.messages();
        if messages.is_empty() {
            return Err(std::io::Error::other(format!("{}: {}", response.status, response.text())));
        }
        Ok(messages)
    }

    /// Calls a tool and returns the text of its result.
    #[track_caller]
    pub(crate) fn text(&mut self, tool: &str, arguments: impl Into<Value>) -> String {
        let messages = self.call(json!(1), tool, arguments).expect("the call is answered");
        let answer = messages.last().unwrap();
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
    }
}

/// What every POST to `/mcp` has to say.
pub(crate) const HEADERS: [(&str, &str); 2] =
    [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
