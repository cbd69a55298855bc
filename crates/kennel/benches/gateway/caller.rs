//! Who calls tools, through whichever door: connects, shakes hands, sends and reads.

use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::time::Instant;

use crate::http::Http;
use crate::message::{self, INITIALIZE, INITIALIZED, Prepared};
use crate::pipe::Pipe;
use crate::socket::Socket;

/// A session that nobody has opened, named as long as Kennel's are.
const NO_SESSION: &str = "000000000000000000000000000000000000000000000000";

/// How a server is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// By its own stdin and stdout.
    Pipe,
    /// By POST to a path, without a handshake.
    Post(&'static str),
    /// The same with the headers that a client with a session sends, of which the server takes no notice.
    Heedless(&'static str),
    /// By Streamable HTTP, with a session.
    Session(&'static str),
    /// By POST of requests that stand for themselves (2026-07-28).
    Modern(&'static str),
    /// By WebSocket.
    Socket(&'static str),
}

/// One client.
pub(crate) enum Caller {
    Pipe(Pipe),
    Http(Http),
    Socket(Socket),
}

impl Caller {
    /// Goes through the door of a program that listens on the port; a pipe starts the server itself.
    pub(crate) async fn connect(door: Door, port: u16, server: &Path) -> io::Result<Self> {
        let mut caller = match door {
            Door::Pipe => Self::Pipe(Pipe::start(server)?),
            Door::Post(path) => return Ok(Self::Http(Http::connect(port, path).await?)),
            Door::Heedless(path) => return Ok(Self::Http(Http::connect(port, path).await?.with_session(NO_SESSION))),
            Door::Modern(path) => return Ok(Self::Http(Http::connect(port, path).await?.without_session())),
            Door::Session(path) => Self::Http(Http::connect(port, path).await?),
            Door::Socket(path) => Self::Socket(Socket::connect(port, path).await?),
        };
        let answer: Value = serde_json::from_slice(&caller.ask(INITIALIZE).await?)?;
        if answer.get("result").is_none() {
            return Err(io::Error::other(format!("initialize was refused: {answer}")));
        }
        caller.tell(INITIALIZED).await?;
        Ok(caller)
    }

    /// Makes the connection anew if the server has closed it, as some do after a few quiet seconds.
    pub(crate) async fn revive(&mut self) -> io::Result<()> {
        match self {
            Self::Http(http) => http.revive().await,
            Self::Pipe(_) | Self::Socket(_) => Ok(()),
        }
    }

    /// A request to `echo` a message of that many bytes, to be called over and over.
    pub(crate) fn prepare(&self, tool_prefix: &str, bytes: usize) -> Prepared {
        let message = message::text(bytes);
        let tool = format!("{tool_prefix}echo");
        let request = match self {
            Self::Http(http) if http.is_modern() => message::modern_call(&tool, &json!({ "message": message })),
            _ => message::call(&tool, &json!({ "message": message })),
        };
        let (before, behind) = self.around(request.len());
        Prepared::new(&before, &request, behind, &message)
    }

    /// Calls once, looks at the answer, and says how long it took.
    pub(crate) async fn call(&mut self, request: &mut Prepared) -> io::Result<std::time::Duration> {
        let start = Instant::now();
        let answer = match self {
            Self::Pipe(pipe) => {
                pipe.send(request.next()).await?;
                pipe.receive().await?
            }
            Self::Http(http) => http.exchange(request.next()).await?,
            Self::Socket(socket) => {
                socket.send(request.next()).await?;
                socket.receive().await?
            }
        };
        let time = start.elapsed();
        request.check(answer)?;
        Ok(time)
    }

    /// Calls a tool once and returns the text of its result; an error of whatever kind is one.
    pub(crate) async fn tool(&mut self, name: &str, arguments: &Value) -> io::Result<String> {
        let answer: Value = serde_json::from_slice(&self.ask(&message::call(name, arguments)).await?)?;
        let result = &answer["result"];
        match result["content"][0]["text"].as_str() {
            Some(text) if result["isError"] != json!(true) => Ok(text.to_owned()),
            _ => Err(io::Error::other(answer.to_string())),
        }
    }

    async fn ask(&mut self, request: &str) -> io::Result<Vec<u8>> {
        let (before, behind) = self.around(request.len());
        let wire = [&before, request.as_bytes(), behind].concat();
        Ok(match self {
            Self::Pipe(pipe) => {
                pipe.send(&wire).await?;
                pipe.receive().await?.to_vec()
            }
            Self::Http(http) => http.exchange(&wire).await?.to_vec(),
            Self::Socket(socket) => {
                socket.send(&wire).await?;
                socket.receive().await?.to_vec()
            }
        })
    }

    async fn tell(&mut self, notification: &str) -> io::Result<()> {
        let (before, behind) = self.around(notification.len());
        let wire = [&before, notification.as_bytes(), behind].concat();
        match self {
            Self::Pipe(pipe) => pipe.send(&wire).await,
            Self::Http(http) => http.exchange(&wire).await.map(drop),
            Self::Socket(socket) => socket.send(&wire).await,
        }
    }

    /// What the transport puts before and behind a message of that length.
    fn around(&self, length: usize) -> (Vec<u8>, &'static [u8]) {
        match self {
            Self::Pipe(_) => (Vec::new(), b"\n"),
            Self::Http(http) => (http.head(length), b""),
            Self::Socket(_) => (Socket::head(length), b""),
        }
    }
}
