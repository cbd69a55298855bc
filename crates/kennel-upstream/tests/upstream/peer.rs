//! A server over HTTP that does what the test tells it, byte by byte: one request per connection.

use crate::support::SOON;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub(crate) trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

/// Listens on a free port.
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    asked: mpsc::Receiver<Asked>,
    _serving: JoinSet<()>,
}

/// A request that waits for what the test says to it.
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
    stream: Box<dyn Pipe>,
}

impl Peer {
    pub(crate) async fn new() -> Self {
        Self::over(|stream| async move { Some(Box::new(stream) as Box<dyn Pipe>) }).await
    }

    /// One whose connections are made into something else first.
    pub(crate) async fn over<F>(wrap: impl Fn(tokio::net::TcpStream) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<Box<dyn Pipe>>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (ask, asked) = mpsc::channel(64);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let (ask, wrapped) = (ask.clone(), wrap(stream));
                connections.spawn(async move {
                    let Some(stream) = wrapped.await else { return };
                    if let Some(asked) = Asked::read(stream).await {
                        let _ = ask.send(asked).await;
                    }
                });
            }
        });
        Self { address, asked, _serving: serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The next request, whichever it is.
    pub(crate) async fn next(&mut self) -> Asked {
        timeout(SOON, self.asked.recv()).await.expect("a request soon").expect("it listens")
    }

    /// Whether somebody has asked.
    pub(crate) fn has_next(&self) -> bool {
        !self.asked.is_empty()
    }
}

impl Asked {
    async fn read(mut stream: Box<dyn Pipe>) -> Option<Self> {
        let mut held = Vec::new();
        let end = loop {
            if let Some(end) = held.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            if stream.read_buf(&mut held).await.ok()? == 0 {
                return None;
            }
        };
        let text = String::from_utf8(held[..end].to_vec()).expect("a head");
        let mut lines = text.split("\r\n");
        let mut first = lines.next()?.split(' ').map(str::to_owned);
        let (method, path) = (first.next()?, first.next()?);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, value)| value);
        let length: usize = length.parse().expect("a length");
        while held.len() < end + 4 + length {
            stream.read_buf(&mut held).await.ok()?;
        }
        let body = String::from_utf8(held[end + 4..].to_vec()).expect("text");
        Some(Self { method, path, headers, body, stream })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.body))
    }

    /// Writes bytes as they are.
    pub(crate) async fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("it is taken");
        self.stream.flush().await.expect("it is taken");
    }

    /// Writes the head of a response that ends with its connection.
    pub(crate) async fn head(&mut self, status: u16, headers: &[(&str, &str)]) {
        let mut lines = vec![format!("HTTP/1.1 {status} Said"), "connection: close".to_owned()];
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        self.raw(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes()).await;
    }

    /// Answers with a whole body.
    pub(crate) async fn say(mut self, status: u16, headers: &[(&str, &str)], body: &str) {
        let length = body.len().to_string();
        self.head(status, &[headers, &[("content-length", length.as_str())]].concat()).await;
        self.raw(body.as_bytes()).await;
    }

    /// Answers with a message.
    pub(crate) async fn message(self, message: &Value) {
        self.say(200, &[("content-type", "application/json")], &message.to_string()).await;
    }

    /// Answers a request with a result.
    pub(crate) async fn result(self, result: impl Into<Value>) {
        let result = result.into();
        let id = self.json()["id"].clone();
        self.message(&serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }

    pub(crate) async fn accept(self) {
        self.say(202, &[], "").await;
    }

    /// Begins a stream of events.
    pub(crate) async fn events(&mut self) {
        self.head(200, &[("content-type", "text/event-stream; charset=utf-8")]).await;
    }

    /// An event with a message.
    pub(crate) async fn event(&mut self, message: &Value) {
        self.raw(format!("data: {message}\n\n").as_bytes()).await;
    }

    /// Waits until the other side hangs up.
    pub(crate) async fn hung_up(mut self) {
        let mut rest = Vec::new();
        let ended = timeout(SOON, self.stream.read_to_end(&mut rest)).await;
        // A connection that was reset is closed as well.
        let _ = ended.expect("it hangs up soon");
    }
}
