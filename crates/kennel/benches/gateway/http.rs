//! A cheap HTTP/1.1 client: one connection that is kept, one request after the other, and of the answer only what is
//! needed. It shares two processors with what it measures.

use std::io;
use std::net::Ipv4Addr;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::message::last_event;

const BUFFER: usize = 64 << 10;
/// The headers of a call that stands for itself.
const MODERN: &str = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n";

/// A connection.
pub(crate) struct Http {
    stream: BufReader<TcpStream>,
    port: u16,
    path: &'static str,
    session: Option<String>,
    is_modern: bool,
    line: Vec<u8>,
    body: Vec<u8>,
}

/// The head of an answer.
#[derive(Default)]
struct Head {
    status: u16,
    length: Option<usize>,
    is_chunked: bool,
    is_events: bool,
    session: Option<String>,
}

impl Http {
    /// Connects to a server of this machine.
    pub(crate) async fn connect(port: u16, path: &'static str) -> io::Result<Self> {
        let stream = open(port).await?;
        Ok(Self { stream, port, path, session: None, is_modern: false, line: Vec::new(), body: Vec::new() })
    }

    /// The same connection for a session that was never opened.
    pub(crate) fn with_session(self, id: &str) -> Self {
        Self { session: Some(id.to_owned()), ..self }
    }

    /// The same connection for calls of `echo` that stand for themselves.
    pub(crate) fn without_session(self) -> Self {
        Self { is_modern: true, ..self }
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.is_modern
    }

    /// Connects again, with the same session, if the server has closed the connection.
    pub(crate) async fn revive(&mut self) -> io::Result<()> {
        match self.stream.get_ref().try_read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => self.stream = open(self.port).await?,
            Ok(_) => return Err(io::Error::other("the server sent what nobody asked for")),
        }
        Ok(())
    }

    /// What stands before a body of that length: the headers that the official clients send.
    pub(crate) fn head(&self, length: usize) -> Vec<u8> {
        let (path, port) = (self.path, self.port);
        let session = match &self.session {
            Some(id) => format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-06-18\r\n"),
            None if self.is_modern => MODERN.to_owned(),
            None => String::new(),
        };
        format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: application/json, text/event-stream\r\n\
             accept-encoding: gzip, deflate\r\nconnection: keep-alive\r\nuser-agent: bench/1\r\n\
             content-type: application/json\r\n{session}content-length: {length}\r\n\r\n"
        )
        .into_bytes()
    }

    /// Asks for the stream of what belongs to no request, and leaves it open.
    pub(crate) async fn listen(&mut self, session: &str) -> io::Result<()> {
        let (path, port) = (self.path, self.port);
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: text/event-stream\r\n\
             mcp-session-id: {session}\r\nmcp-protocol-version: 2025-06-18\r\n\r\n"
        );
        self.stream.write_all(request.as_bytes()).await?;
        let head = self.read_head().await?;
        if head.status == 200 { Ok(()) } else { Err(io::Error::other(format!("HTTP {}", head.status))) }
    }

    /// The session that requests belong to, once an answer has named it.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Sends a whole request and returns the message of its answer; empty where there is none.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> io::Result<&[u8]> {
        self.stream.write_all(request).await?;
        let head = self.read_head().await?;
        self.read_body(&head).await?;
        let message = if head.is_events { last_event(&self.body) } else { &self.body };
        if !(200..300).contains(&head.status) {
            let text = String::from_utf8_lossy(&message[..message.len().min(300)]);
            return Err(io::Error::other(format!("HTTP {}: {text}", head.status)));
        }
        if head.session.is_some() {
            self.session = head.session;
        }
        Ok(message)
    }

    async fn read_head(&mut self) -> io::Result<Head> {
        let mut head = Head::default();
        self.read_line().await?;
        let status = self.line.get(9..12).and_then(|status| str::from_utf8(status).ok());
        head.status = status.and_then(|status| status.parse().ok()).ok_or_else(|| io::Error::other("no HTTP"))?;
        loop {
            self.read_line().await?;
            let line = self.line.trim_ascii_end();
            if line.is_empty() {
                return Ok(head);
            }
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            let value = || str::from_utf8(value).unwrap_or_default();
            if name.eq_ignore_ascii_case(b"content-length") {
                head.length = value().parse().ok();
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                head.is_chunked = value().eq_ignore_ascii_case("chunked");
            } else if name.eq_ignore_ascii_case(b"content-type") {
                head.is_events = value().starts_with("text/event-stream");
            } else if name.eq_ignore_ascii_case(b"mcp-session-id") {
                head.session = Some(value().to_owned());
            }
        }
    }

    async fn read_body(&mut self, head: &Head) -> io::Result<()> {
        self.body.clear();
        if let Some(length) = head.length {
            self.body.resize(length, 0);
            self.stream.read_exact(&mut self.body).await?;
        }
        let mut more = head.is_chunked;
        while more {
            self.read_line().await?;
            let size =
                str::from_utf8(self.line.trim_ascii()).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
            let size = size.ok_or_else(|| io::Error::other("a chunk without a size"))?;
            let start = self.body.len();
            self.body.resize(start + size, 0);
            self.stream.read_exact(&mut self.body[start..]).await?;
            self.read_line().await?;
            more = size > 0;
        }
        Ok(())
    }

    async fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        match self.stream.read_until(b'\n', &mut self.line).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

async fn open(port: u16) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    stream.set_nodelay(true)?;
    Ok(BufReader::with_capacity(BUFFER, stream))
}
