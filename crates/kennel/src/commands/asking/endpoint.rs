//! Owns who is asked: a server behind an endpoint that runs, or one that is started for this command and ends with it.

use crate::cli::{GatewayFlags, Whom};
use crate::commands::admin::running_url;
use crate::commands::asking::address::Address;
use crate::commands::asking::door::{Answer, Door, DoorError};
use crate::commands::asking::words;
use crate::commands::console::Format;
use crate::commands::server::{Memory, Server};
use crate::failure::Failure;
use kennel_config::{NameError, ServerName};
use kennel_hub::{Caller, Mailbox, MailboxLimits, OutgoingKind, Principal};
use kennel_redact::{one_line, printable};
use kennel_wire::{ErrorCode, Id, Kind, Message, RawJson};
use serde_json::Value;
use std::time::Duration;

/// Where an endpoint is if nobody says.
const USUAL: &str = "http://127.0.0.1:7330";
/// The variable that holds the token for an endpoint.
const TOKEN: &str = "KENNEL_TOKEN";
/// How much of an answer that makes no sense is shown.
const MOST_SHOWN: usize = 200;

/// A server that can be asked.
pub(crate) enum Endpoint {
    /// One behind a gateway.
    Running(Box<Door>),
    /// One in a box of this process.
    Started(Box<Server>),
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// The server, or Kennel for it, answered with an error.
    #[error("{method} failed: {message} (code {code}){data}")]
    Answered {
        /// What was asked.
        method: &'static str,
        /// The error's message.
        message: String,
        /// Its code.
        code: i64,
        /// Its data, if it says more.
        data: String,
    },
    /// The answer did not come.
    #[error("{0} was not answered")]
    Unanswered(&'static str),
    /// The list of tools makes no sense.
    #[error("the server's list of tools cannot be read: {0}")]
    List(String),
    /// The request cannot be written.
    #[error("the request cannot be written: {0}")]
    Request(String),
    /// The endpoint could not be asked.
    #[error(transparent)]
    Door(#[from] DoorError),
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        match &error {
            AskError::Answered { .. } | AskError::Unanswered(_) | AskError::List(_) => Self::Server(error.to_string()),
            AskError::Request(_) => Self::Argument(error.to_string()),
            AskError::Door(door) => Self::Argument(format!("{error}\n  hint: {}", door.hint())),
        }
    }
}

impl Endpoint {
    /// Finds out who is meant; nothing is started or connected yet. Must be called within a tokio runtime.
    pub(crate) fn new(whom: Whom) -> Result<Self, Failure> {
        let Some(command) = whom.run else {
            let address = Address::read(&url(&whom)?).map_err(|error| Failure::Argument(error.to_string()))?;
            let patience = Duration::try_from_secs_f64(whom.server.call_timeout).ok().filter(|time| !time.is_zero());
            let patience = patience.ok_or_else(|| {
                Failure::Argument(format!("--call-timeout {}: must be more than 0 seconds", whom.server.call_timeout))
            })?;
            let most_bytes = usize::try_from(whom.server.max_message.bytes()).unwrap_or(usize::MAX / 4);
            // One that is no text is refused by the door, not left out.
            let token = std::env::var_os(TOKEN).map(|token| token.to_string_lossy().into_owned());
            let token = token.filter(|token| !token.is_empty());
            return Ok(Self::Running(Box::new(Door { address, token, patience, most_bytes })));
        };
        let words = words::split(&command).map_err(|error| Failure::Argument(format!("--run: {error}")))?;
        let words: Vec<_> = words.into_iter().map(Into::into).collect();
        Ok(Self::Started(Box::new(Server::new(&whom.server, &words, Format::People, Memory::None)?)))
    }

    /// Sends a request and waits for its result, as spelled. What is heard about it meanwhile goes to `heard`.
    pub(crate) async fn ask(
        &self,
        method: &'static str,
        params: &RawJson,
        heard: &mut (dyn FnMut(&Message) + Send),
    ) -> Result<RawJson, AskError> {
        let id = Id::number(1);
        let request = kennel_wire::request(&id, method, params);
        let answer = match self {
            Self::Running(door) => answer_of(door, door.post(&request).await?, &id)?,
            Self::Started(server) => {
                let request = Message::parse(request).map_err(|error| AskError::Request(error.to_string()))?;
                let mailbox = Mailbox::new(MailboxLimits::default());
                server.hub().call(&Caller::new(Principal::local()), request, &mailbox);
                loop {
                    let outgoing = mailbox.next().await.ok_or(AskError::Unanswered(method))?;
                    let message = Message::parse(outgoing.message);
                    match (outgoing.kind, message) {
                        (OutgoingKind::Response, Ok(message)) => break message,
                        (OutgoingKind::Notification, Ok(message)) => heard(&message),
                        // Nobody promised to answer questions here, and the hub does not pass any on.
                        (OutgoingKind::Request | OutgoingKind::Notification, _) => {}
                        (OutgoingKind::Withdrawn | OutgoingKind::Response, _) => {
                            return Err(AskError::Unanswered(method));
                        }
                    }
                }
            }
        };
        answer.result().ok_or_else(|| answered_with_error(method, &answer))
    }

    /// Ends what was started; returns when nothing of it is left.
    pub(crate) async fn close(&self) {
        match self {
            Self::Running(_) => {}
            Self::Started(server) => server.shutdown().await,
        }
    }
}

/// The URL that is meant: of one server of a gateway, where one is named.
fn url(whom: &Whom) -> Result<String, Failure> {
    let Some(server) = &whom.of_gateway else { return Ok(whom.url.clone().unwrap_or_else(|| USUAL.to_owned())) };
    let server: ServerName =
        server.parse().map_err(|error: NameError| Failure::Argument(format!("--server {server}: {error}")))?;
    let gateway = match &whom.url {
        Some(url) => url.clone(),
        None => running_url(&GatewayFlags { socket: whom.socket.clone(), data: whom.server.data.clone() })?,
    };
    let gateway = gateway.trim_end_matches('/');
    let gateway = gateway.strip_suffix("/mcp").or_else(|| gateway.strip_suffix("/rpc")).unwrap_or(gateway);
    Ok(format!("{gateway}/servers/{server}"))
}

/// The JSON-RPC answer in an answer of HTTP.
fn answer_of(door: &Door, answer: Answer, id: &Id) -> Result<Message, DoorError> {
    let Answer { status, body } = answer;
    let own = || door.address.clone();
    let shown = one_line(&String::from_utf8_lossy(body.get(..MOST_SHOWN).unwrap_or(&body)));
    let no_rpc = DoorError::NotRpc(own(), status, shown);
    let Ok(message) = Message::parse(body.into()) else { return Err(no_rpc) };
    match message.kind() {
        Kind::Response { id: answered, .. } if answered == id => Ok(message),
        Kind::Error { .. } if (200..300).contains(&status) => Ok(message),
        // Whoever guards the door says why the request did not come in.
        Kind::Error { error, .. } => Err(DoorError::Status(own(), status, message_of(error))),
        Kind::Response { .. } | Kind::Request { .. } | Kind::Notification { .. } => Err(no_rpc),
    }
}

fn answered_with_error(method: &'static str, answer: &Message) -> AskError {
    let Some(error) = answer.error() else { return AskError::Unanswered(method) };
    let object: Value = serde_json::from_slice(error.as_bytes()).unwrap_or_default();
    let code = object["code"].as_i64().unwrap_or(ErrorCode::INTERNAL_ERROR.0);
    let data = match &object["data"] {
        Value::Null => String::new(),
        // What Kennel adds to its own errors is for programs.
        _ if is_own(code) => String::new(),
        Value::String(text) => format!("\n  {}", printable(text).replace('\n', "\n  ")),
        other => format!("\n  {}", printable(&other.to_string())),
    };
    AskError::Answered { method, message: message_of(error.as_bytes()), code, data }
}

/// Whether Kennel, and not the server, answered.
fn is_own(code: i64) -> bool {
    (ErrorCode::TOO_LARGE.0..=ErrorCode::OUTCOME_UNKNOWN.0).contains(&code)
}

/// The message of an error object, or the object where it has none.
fn message_of(error: &[u8]) -> String {
    let object: Value = serde_json::from_slice(error).unwrap_or_default();
    match object["message"].as_str() {
        Some(message) => printable(message).into_owned(),
        None => printable(&String::from_utf8_lossy(error)).into_owned(),
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
