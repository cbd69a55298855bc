//! The door `/rpc`: plain JSON-RPC by POST, without a handshake and without a session.

use crate::answer::{Inbox, array};
use crate::asking::Asking;
use crate::connection::Slot;
use crate::declared;
use crate::headers;
use crate::intake::{Intake, Standing};
use crate::mcp::{error_response, read_frame};
use crate::metrics::Tally;
use crate::modern::LISTEN;
use crate::reply::{self, Refusal, Reply};
use crate::settings::Limits;
use bytes::Bytes;
use futures_util::future::join_all;
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use kennel_hub::{Caller, Endpoint, OutgoingKind, Principal};
use kennel_wire::{Era, ErrorCode, ErrorObject, Frame, Id, Kind, Message};
use std::sync::Arc;

/// What the door needs.
pub(crate) struct RpcDoor {
    pub(crate) limits: Arc<Limits>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) tally: Arc<Tally>,
}

impl RpcDoor {
    pub(crate) async fn handle(
        &self,
        endpoint: &Endpoint,
        principal: &Principal,
        slot: &Slot,
        request: Request<Incoming>,
    ) -> Reply {
        let handled = match *request.method() {
            Method::POST => self.post(endpoint, principal, slot, request).await,
            _ => Err(reply::method_not_allowed("POST")),
        };
        handled.unwrap_or_else(|refusal| *refusal)
    }

    async fn post(
        &self,
        endpoint: &Endpoint,
        principal: &Principal,
        slot: &Slot,
        request: Request<Incoming>,
    ) -> Result<Reply, Refusal> {
        let (head, body) = request.into_parts();
        headers::sends_json(&head.headers)?;
        let caller = Caller::new(principal.clone());
        let (frame, _share) = read_frame(body, &self.limits, self.intake.share(Standing::None), slot).await?;
        match frame {
            Frame::Single(message) => {
                let answers = self.call(endpoint, &caller, vec![message], Vec::new()).await;
                Ok(answers.into_iter().next().map_or_else(nothing, |answer| reply::json(StatusCode::OK, answer)))
            }
            Frame::Batch(messages) => {
                let mut refused = Vec::new();
                let good = |message| match message {
                    Ok(message) => Some(message),
                    Err(error) => {
                        refused.push(error_response(&error));
                        None
                    }
                };
                let messages = messages.into_iter().filter_map(good).collect();
                let answers = self.call(endpoint, &caller, messages, refused).await;
                Ok(if answers.is_empty() { nothing() } else { reply::json(StatusCode::OK, array(answers.iter())) })
            }
        }
    }

    /// Sends all requests at once and waits for all answers, those in `answers` included. There is nobody to ask and
    /// nothing to notify here, so all but responses is passed over, and so is what the client sends besides requests.
    async fn call(
        &self,
        endpoint: &Endpoint,
        caller: &Caller,
        messages: Vec<Message>,
        mut answers: Vec<Bytes>,
    ) -> Vec<Bytes> {
        let inbox = Inbox::new(&self.limits);
        let (mut expected, mut standing) = (answers.len(), Vec::new());
        for message in messages {
            let Kind::Request { id, .. } = message.kind() else { continue };
            if declared::is_modern(&message) {
                self.tally.count(Era::Modern);
                let id = id.clone();
                match self.ask(endpoint, caller, message, id) {
                    Ok(asking) => standing.push(asking.answer()),
                    Err(refusal) => {
                        expected += 1;
                        answers.push(refusal);
                    }
                }
            } else {
                self.tally.count(Era::Legacy);
                expected += 1;
                endpoint.call(caller, message, inbox.mailbox());
            }
        }
        // Side by side, because what nobody reads holds up what comes behind it.
        let (mut answers, stood) = tokio::join!(collect(&inbox, answers, expected), join_all(standing));
        answers.extend(stood);
        answers
    }

    /// Asks what stands for itself, unless that cannot be; then the error says why.
    fn ask(&self, endpoint: &Endpoint, caller: &Caller, request: Message, id: Id) -> Result<Asking, Bytes> {
        if request.method().is_some_and(|method| method == LISTEN) {
            let text = "Listening is not possible here, where a request has one answer. Listen at /mcp or /ws.";
            return Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, text).response(&id.into()));
        }
        declared::check(&request).map_err(|improper| improper.response(&id.clone().into()))?;
        Ok(Asking::begin(endpoint, caller, request, id, &self.limits))
    }
}

/// Waits for as many answers as expected, those in `answers` included.
async fn collect(inbox: &Inbox, mut answers: Vec<Bytes>, mut expected: usize) -> Vec<Bytes> {
    while answers.len() < expected {
        match inbox.mailbox().next().await {
            Some(outgoing) => match outgoing.kind {
                OutgoingKind::Response => answers.push(outgoing.message),
                OutgoingKind::Withdrawn => expected -= 1,
                OutgoingKind::Request | OutgoingKind::Notification => {}
            },
            None => break,
        }
    }
    answers
}

/// There was nothing to answer.
fn nothing() -> Reply {
    reply::empty(StatusCode::ACCEPTED)
}
