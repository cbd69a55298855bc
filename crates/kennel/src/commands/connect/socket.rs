//! Owns one WebSocket to a gateway: waited for, bounded, and told apart when it is lost.

use crate::commands::asking::Address;
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(10);
/// How long the first pause between attempts is; each further one is twice as long, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(2);
/// How long a gateway may take to hear that all is done.
const CLOSE: Duration = Duration::from_secs(2);

/// Within which bounds a gateway is talked to.
pub(crate) struct Limits {
    pub(crate) message_bytes: usize,
    /// How long a gateway is waited for.
    pub(crate) wait: Duration,
    pub(crate) token: Option<String>,
}

/// Why there is no gateway.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Lost {
    /// Nobody is there, for as long as somebody was waited for.
    #[error("{0} cannot be reached: {1}; is `kennel serve` running?")]
    Unreachable(Address, String),
    /// It is no door for this.
    #[error("{0} refused the connection (HTTP {1}){2}")]
    Refused(Address, u16, &'static str),
    /// The token cannot be sent.
    #[error("KENNEL_TOKEN holds characters that no token has")]
    Token,
    /// The connection ended.
    #[error("the gateway closed the connection{0}")]
    Closed(String),
}

/// A connection.
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
}

impl Socket {
    /// Waits for a gateway, and connects.
    pub(crate) async fn open(address: &Address, limits: &Limits) -> Result<Self, Lost> {
        let address = Address { path: format!("{}/ws", address.path.trim_end_matches("/rpc")), ..address.clone() };
        let deadline = Instant::now() + limits.wait;
        let mut pause = FIRST_PAUSE;
        loop {
            let lost = match timeout(ATTEMPT, attempt(&address, limits)).await {
                Ok(Ok(stream)) => return Ok(Self { stream }),
                Ok(Err(lost @ (Lost::Refused(..) | Lost::Token))) => return Err(lost),
                Ok(Err(lost)) => lost,
                Err(_) => Lost::Unreachable(address.clone(), "it does not answer".to_owned()),
            };
            if Instant::now() + pause >= deadline {
                return Err(lost);
            }
            sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    pub(crate) async fn send(&mut self, message: Vec<u8>) -> Result<(), Lost> {
        // The gateway would refuse what is no text, and with it the whole connection.
        let text = String::from_utf8_lossy(&message).into_owned();
        self.stream.send(Message::Text(Utf8Bytes::from(text))).await.map_err(|error| closed(&error))
    }

    /// The next message; dropping the future loses none.
    pub(crate) async fn next(&mut self) -> Result<Vec<u8>, Lost> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text.as_bytes().to_vec()),
                Some(Ok(Message::Close(Some(frame)))) if !frame.reason.is_empty() => {
                    return Err(Lost::Closed(format!(": {}", frame.reason)));
                }
                Some(Ok(Message::Close(_))) | None => return Err(Lost::Closed(String::new())),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(closed(&error)),
            }
        }
    }

    /// Says goodbye.
    pub(crate) async fn close(&mut self) {
        // A gateway that does not listen any more need not be told.
        let _ = timeout(CLOSE, self.stream.close(None)).await;
    }
}

fn closed(error: &Error) -> Lost {
    Lost::Closed(format!(": {error}"))
}

async fn attempt(address: &Address, limits: &Limits) -> Result<WebSocketStream<TcpStream>, Lost> {
    let unreachable = |problem: String| Lost::Unreachable(address.clone(), problem);
    let url = format!("ws://{}{}", address.authority(), address.path);
    let mut request = url.into_client_request().map_err(|error| unreachable(error.to_string()))?;
    let headers = request.headers_mut();
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("mcp"));
    if let Some(token) = &limits.token {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| Lost::Token)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    let connecting = TcpStream::connect((address.host.as_str(), address.port));
    let stream = connecting.await.map_err(|error| unreachable(error.to_string()))?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(limits.message_bytes))
        .max_frame_size(Some(limits.message_bytes));
    match client_async_with_config(request, stream, Some(config)).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => {
            let status = response.status().as_u16();
            let hint = match status {
                401 | 403 => "; set KENNEL_TOKEN to the gateway's token",
                404 => "; there is no such endpoint",
                _ => "",
            };
            Err(Lost::Refused(address.clone(), status, hint))
        }
        Err(error) => Err(unreachable(error.to_string())),
    }
}
