//! What comes back over HTTP: one message, a stream of events, nothing, or a refusal with a text.

use crate::client::root_cause;
use crate::fault::Fault;
use crate::sse::{Event, EventReader, TooLarge};
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use kennel_redact::cut;
use kennel_wire::{Kind, Message};
use std::time::Duration;
use tokio::time::timeout;

/// How much of a refusal is read.
const REFUSAL_BYTES: usize = 64 * 1024;
/// How much of its text is shown.
const SHOWN_BYTES: usize = 200;

/// What a response carries.
pub(crate) enum Answer {
    /// A message, or a batch of them.
    Message(Bytes),
    /// Messages one after the other.
    Events(EventStream),
    /// What was sent was accepted, and there is nothing to say to it.
    Nothing,
}

/// How a response is read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// Who answers.
    pub(crate) origin: &'a str,
    /// The largest message.
    pub(crate) message_bytes: usize,
    /// How long the text of a refusal may take.
    pub(crate) patience: Duration,
}

impl Reading<'_> {
    /// Reads the head of a response, and what follows as far as it is no stream.
    pub(crate) async fn read(self, response: Response<Incoming>) -> Result<Answer, Fault> {
        let status = response.status();
        if !status.is_success() {
            return self.refusal(response).await;
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_empty = response.headers().get(CONTENT_LENGTH).is_some_and(|length| length == "0");
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) || is_empty {
            return Ok(Answer::Nothing);
        }
        match essence.as_str() {
            "text/event-stream" => Ok(Answer::Events(EventStream::new(response.into_body(), self.message_bytes))),
            "application/json" => {
                let (body, is_whole) = self.body(response.into_body(), self.message_bytes).await?;
                if !is_whole {
                    return Err(self.too_large());
                }
                if body.iter().all(u8::is_ascii_whitespace) { Ok(Answer::Nothing) } else { Ok(Answer::Message(body)) }
            }
            "" => Err(self.no_message("it has no content type".to_owned())),
            other => Err(self.no_message(format!("its content type is `{other}`"))),
        }
    }

    /// Reads a refusal: a message that answers a request, or some text.
    async fn refusal(self, response: Response<Incoming>) -> Result<Answer, Fault> {
        let status = response.status();
        let body = timeout(self.patience, self.body(response.into_body(), REFUSAL_BYTES)).await;
        // A refusal without its text is one all the same.
        let body = body.ok().and_then(Result::ok).map(|(body, _)| body).unwrap_or_default();
        let message = Message::parse(body.clone()).ok();
        if message.as_ref().is_some_and(|message| message.id().is_some() && message.method().is_none()) {
            return Ok(Answer::Message(body));
        }
        let error = message.as_ref().and_then(|message| match message.kind() {
            Kind::Error { .. } => message.error(),
            Kind::Request { .. } | Kind::Notification { .. } | Kind::Response { .. } => None,
        });
        let said = message.as_ref().and_then(|message| message.text_at(&["error", "message"]).ok().flatten());
        let text = said.map_or_else(|| shortened(&String::from_utf8_lossy(&body)), |said| shortened(&said));
        Err(Fault::Status { origin: self.origin.to_owned(), status, text, error })
    }

    /// The beginning of a body, and whether that is all.
    async fn body(self, mut body: Incoming, limit: usize) -> Result<(Bytes, bool), Fault> {
        let mut held = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| self.lost(&error))?;
            let Ok(data) = frame.into_data() else { continue };
            if held.len() + data.len() > limit {
                held.extend_from_slice(data.get(..limit - held.len()).unwrap_or_default());
                return Ok((held.freeze(), false));
            }
            held.extend_from_slice(&data);
        }
        Ok((held.freeze(), true))
    }

    /// The next event of a stream; `None` at its end.
    pub(crate) async fn next(self, stream: &mut EventStream) -> Result<Option<Event>, Fault> {
        loop {
            if let Some(event) = stream.reader.next() {
                return Ok(Some(event));
            }
            let Some(frame) = stream.body.frame().await else { return Ok(None) };
            let frame = frame.map_err(|error| self.lost(&error))?;
            if let Ok(data) = frame.into_data() {
                stream.reader.push(&data).map_err(|TooLarge| self.too_large())?;
            }
        }
    }

    fn lost(self, error: &hyper::Error) -> Fault {
        Fault::Lost { origin: self.origin.to_owned(), cause: root_cause(error) }
    }

    fn too_large(self) -> Fault {
        Fault::TooLarge { origin: self.origin.to_owned(), limit: self.message_bytes }
    }

    pub(crate) fn no_message(self, problem: String) -> Fault {
        Fault::NoMessage { origin: self.origin.to_owned(), problem }
    }
}

/// A stream of events that is being read.
pub(crate) struct EventStream {
    body: Incoming,
    reader: EventReader,
}

impl EventStream {
    fn new(body: Incoming, message_bytes: usize) -> Self {
        Self { body, reader: EventReader::new(message_bytes) }
    }

    /// The id of the last event that came whole.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.reader.last_id()
    }

    /// How long the server wants to be left alone before it is asked for the stream again.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.reader.retry()
    }
}

/// The beginning of a text in one line; of a page for browsers nothing.
fn shortened(text: &str) -> String {
    if text.trim_start().starts_with('<') {
        return String::new();
    }
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&words, SHOWN_BYTES).into_owned()
}
