//! Owns the way of one request to the `/rpc` door of a gateway that runs: one HTTP/1.1 POST on a connection of its own.

use crate::commands::asking::address::Address;
use kennel_redact::one_line;
use kennel_wire::ByteSize;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// How long a gateway may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How much a line of a head may hold, and how many there may be.
const LINE_BYTES: u64 = 16 << 10;
const MOST_LINES: usize = 128;
/// How much memory an answer gets before its bytes are there.
const BELIEVED: usize = 1 << 20;

/// Where requests go, and within which bounds.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) address: Address,
    pub(crate) token: Option<String>,
    /// How long an answer may take.
    pub(crate) patience: Duration,
    /// How long an answer may be.
    pub(crate) most_bytes: usize,
}

/// An answer of HTTP.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoorError {
    /// Nobody listens.
    #[error("nothing listens at {0}")]
    Refused(Address),
    /// It cannot be reached.
    #[error("{0} cannot be reached: {1}")]
    Unreachable(Address, io::Error),
    /// It took too long.
    #[error("{0} has not answered within {seconds} s", seconds = .1.as_secs_f64())]
    TooSlow(Address, Duration),
    /// The answer is too long.
    #[error("{0} answered with more than {size}", size = ByteSize::from(*.1))]
    TooLong(Address, usize),
    /// The connection broke, or this is no HTTP.
    #[error("{0} answered with something that is not HTTP: {1}")]
    NotHttp(Address, String),
    /// A status that tells why.
    #[error("{0} refused the request (HTTP {1}): {2}")]
    Status(Address, u16, String),
    /// An answer that is no JSON-RPC.
    #[error("{0} answered with something that is not JSON-RPC (HTTP {1}): {2}")]
    NotRpc(Address, u16, String),
    /// The token cannot be sent.
    #[error("KENNEL_TOKEN holds characters that no token has")]
    Token,
}

impl DoorError {
    /// What to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Refused(_) => "start a server with `kennel run -- COMMAND`, or name another endpoint with --url",
            Self::Unreachable(..) => "look at the host and the port of --url",
            Self::TooSlow(..) => "raise --call-timeout",
            Self::TooLong(..) => "raise --max-message",
            Self::Status(_, 401 | 403, _) => "set KENNEL_TOKEN to the token of the gateway",
            Self::NotHttp(..) | Self::NotRpc(..) | Self::Status(..) => {
                "--url must name an endpoint of `kennel run`, such as http://127.0.0.1:7330"
            }
            Self::Token => "set KENNEL_TOKEN to the token alone, without `Bearer` and without line ends",
        }
    }
}

impl Door {
    /// Sends a JSON-RPC message and returns what comes back.
    pub(crate) async fn post(&self, body: &[u8]) -> Result<Answer, DoorError> {
        let own = || self.address.clone();
        // Sent as one: who refuses after the head alone would reset the connection when the rest arrives.
        let request = [self.head(body.len())?.as_bytes(), body].concat();
        let connecting = TcpStream::connect((self.address.host.as_str(), self.address.port));
        let stream = match tokio::time::timeout(CONNECT, connecting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                return Err(DoorError::Refused(own()));
            }
            Ok(Err(error)) => return Err(DoorError::Unreachable(own(), error)),
            Err(_) => return Err(DoorError::TooSlow(own(), CONNECT)),
        };
        let exchange = async {
            let (reading, mut writing) = stream.into_split();
            // A gateway may answer before it has read everything, and then read no more: what it says counts.
            let written = writing.write_all(&request);
            let answered = read(BufReader::new(reading), self.most_bytes);
            tokio::pin!(answered);
            tokio::select! {
                answer = &mut answered => answer,
                _ = written => answered.await,
            }
        };
        match tokio::time::timeout(self.patience, exchange).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Trouble::TooLong)) => Err(DoorError::TooLong(own(), self.most_bytes)),
            Ok(Err(Trouble::NotHttp(text))) => Err(DoorError::NotHttp(own(), text)),
            Ok(Err(Trouble::Broken(error))) => Err(DoorError::Unreachable(own(), error)),
            Err(_) => Err(DoorError::TooSlow(own(), self.patience)),
        }
    }

    fn head(&self, length: usize) -> Result<String, DoorError> {
        let authorization = match &self.token {
            None => String::new(),
            Some(token) if token.chars().all(|letter| letter.is_ascii_graphic()) => {
                format!("Authorization: Bearer {token}\r\n")
            }
            Some(_) => return Err(DoorError::Token),
        };
        Ok(format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: kennel/{}\r\nAccept: application/json\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n{authorization}Connection: close\r\n\r\n",
            self.address.path,
            self.address.authority(),
            env!("CARGO_PKG_VERSION"),
        ))
    }
}

/// What can be wrong with the bytes of an answer.
#[derive(Debug)]
enum Trouble {
    TooLong,
    NotHttp(String),
    Broken(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // It was reached: whatever is there took the connection.
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Self::NotHttp("it broke off".to_owned()),
            _ => Self::Broken(error),
        }
    }
}

/// How the end of a body is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    ToTheEnd,
}

async fn read(mut source: impl AsyncBufReadExt + Unpin, most: usize) -> Result<Answer, Trouble> {
    loop {
        let (status, framing) = head(&mut source).await?;
        // An interim answer; the real one follows.
        if (100..200).contains(&status) {
            continue;
        }
        let mut body = Vec::new();
        match framing {
            _ if status == 204 => {}
            Framing::Length(length) if length > most => return Err(Trouble::TooLong),
            Framing::Length(length) => exactly(&mut source, length, &mut body).await?,
            Framing::Chunked => chunks(&mut source, most, &mut body).await?,
            Framing::ToTheEnd => {
                let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
                (&mut source).take(limit).read_to_end(&mut body).await?;
                if body.len() > most {
                    return Err(Trouble::TooLong);
                }
            }
        }
        return Ok(Answer { status, body });
    }
}

async fn head(source: &mut (impl AsyncBufReadExt + Unpin)) -> Result<(u16, Framing), Trouble> {
    let first = line(source).await?;
    let no_http = || Trouble::NotHttp(format!("`{}`", one_line(&first.chars().take(80).collect::<String>())));
    let mut words = first.split(' ');
    let speaks_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let status = words.next().and_then(|status| status.parse::<u16>().ok()).filter(|_| speaks_http);
    let status = status.ok_or_else(no_http)?;
    let mut framing = Framing::ToTheEnd;
    for _ in 0..MOST_LINES {
        let field = line(source).await?;
        if field.is_empty() {
            return Ok((status, framing));
        }
        let (name, value) = field.split_once(':').ok_or_else(|| Trouble::NotHttp("a field without a name".into()))?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("transfer-encoding") {
            if !value.eq_ignore_ascii_case("chunked") {
                return Err(Trouble::NotHttp(format!("the transfer encoding `{}`", one_line(value))));
            }
            framing = Framing::Chunked;
        } else if name.eq_ignore_ascii_case("content-length") && framing != Framing::Chunked {
            let length = value.parse().map_err(|_| Trouble::NotHttp(format!("the length `{}`", one_line(value))))?;
            framing = Framing::Length(length);
        }
    }
    Err(Trouble::NotHttp(format!("more than {MOST_LINES} fields")))
}

async fn chunks(source: &mut (impl AsyncBufReadExt + Unpin), most: usize, body: &mut Vec<u8>) -> Result<(), Trouble> {
    loop {
        let size = line(source).await?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16)
            .map_err(|_| Trouble::NotHttp(format!("the chunk length `{}`", one_line(digits))))?;
        if length == 0 {
            break;
        }
        if length > most.saturating_sub(body.len()) {
            return Err(Trouble::TooLong);
        }
        exactly(source, length, body).await?;
        if !line(source).await?.is_empty() {
            return Err(Trouble::NotHttp("a chunk that is longer than it says".to_owned()));
        }
    }
    for _ in 0..MOST_LINES {
        if line(source).await?.is_empty() {
            return Ok(());
        }
    }
    Err(Trouble::NotHttp(format!("more than {MOST_LINES} trailers")))
}

async fn exactly(source: &mut (impl AsyncRead + Unpin), length: usize, body: &mut Vec<u8>) -> Result<(), Trouble> {
    body.reserve(length.min(BELIEVED));
    let read = source.take(u64::try_from(length).unwrap_or(u64::MAX)).read_to_end(body).await?;
    if read == length { Ok(()) } else { Err(Trouble::NotHttp("it broke off".to_owned())) }
}

/// One line without its end.
async fn line(source: &mut (impl AsyncBufReadExt + Unpin)) -> Result<String, Trouble> {
    let mut bytes = Vec::new();
    source.take(LINE_BYTES).read_until(b'\n', &mut bytes).await?;
    match bytes.pop() {
        Some(b'\n') => {}
        Some(_) if bytes.len() as u64 + 1 == LINE_BYTES => {
            return Err(Trouble::NotHttp("a line without an end".into()));
        }
        Some(_) | None => return Err(Trouble::NotHttp("it broke off".to_owned())),
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[path = "door_tests.rs"]
mod tests;
