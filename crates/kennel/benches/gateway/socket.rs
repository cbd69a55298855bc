//! A cheap WebSocket client: whole text frames, masked with zeros, so that masking costs nothing.

use std::io;
use std::net::Ipv4Addr;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

const BUFFER: usize = 64 << 10;
const TEXT: u8 = 1;
const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;
/// What stands in place of a length that follows in so many bytes.
const LENGTH_OF_2: u8 = 0x7e;
const LENGTH_OF_8: u8 = 0x7f;

/// A connection.
pub(crate) struct Socket {
    stream: BufReader<TcpStream>,
    message: Vec<u8>,
}

impl Socket {
    /// Connects to a server of this machine.
    pub(crate) async fn connect(port: u16, path: &str) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        let mut stream = BufReader::with_capacity(BUFFER, stream);
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
             sec-websocket-protocol: mcp\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_until(b'\n', &mut head).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        if head.starts_with(b"HTTP/1.1 101") {
            return Ok(Self { stream, message: Vec::new() });
        }
        Err(io::Error::other(format!("no WebSocket: {}", String::from_utf8_lossy(&head))))
    }

    /// What stands before a message of that length.
    pub(crate) fn head(length: usize) -> Vec<u8> {
        let mut head = vec![FINAL | TEXT];
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(length @ 0..126), _) => head.push(MASKED | length),
            (_, Ok(length)) => {
                head.push(MASKED | LENGTH_OF_2);
                head.extend(length.to_be_bytes());
            }
            _ => {
                head.push(MASKED | LENGTH_OF_8);
                head.extend((length as u64).to_be_bytes());
            }
        }
        head.extend([0; 4]);
        head
    }

    /// Sends a frame that is written already.
    pub(crate) async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame).await
    }

    /// The next text message; all other frames are passed over.
    pub(crate) async fn receive(&mut self) -> io::Result<&[u8]> {
        loop {
            let (kind, short) = (self.stream.read_u8().await?, self.stream.read_u8().await?);
            let length = match short {
                LENGTH_OF_2 => self.stream.read_u16().await?.into(),
                LENGTH_OF_8 => self.stream.read_u64().await?,
                short => short.into(),
            };
            self.message.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
            self.stream.read_exact(&mut self.message).await?;
            if kind & 0x0f == TEXT {
                return Ok(&self.message);
            }
        }
    }
}
