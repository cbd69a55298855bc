//! The door `/ws`: at most one session per WebSocket, one message per text frame.

use crate::connection::Slot;
use crate::conversation::{Ending, Inlet, Outlet, Received, converse};
use crate::guarded::{Meter, Reading};
use crate::metrics::Tally;
use crate::reply::{self, Refusal, Reply};
use crate::settings::Limits;
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use kennel_hub::{Endpoint, Principal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The subprotocol of MCP.
const SUBPROTOCOL: &str = "mcp";
/// Buffers of an idle connection stay small.
const BUFFER: usize = 8 * 1024;
/// How long a client is waited for that should take a close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// What the door needs.
pub(crate) struct SocketDoor {
    pub(crate) limits: Arc<Limits>,
    pub(crate) tally: Arc<Tally>,
    /// Owns the connections.
    pub(crate) tasks: TaskTracker,
    pub(crate) closing: CancellationToken,
    pub(crate) aborted: CancellationToken,
}

impl SocketDoor {
    pub(crate) fn handle(
        &self,
        endpoint: Endpoint,
        principal: &Principal,
        slot: &Arc<Slot>,
        mut request: Request<Incoming>,
    ) -> Reply {
        let accepted = match accept(&request) {
            Ok(accepted) => accepted,
            Err(refusal) => return *refusal,
        };
        let upgrade = hyper::upgrade::on(&mut request);
        let (principal, limits) = (principal.clone(), Arc::clone(&self.limits));
        let (closing, aborted, slot) = (self.closing.clone(), self.aborted.clone(), Arc::clone(slot));
        let tally = Arc::clone(&self.tally);
        self.tasks.spawn(async move {
            let serving = async {
                if let Ok(upgraded) = upgrade.await {
                    serve(upgraded, endpoint, &principal, &limits, &tally, (slot.meter(), &closing)).await;
                }
            };
            aborted.run_until_cancelled(serving).await;
            drop(slot);
        });
        accepted
    }
}

/// Answers the handshake.
fn accept(request: &Request<Incoming>) -> Result<Reply, Refusal> {
    let headers = request.headers();
    if *request.method() != Method::GET {
        return Err(reply::method_not_allowed("GET"));
    }
    if !lists(headers, &CONNECTION, "upgrade") || !lists(headers, &UPGRADE, "websocket") {
        let mut refusal = reply::text(StatusCode::UPGRADE_REQUIRED, "This address takes WebSocket connections only.");
        refusal.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
        return Err(Box::new(refusal));
    }
    let bad = |text| Err(Box::new(reply::text(StatusCode::BAD_REQUEST, text)));
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return bad("The WebSocket version must be 13.");
    }
    let Some(key) = headers.get(SEC_WEBSOCKET_KEY) else { return bad("The `Sec-WebSocket-Key` header is missing.") };
    let Ok(key) = HeaderValue::from_str(&derive_accept_key(key.as_bytes())) else {
        return bad("The `Sec-WebSocket-Key` header cannot be answered.");
    };
    let mut accepted = reply::empty(StatusCode::SWITCHING_PROTOCOLS);
    let answer = accepted.headers_mut();
    answer.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answer.insert(SEC_WEBSOCKET_ACCEPT, key);
    if lists(headers, &SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
        answer.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    Ok(accepted)
}

fn lists(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(wanted))
}

/// How frames are read and written.
pub(crate) fn config(limits: &Limits) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_message_size(Some(limits.message_bytes))
        .max_frame_size(Some(limits.message_bytes))
}

async fn serve(
    upgraded: Upgraded,
    endpoint: Endpoint,
    principal: &Principal,
    limits: &Limits,
    tally: &Tally,
    (meter, closing): (&Arc<Meter>, &CancellationToken),
) {
    meter.whole(Reading::Messages);
    let socket = Socket::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config(limits))).await;
    let (sink, stream) = socket.split();
    let heard = Arc::new(AtomicBool::new(true));
    let inlet = SocketInlet { stream, heard: Arc::clone(&heard), meter: Arc::clone(meter) };
    let mut outlet = SocketOutlet { sink, heard, rhythm: limits.keep_alive };
    let ending = converse(endpoint, principal, inlet, &mut outlet, limits, tally, closing).await;
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, outlet.close(ending)).await;
}

struct SocketInlet {
    stream: SplitStream<Socket>,
    heard: Arc<AtomicBool>,
    meter: Arc<Meter>,
}

impl Inlet for SocketInlet {
    async fn next(&mut self) -> Result<Received, Ending> {
        loop {
            let next = self.stream.next().await;
            self.heard.store(true, Ordering::Relaxed);
            match next {
                Some(Ok(Message::Text(text))) => {
                    self.meter.whole(Reading::Messages);
                    return Ok(Received::Frame(text.into()));
                }
                Some(Err(_)) if self.meter.is_exhausted() => return Err(Ending::Exhausted),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Binary(_)) | Err(Error::Utf8(_))) => return Err(Ending::NotText),
                Some(Err(Error::Capacity(_))) => return Err(Ending::TooLong),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(Ending::ClientGone),
            }
        }
    }
}

struct SocketOutlet {
    sink: SplitSink<Socket, Message>,
    /// Whether anything came from the client since the last ping.
    heard: Arc<AtomicBool>,
    rhythm: Duration,
}

impl SocketOutlet {
    /// Says why the connection ends.
    async fn close(&mut self, ending: Ending) -> Result<(), Error> {
        let (code, reason) = match ending {
            Ending::ClientDone | Ending::ClientGone => (CloseCode::Normal, ""),
            Ending::Exhausted => (CloseCode::Again, "The gateway holds as much of unfinished messages as it may."),
            Ending::TooLong => (CloseCode::Size, "The message is longer than the gateway allows."),
            Ending::NotText => (CloseCode::Unsupported, "Send each message as one text frame in UTF-8."),
            Ending::SessionOver => (CloseCode::Normal, "The session has ended."),
            Ending::ShuttingDown => (CloseCode::Away, "The gateway is shutting down."),
        };
        self.sink.send(Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) }))).await
    }
}

impl Outlet for SocketOutlet {
    async fn send(&mut self, message: Bytes) -> Result<(), Ending> {
        let text = Utf8Bytes::try_from(message).map_err(|_| Ending::SessionOver)?;
        self.sink.send(Message::Text(text)).await.map_err(|_| Ending::ClientGone)
    }

    fn most_unread(limits: &Limits) -> usize {
        limits.mailbox.bytes
    }

    fn rhythm(&self) -> Option<Duration> {
        Some(self.rhythm)
    }

    async fn keep_alive(&mut self) -> Result<(), Ending> {
        if !self.heard.swap(false, Ordering::Relaxed) {
            return Err(Ending::ClientGone);
        }
        self.sink.send(Message::Ping(Bytes::new())).await.map_err(|_| Ending::ClientGone)
    }
}
