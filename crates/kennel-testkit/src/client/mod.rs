//! Owns a small client for MCP servers over stdio, for tests: it starts a command, talks to it and waits with a
//! deadline.
//!
//! It blocks, has no threads and leaves no process behind: while it waits or writes it reads whatever the server
//! prints, so that neither side can block the other.

mod error;
mod modern;
mod pipes;

pub use error::ClientError;

use std::collections::VecDeque;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use pipes::Pipes;

/// How long a client waits if nothing else is said: long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked whether a process has ended, where nothing else tells.
const LOOK: Duration = Duration::from_millis(5);

/// A client of one server process, which ends when the client is dropped.
pub struct StdioClient {
    child: Child,
    pipes: Pipes,
    /// Messages that came while another one was waited for, in order.
    unread: VecDeque<Value>,
    next_id: u64,
    patience: Duration,
    /// What each request says of itself, if the client is modern.
    meta: Option<Map<String, Value>>,
}

impl StdioClient {
    /// Starts a server; the command's stdin, stdout and stderr become the client's.
    pub fn spawn(command: &mut Command) -> Result<Self, ClientError> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let pipes = match Pipes::take(&mut child) {
            Ok(pipes) => pipes,
            Err(error) => {
                end(&mut child);
                return Err(error.into());
            }
        };
        Ok(Self { child, pipes, unread: VecDeque::new(), next_id: 1, patience: PATIENCE, meta: None })
    }

    /// Changes how long the client waits for anything.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Makes the handshake as a client without capabilities, and returns the server's result.
    pub fn initialize(&mut self) -> Result<Value, ClientError> {
        self.initialize_as("2025-11-25", &json!({}))
    }

    /// Makes the handshake with a protocol version and capabilities, and returns the server's result.
    pub fn initialize_as(&mut self, version: &str, capabilities: &Value) -> Result<Value, ClientError> {
        let client = json!({"name": "kennel-testkit", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
        let response = self.request("initialize", &params)?;
        self.notify("notifications/initialized", &json!({}))?;
        result_of(response, "initialize")
    }

    /// Sends a request and returns its whole response; what comes before it stays unread.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, ClientError> {
        let id = self.send_request(method, params)?;
        self.response(&json!(id))
    }

    /// Calls a tool and returns its result; an error response is an error here.
    pub fn call_tool(&mut self, name: &str, arguments: &Value) -> Result<Value, ClientError> {
        let response = self.request("tools/call", &json!({"name": name, "arguments": arguments}))?;
        result_of(response, name)
    }

    /// Calls a tool and returns the first text of its result.
    pub fn tool_text(&mut self, name: &str, arguments: &Value) -> Result<String, ClientError> {
        let result = self.call_tool(name, arguments)?;
        Ok(result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
    }

    /// Sends a request and returns its id, without waiting.
    pub fn send_request(&mut self, method: &str, params: &Value) -> Result<u64, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let params = self.with_meta(params);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    /// Sends a call of a tool and returns its id, without waiting.
    pub fn send_tool_call(&mut self, name: &str, arguments: &Value) -> Result<u64, ClientError> {
        self.send_request("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) -> Result<(), ClientError> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Answers a request of the server.
    pub fn respond(&mut self, id: &Value, result: &Value) -> Result<(), ClientError> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    /// Answers a request of the server with an error.
    pub fn refuse(&mut self, id: &Value, code: i64, message: &str) -> Result<(), ClientError> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) -> Result<(), ClientError> {
        self.send_line(message.to_string().as_bytes())
    }

    /// Sends a line as it is.
    pub fn send_line(&mut self, line: &[u8]) -> Result<(), ClientError> {
        let deadline = Instant::now() + self.patience;
        self.pipes.write(line, deadline).map_err(|error| self.explain(error, "to write a line"))?;
        self.pipes.write(b"\n", deadline).map_err(|error| self.explain(error, "to write a line"))
    }

    /// Waits for the response to a request; what comes before it stays unread.
    pub fn response(&mut self, id: &Value) -> Result<Value, ClientError> {
        let what = format!("for the response to {id}");
        self.expect(&what, |message| message.get("method").is_none() && message.get("id") == Some(id))
    }

    /// Waits for a request or notification of a method; what comes before it stays unread.
    pub fn expect_method(&mut self, method: &str) -> Result<Value, ClientError> {
        self.expect(&format!("for {method}"), |message| message["method"] == method)
    }

    /// Waits for the first message that fits, and takes it; what comes before it stays unread. `what` says in an
    /// error what was waited for.
    pub fn expect(&mut self, what: &str, mut fits: impl FnMut(&Value) -> bool) -> Result<Value, ClientError> {
        if let Some(place) = self.unread.iter().position(&mut fits)
            && let Some(message) = self.unread.remove(place)
        {
            return Ok(message);
        }
        let deadline = Instant::now() + self.patience;
        loop {
            let message = self.receive(what, deadline)?;
            if fits(&message) {
                return Ok(message);
            }
            self.unread.push_back(message);
        }
    }

    /// Takes the next message, whatever it is.
    pub fn next_message(&mut self) -> Result<Value, ClientError> {
        match self.unread.pop_front() {
            Some(message) => Ok(message),
            None => self.receive("for a message", Instant::now() + self.patience),
        }
    }

    /// Takes the next line as it was printed. Lines that were read as messages do not come again.
    pub fn next_line(&mut self) -> Result<Vec<u8>, ClientError> {
        self.line("for a line", Instant::now() + self.patience)
    }

    /// Waits so long, and returns what came until then and was not read.
    pub fn listen(&mut self, time: Duration) -> Result<Vec<Value>, ClientError> {
        let deadline = Instant::now() + time;
        loop {
            match self.receive("for nothing", deadline) {
                Ok(message) => self.unread.push_back(message),
                Err(ClientError::Deadline { .. } | ClientError::Ended { .. }) => {
                    return Ok(self.unread.drain(..).collect());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Closes the server's stdin.
    pub fn close_stdin(&mut self) {
        self.pipes.close_stdin();
    }

    /// Waits for the end of the server's stdout; what comes before it is dropped.
    pub fn wait_for_stdout_end(&mut self) -> Result<(), ClientError> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.line("for the end of stdout", deadline) {
                Ok(_) => {}
                Err(ClientError::Ended { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits for the end of the process, and reads what it still prints meanwhile.
    pub fn wait(&mut self) -> Result<ExitStatus, ClientError> {
        let deadline = Instant::now() + self.patience;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                return Err(self.late("for the end of the process"));
            }
            if self.pipes.read((Instant::now() + LOOK).min(deadline)).is_err() {
                thread::sleep(LOOK);
            }
        }
    }

    /// The id of the server's process.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// The last lines that the server printed on stderr and that were read.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.pipes.stderr()
    }

    /// Waits until stderr has so many whole lines, and returns what is there.
    pub fn wait_for_stderr(&mut self, lines: usize) -> Result<String, ClientError> {
        let deadline = Instant::now() + self.patience;
        while self.pipes.stderr().matches('\n').count() < lines {
            if Instant::now() >= deadline {
                return Err(self.late("for stderr"));
            }
            self.pipes.read(deadline).map_err(|error| self.explain(error, "for stderr"))?;
        }
        Ok(self.pipes.stderr())
    }

    fn receive(&mut self, what: &str, deadline: Instant) -> Result<Value, ClientError> {
        let line = self.line(what, deadline)?;
        serde_json::from_slice(&line)
            .map_err(|_| ClientError::NoMessage { line: String::from_utf8_lossy(&line).into_owned() })
    }

    fn line(&mut self, what: &str, deadline: Instant) -> Result<Vec<u8>, ClientError> {
        loop {
            if let Some(line) = self.pipes.line() {
                return Ok(line);
            }
            if Instant::now() >= deadline {
                return Err(self.late(what));
            }
            if !self.pipes.stdout_is_open() {
                return Err(ClientError::Ended { what: what.to_owned(), stderr: self.stderr() });
            }
            self.pipes.read(deadline).map_err(|error| self.explain(error, what))?;
        }
    }

    fn explain(&self, error: std::io::Error, what: &str) -> ClientError {
        match error.kind() {
            std::io::ErrorKind::TimedOut => self.late(what),
            std::io::ErrorKind::BrokenPipe => ClientError::Ended { what: what.to_owned(), stderr: self.stderr() },
            _ => ClientError::Io(error),
        }
    }

    fn late(&self, what: &str) -> ClientError {
        ClientError::Deadline { what: what.to_owned(), patience: self.patience, stderr: self.stderr() }
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may have ended already.
    let _ = child.kill();
    let _ = child.wait();
}

fn result_of(mut response: Value, what: &str) -> Result<Value, ClientError> {
    match response.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(ClientError::Refused { what: what.to_owned(), error: response["error"].to_string() }),
    }
}
