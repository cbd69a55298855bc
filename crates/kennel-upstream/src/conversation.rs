//! The stand-in for a process: takes what is written to its standard input message by message, and sees that each goes
//! where it belongs.

use crate::modern;
use crate::open_requests::OpenRequests;
use crate::opening::era_of;
use crate::output::Output;
use crate::prepared::Prepared;
use crate::session::Session;
use crate::target::Transport;
use crate::wire::Wire;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use kennel_exec::{Line, LineAssembler};
use kennel_supervisor::Pipes;
use kennel_wire::{Era, ErrorCode, ErrorObject, Frame, Id, Kind, Message};
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// The exit code of a conversation that cannot go on: another attempt may succeed (`EX_TEMPFAIL`).
const FAILED: i32 = 75;
/// How much is read of standard input at once.
const CHUNK: usize = 8 * 1024;

/// Runs until standard input ends, until it is asked to end, or until the server cannot be talked to any more; returns the
/// exit code. Whatever it has opened is closed with it, also when it is dropped.
pub(crate) async fn converse(prepared: Prepared, pipes: Pipes) -> i32 {
    let Prepared { upstream, client } = prepared;
    let Pipes { stdin, stdout, stderr, term } = pipes;
    let (output, writers) = Output::new(stdout, stderr, upstream.redactor());
    let (ending, mut ended) = mpsc::channel(1);
    let wire = Arc::new(Wire {
        origin: client.origin(),
        client,
        output: output.clone(),
        open: OpenRequests::default(),
        session: Session::default(),
        transport: upstream.transport,
        endpoint: OnceLock::new(),
        limits: upstream.limits,
        ending,
    });
    let mut conversation = Conversation::new(Arc::clone(&wire));
    let fault = tokio::select! {
        biased;
        fault = ended.recv() => fault,
        () = term.cancelled() => None,
        () = conversation.read(stdin) => None,
    };
    conversation.tasks.shutdown().await;
    drop(conversation);
    let code = if let Some(fault) = fault {
        output.say(&fault.to_string());
        FAILED
    } else {
        wire.farewell().await;
        0
    };
    let within = wire.limits.farewell;
    drop((wire, output));
    writers.finish(within).await;
    code
}

struct Conversation {
    wire: Arc<Wire>,
    /// The era, once the first message has told it.
    era: Option<Era>,
    /// Owns all that is under way.
    tasks: JoinSet<()>,
    /// Takes what is sent in order: what wants no answer, and everything in the transport of 2024-11-05.
    queue: mpsc::Sender<Queued>,
    /// Whether the server knows that the handshake is done, where it was told; requests wait for that.
    greeted: Option<watch::Receiver<bool>>,
}

/// Something that is sent in order.
struct Queued {
    message: Message,
    headers: HeaderMap,
    /// The handshake is done when this is sent.
    greets: Option<watch::Sender<bool>>,
}

impl Conversation {
    fn new(wire: Arc<Wire>) -> Self {
        let (queue, queued) = mpsc::channel(wire.limits.queued);
        let mut tasks = JoinSet::new();
        tasks.spawn(send_in_order(Arc::clone(&wire), queued));
        Self { wire, era: None, tasks, queue, greeted: None }
    }

    /// Takes standard input to its end.
    async fn read(&mut self, mut stdin: impl AsyncRead + Unpin) {
        // What is written here comes from Kennel itself, which has its own bounds; what is too large for the server is told
        // apart when it is whole, because a request wants an answer.
        let mut lines = LineAssembler::new(usize::MAX);
        loop {
            let mut chunk = BytesMut::with_capacity(CHUNK);
            if !matches!(stdin.read_buf(&mut chunk).await, Ok(1..)) {
                return;
            }
            for line in lines.push(chunk.freeze()) {
                if let Line::Whole(line) = line {
                    self.line(line).await;
                }
            }
        }
    }

    async fn line(&mut self, line: Bytes) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match Frame::parse(line) {
            Ok(Frame::Single(message)) => self.message(message).await,
            Ok(Frame::Batch(messages)) => {
                for message in messages.into_iter().flatten() {
                    self.message(message).await;
                }
            }
            Err(error) => self.wire.output.say(&format!("what was to be sent is no message: {error}")),
        }
    }

    async fn message(&mut self, message: Message) {
        while self.tasks.try_join_next().is_some() {}
        let era = *self.era.get_or_insert_with(|| era_of(&message));
        let (length, limit) = (message.bytes().len(), self.wire.limits.message_bytes);
        if length > limit {
            let text = format!("a message of {length} bytes was not sent; the limit is {limit}");
            return match message.kind() {
                Kind::Request { id, .. } => self.refuse(id, ErrorCode::TOO_LARGE, &text).await,
                Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => self.wire.output.say(&text),
            };
        }
        match message.kind() {
            Kind::Request { id, .. } => {
                let id = id.clone();
                self.request(era, id, message).await;
            }
            Kind::Notification { method, .. } => {
                // In the modern era a request is given up by hanging up, and only so.
                let cancelled =
                    message.cancelled_request().ok().flatten().filter(|_| method == "notifications/cancelled");
                let is_greeting = era == Era::Legacy && method == "notifications/initialized";
                if let (Some(id), Era::Modern) = (&cancelled, era) {
                    self.wire.open.cancel(id);
                    return;
                }
                self.queue(era, message, is_greeting).await;
                if let Some(id) = cancelled {
                    self.wire.open.cancel(&id);
                }
            }
            Kind::Response { .. } | Kind::Error { .. } => self.queue(era, message, false).await,
        }
    }

    async fn request(&mut self, era: Era, id: Id, message: Message) {
        let limit = self.wire.limits.requests;
        // Each request has a task of its own but in the transport of 2024-11-05; one task sends in order.
        if self.wire.open.len() >= limit || self.tasks.len() > limit.saturating_add(2) {
            let text = format!("{limit} requests are under way, which is all that may be at once");
            return self.refuse(&id, ErrorCode::SATURATED, &text).await;
        }
        let Some(cancelled) = self.wire.open.insert(&id) else {
            return self.refuse(&id, ErrorCode::INVALID_REQUEST, "another request with this id is under way").await;
        };
        let opens = matches!(message.method().as_deref(), Some("initialize" | "server/discover"));
        if opens {
            self.wire.session.opens_with(&id, era);
        }
        if self.wire.endpoint.get().is_some() {
            return self.queue(era, message, false).await;
        }
        if era == Era::Modern && self.wire.transport == Transport::Sse {
            self.wire.open.take(&id);
            let text = "the transport `sse` is older than this protocol version";
            return self.refuse(&id, ErrorCode::METHOD_NOT_FOUND, text).await;
        }
        let (wire, greeted) = (Arc::clone(&self.wire), self.greeted.clone());
        self.tasks.spawn(async move {
            let work = async {
                if let Some(mut greeted) = greeted {
                    // Where the greeting was given up, the server says what it thinks of that.
                    let _ = greeted.wait_for(|greeted| *greeted).await;
                }
                match era {
                    Era::Modern => wire.exchange_modern(&id, &message).await,
                    Era::Legacy if opens => wire.open_legacy(&id, message.into_bytes()).await,
                    Era::Legacy => wire.exchange(&id, message.into_bytes()).await,
                }
            };
            if let Some(Err(fault)) = cancelled.run_until_cancelled(work).await {
                wire.fail(&id, fault).await;
            }
        });
    }

    async fn refuse(&self, id: &Id, code: ErrorCode, text: &str) {
        self.wire.output.say(text);
        self.wire.output.message(ErrorObject::new(code, text).response(&id.clone().into())).await;
    }

    /// Has a message sent after those before it.
    async fn queue(&mut self, era: Era, message: Message, is_greeting: bool) {
        let headers = match era {
            Era::Modern => modern::headers(&message),
            Era::Legacy if self.wire.endpoint.get().is_some() => HeaderMap::new(),
            Era::Legacy => self.wire.session.headers(),
        };
        let listens = is_greeting && self.wire.endpoint.get().is_none();
        let greets = listens.then(|| {
            let (greets, greeted) = watch::channel(false);
            self.greeted = Some(greeted.clone());
            let wire = Arc::clone(&self.wire);
            self.tasks.spawn(async move {
                let mut greeted = greeted;
                if greeted.wait_for(|greeted| *greeted).await.is_ok() {
                    wire.listen().await;
                }
            });
            greets
        });
        // Only when the conversation ends is there nobody to take it.
        let _ = self.queue.send(Queued { message, headers, greets }).await;
    }
}

/// Sends one after the other.
async fn send_in_order(wire: Arc<Wire>, mut queued: mpsc::Receiver<Queued>) {
    while let Some(Queued { message, headers, greets }) = queued.recv().await {
        let request = match message.kind() {
            Kind::Request { id, .. } => Some(id.clone()),
            Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => None,
        };
        match (wire.tell(headers, message.into_bytes()).await, request) {
            (Ok(()), _) => {}
            (Err(fault), Some(id)) => wire.fail(&id, fault).await,
            (Err(fault), None) => wire.complain(fault),
        }
        if let Some(greets) = greets {
            greets.send_replace(true);
        }
    }
}
