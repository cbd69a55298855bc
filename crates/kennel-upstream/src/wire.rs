//! What all parts of one conversation share, and the two ways a request ends: with what the server says, or with a fault.

use crate::address::Address;
use crate::answer::Reading;
use crate::client::Client;
use crate::fault::Fault;
use crate::limits::Limits;
use crate::open_requests::OpenRequests;
use crate::output::Output;
use crate::session::Session;
use crate::target::Transport;
use bytes::Bytes;
use http::StatusCode;
use kennel_wire::{Era, ErrorId, ErrorObject, Frame, Id, Kind, Message, RawJson};
use std::sync::OnceLock;
use tokio::sync::mpsc;

/// One conversation.
pub(crate) struct Wire {
    pub(crate) client: Client,
    pub(crate) origin: String,
    pub(crate) output: Output,
    pub(crate) open: OpenRequests,
    pub(crate) session: Session,
    pub(crate) transport: Transport,
    /// Where messages go in the transport of 2024-11-05, once the server has said so.
    pub(crate) endpoint: OnceLock<Address>,
    pub(crate) limits: Limits,
    /// Takes the fault that ends the conversation.
    pub(crate) ending: mpsc::Sender<Fault>,
}

impl Wire {
    /// How responses are read.
    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading { origin: &self.origin, message_bytes: self.limits.message_bytes, patience: self.limits.accept }
    }

    /// Passes on what the server said, in answer to this request or to none.
    pub(crate) async fn hear(&self, frame: Bytes, of: Option<&Id>) {
        match Frame::parse(frame) {
            Ok(Frame::Single(message)) => self.pass(message, of).await,
            Ok(Frame::Batch(messages)) => {
                for message in messages {
                    match message {
                        Ok(message) => self.pass(message, of).await,
                        Err(error) => self.say_junk(&error.to_string()),
                    }
                }
            }
            Err(error) => self.say_junk(&error.to_string()),
        }
    }

    fn say_junk(&self, problem: &str) {
        self.output.say(&format!("{} sent what is no message: {problem}", self.origin));
    }

    async fn pass(&self, message: Message, of: Option<&Id>) {
        match message.kind() {
            Kind::Request { .. } | Kind::Notification { .. } => {}
            Kind::Response { id, .. } | Kind::Error { id: ErrorId::Known(id), .. } => {
                // One that comes by another way leaves nothing to wait for on its own.
                let is_open = if of == Some(id) { self.open.take(id) } else { self.open.cancel(id) };
                if !is_open {
                    self.output.say(&format!("{} answered request {id}, which waits for no answer", self.origin));
                    return;
                }
                if self.session.opened_by(id) == Some(Era::Legacy) {
                    self.session.agrees(&message);
                }
            }
            // It came where the answer to one request comes, so it is that.
            Kind::Error { id: ErrorId::Null | ErrorId::Absent, .. } => {
                match (of, message.error()) {
                    (Some(of), Some(error)) if self.open.take(of) => self.output.message(with_error(of, &error)).await,
                    _ => self.output.say(&format!("{} sent an error that belongs to no request", self.origin)),
                }
                return;
            }
        }
        self.output.message(message.into_bytes()).await;
    }

    /// Answers a request that failed, or ends the conversation if it cannot go on.
    pub(crate) async fn fail(&self, id: &Id, fault: Fault) {
        let fault = self.judge(fault);
        let ends = match self.session.opened_by(id) {
            Some(_) => !leaves_another_way(&fault),
            None => fault.is_final(),
        };
        if ends {
            self.end(fault);
            return;
        }
        if !self.open.take(id) {
            return;
        }
        self.output.say(&fault.to_string());
        let answer = match &fault {
            Fault::Status { error: Some(error), .. } => with_error(id, error),
            _ => self.error(id, &fault),
        };
        self.output.message(answer).await;
    }

    /// Tells of what failed without anybody waiting for it, or ends the conversation if it cannot go on.
    pub(crate) fn complain(&self, fault: Fault) {
        let fault = self.judge(fault);
        if fault.is_final() { self.end(fault) } else { self.output.say(&fault.to_string()) }
    }

    /// Ends the conversation. The first fault counts.
    pub(crate) fn end(&self, fault: Fault) {
        let _ = self.ending.try_send(fault);
    }

    fn error(&self, id: &Id, fault: &Fault) -> Bytes {
        ErrorObject::new(fault.code(), self.output.safe(&fault.to_string())).response(&id.clone().into())
    }

    /// What a status means in this conversation.
    pub(crate) fn judge(&self, fault: Fault) -> Fault {
        let Fault::Status { origin, status, text, error } = fault else { return fault };
        match status {
            StatusCode::UNAUTHORIZED => Fault::Denied { origin, status, text },
            StatusCode::NOT_FOUND if self.session.has_id() => Fault::SessionLost { origin, status },
            // Many servers say it so, though the specification has it otherwise.
            StatusCode::BAD_REQUEST if self.session.has_id() && text.to_ascii_lowercase().contains("session") => {
                Fault::SessionLost { origin, status }
            }
            _ => Fault::Status { origin, status, text, error },
        }
    }
}

/// Whether the request that opens the conversation was refused in a way by which another era may be tried: a server that
/// knows nothing of an era refuses its first request in one way or another.
fn leaves_another_way(fault: &Fault) -> bool {
    match fault {
        Fault::Status { status, error, .. } => {
            let is_other_trouble = matches!(*status, StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS);
            error.is_some() || (status.is_client_error() && !is_other_trouble)
        }
        Fault::NoMessage { .. } | Fault::NoServer { .. } => true,
        _ => false,
    }
}

/// The answer to a request with an error as the server wrote it.
fn with_error(id: &Id, error: &RawJson) -> Bytes {
    let parts = [b"{\"jsonrpc\":\"2.0\",\"id\":", id.spelling(), b",\"error\":", error.as_bytes(), b"}"];
    parts.concat().into()
}
