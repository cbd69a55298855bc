//! One request over Streamable HTTP: sent by a POST of its own, answered there, or on streams that take its place when it
//! breaks.

use crate::answer::{Answer, EventStream};
use crate::fault::Fault;
use crate::sse::Event;
use crate::wire::Wire;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use kennel_wire::Id;
use std::time::Duration;
use tokio::time::{sleep, timeout};

pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How long the end of a stream is waited for after the answer, so that its connection serves again.
const END_OF_STREAM: Duration = Duration::from_millis(200);

/// How a stream came to its end.
pub(crate) enum Relayed {
    /// After the answer.
    Answered,
    /// Before it.
    Broken {
        /// Why.
        fault: Fault,
        /// Whether there was anything on it.
        has_said: bool,
    },
}

impl Wire {
    /// Sends a request of the legacy era and passes on what comes until its answer.
    pub(crate) async fn exchange(&self, id: &Id, body: Bytes) -> Result<(), Fault> {
        let response = self.client.post(self.client.address(), self.session.headers(), body).await?;
        if self.session.opened_by(id).is_some() && response.status().is_success() {
            self.session.begins(response.headers());
        }
        match self.reading().read(response).await? {
            Answer::Events(stream) => self.follow(stream, id).await,
            answer => self.finish(answer, id).await,
        }
    }

    /// Passes on an answer that is no stream.
    pub(crate) async fn finish(&self, answer: Answer, id: &Id) -> Result<(), Fault> {
        if let Answer::Message(message) = answer {
            self.hear(message, Some(id)).await;
        }
        if self.open.contains(id) {
            return Err(self.reading().no_message("the request was accepted, but not answered".to_owned()));
        }
        Ok(())
    }

    /// Passes on a stream until the answer is there, and asks for it again where it breaks before that.
    async fn follow(&self, mut stream: EventStream, id: &Id) -> Result<(), Fault> {
        let (mut last_id, mut retry): (Option<HeaderValue>, _) = (None, None);
        let mut fruitless = 0;
        loop {
            let Relayed::Broken { fault, has_said } = self.relay(&mut stream, id).await? else { return Ok(()) };
            last_id = stream.last_id().and_then(|id| id.parse().ok()).or(last_id);
            retry = stream.retry().or(retry);
            if has_said {
                fruitless = 0;
            }
            let Some(last_id) = last_id.clone() else { return Err(fault) };
            self.output.say(&format!("{fault}; asking for the rest of the stream"));
            stream = loop {
                fruitless += 1;
                if fruitless > self.limits.resumes {
                    return Err(fault);
                }
                sleep(self.limits.wait(retry)).await;
                match self.resume(last_id.clone()).await {
                    Ok(Some(stream)) => break stream,
                    Ok(None) => return Err(fault),
                    Err(Fault::Lost { .. } | Fault::Unreachable { .. }) if fruitless < self.limits.resumes => {}
                    Err(other) => return Err(other),
                }
            };
        }
    }

    /// Asks for what follows an event; `None` if the server does not have it.
    async fn resume(&self, last_id: HeaderValue) -> Result<Option<EventStream>, Fault> {
        let mut headers = self.session.headers();
        headers.insert(LAST_EVENT_ID, last_id);
        let response = self.client.stream(headers).await?;
        match self.reading().read(response).await {
            Ok(Answer::Events(stream)) => Ok(Some(stream)),
            Err(fault @ Fault::Status { status: StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED, .. }) => Err(fault),
            Ok(Answer::Message(_) | Answer::Nothing) | Err(Fault::Status { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Passes on what is on a stream until its end, or until shortly after the answer to the request.
    pub(crate) async fn relay(&self, stream: &mut EventStream, id: &Id) -> Result<Relayed, Fault> {
        let mut has_said = false;
        loop {
            let next = self.reading().next(stream);
            let next = if self.open.contains(id) {
                next.await
            } else {
                match timeout(END_OF_STREAM, next).await {
                    Ok(next) => next,
                    Err(_) => return Ok(Relayed::Answered),
                }
            };
            match next {
                Ok(Some(event)) => {
                    has_said = true;
                    self.take(event, Some(id)).await;
                }
                Ok(None) | Err(Fault::Lost { .. }) if !self.open.contains(id) => return Ok(Relayed::Answered),
                Ok(None) => {
                    let cause = "its stream ended".to_owned();
                    return Ok(Relayed::Broken { fault: Fault::Lost { origin: self.origin.clone(), cause }, has_said });
                }
                Err(fault @ Fault::Lost { .. }) => return Ok(Relayed::Broken { fault, has_said }),
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Passes on an event, if it carries a message.
    pub(crate) async fn take(&self, event: Event, of: Option<&Id>) {
        // One without data only says how far the stream is.
        if matches!(event.kind.as_str(), "" | "message") && !event.data.is_empty() {
            self.hear(event.data, of).await;
        }
    }

    /// Sends what wants no answer, within a time.
    pub(crate) async fn tell(&self, headers: HeaderMap, body: Bytes) -> Result<(), Fault> {
        let to = self.endpoint.get().unwrap_or(self.client.address());
        let telling = async {
            let response = self.client.post(to, headers, body).await?;
            match self.reading().read(response).await {
                // It is not for what is said to such a message that it was sent.
                Ok(_) | Err(Fault::NoMessage { .. }) => Ok(()),
                Err(fault) => Err(fault),
            }
        };
        match timeout(self.limits.accept, telling).await {
            Ok(told) => told,
            Err(_) => Err(Fault::Slow { origin: self.origin.clone(), within: self.limits.accept }),
        }
    }

    /// Says goodbye to a session of the legacy era.
    pub(crate) async fn farewell(&self) {
        if self.session.has_id() {
            // A server that does not let sessions be ended forgets them by itself.
            let _ = timeout(self.limits.farewell, self.client.delete(self.session.headers())).await;
        }
    }
}
