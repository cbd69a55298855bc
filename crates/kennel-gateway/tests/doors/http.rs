//! A client that shows every byte: no pool, no retries, no reconnection.

use crate::support::{SOON, mirrored};
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// One connection.
pub(crate) struct Connection {
    stream: TcpStream,
    held: Vec<u8>,
    /// What came of the body of a stream and is not yet an event.
    text: String,
    host: String,
}

/// A response, or only its head.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.text()))
    }
}

/// An event, or a comment, of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) comment: Option<String>,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.data.as_deref().expect("data")).expect("JSON")
    }

    pub(crate) fn id(&self) -> &str {
        self.id.as_deref().expect("an id")
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("it listens");
        Self { stream, held: Vec::new(), text: String::new(), host: address.to_string() }
    }

    /// Sends a request. A `host` among the headers takes the place of the right one.
    pub(crate) async fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) {
        let length = body.len().to_string();
        let mut lines = vec![format!("{method} {path} HTTP/1.1")];
        if !headers.iter().any(|(name, _)| *name == "host") {
            lines.push(format!("host: {}", self.host));
        }
        lines.extend(
            headers
                .iter()
                .chain([&("content-length", length.as_str())])
                .map(|(name, value)| format!("{name}: {value}")),
        );
        let request = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
        self.raw(request.as_bytes()).await;
    }

    pub(crate) async fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("it is taken");
    }

    /// A request and its whole response.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        self.send(method, path, headers, body).await;
        self.response().await
    }

    /// A message to `/mcp`, with the headers that it must have.
    pub(crate) async fn send_post(&mut self, headers: &[(&str, &str)], message: &Value) {
        let mut all = vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        all.extend(headers);
        self.send("POST", "/mcp", &all, &message.to_string()).await;
    }

    pub(crate) async fn post(&mut self, headers: &[(&str, &str)], message: &Value) -> Response {
        self.send_post(headers, message).await;
        self.response().await
    }

    /// A request that stands for itself, with the headers that belong to it and others.
    pub(crate) async fn send_modern(&mut self, others: &[(&str, &str)], request: &Value) {
        let headers = [mirrored(request), others.to_vec()].concat();
        self.send_post(&headers, request).await;
    }

    pub(crate) async fn post_modern(&mut self, others: &[(&str, &str)], request: &Value) -> Response {
        self.send_modern(others, request).await;
        self.response().await
    }

    pub(crate) async fn response(&mut self) -> Response {
        let mut response = self.head().await;
        if let Some(length) = response.header("content-length") {
            let length = length.parse().expect("a number");
            while self.held.len() < length {
                assert!(self.more().await, "the body broke off");
            }
            response.body = self.held.drain(..length).collect();
        } else if response.header("transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk().await {
                response.body.extend(chunk);
            }
        }
        response
    }

    pub(crate) async fn head(&mut self) -> Response {
        let end = loop {
            if let Some(end) = self.held.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            assert!(self.more().await, "the head broke off: {:?}", String::from_utf8_lossy(&self.held));
        };
        let head = String::from_utf8(self.held.drain(..end + 4).collect()).expect("text");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status").parse().expect("a number");
        let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Response { status, headers: lines.filter_map(header).collect(), body: Vec::new() }
    }

    /// The next piece of a body that is sent in pieces.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let end = loop {
            if let Some(end) = self.held.windows(2).position(|window| window == b"\r\n") {
                break end;
            }
            if !self.more().await {
                return None;
            }
        };
        let size = String::from_utf8(self.held.drain(..end + 2).collect()).expect("text");
        let size = usize::from_str_radix(size.trim(), 16).expect("a size");
        while self.held.len() < size + 2 {
            assert!(self.more().await, "a piece broke off");
        }
        let chunk = self.held.drain(..size).collect();
        self.held.drain(..2);
        if size == 0 { None } else { Some(chunk) }
    }

    /// The next event or comment of a stream; `None` at its end.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block = self.text.drain(..end + 2).collect::<String>();
                let mut event = Event::default();
                for line in block.trim_end().lines() {
                    let (name, value) = line.split_once(':').expect("a field");
                    let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
                    match name {
                        "" => event.comment = Some(value),
                        "id" => event.id = Some(value),
                        "data" => assert!(event.data.replace(value).is_none(), "two lines of data"),
                        "retry" => event.retry = Some(value.parse().expect("a number")),
                        "event" => assert_eq!(value, "message"),
                        _ => panic!("unknown field {line}"),
                    }
                }
                return Some(event);
            }
            let chunk = self.chunk().await?;
            self.text += &String::from_utf8(chunk).expect("text");
        }
    }

    /// The next message of a stream, whatever comes before it.
    pub(crate) async fn message(&mut self) -> Event {
        let message = async {
            loop {
                let event = self.event().await.expect("the stream goes on");
                if event.data.as_deref().is_some_and(|data| !data.is_empty()) {
                    return event;
                }
            }
        };
        // Signs of life are none of a message.
        timeout(SOON, message).await.expect("a message comes soon")
    }

    /// Whether the gateway has closed the connection, once it does or time is up.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.held.is_empty() && !self.more().await
    }

    async fn more(&mut self) -> bool {
        let read = timeout(SOON, self.stream.read_buf(&mut self.held)).await.expect("something comes soon");
        read.is_ok_and(|count| count > 0)
    }
}
