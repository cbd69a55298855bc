//! The stream on which a server of the legacy era says what belongs to no request (Streamable HTTP): opened when the
//! handshake is done, and opened again when it ends.

use crate::answer::Answer;
use crate::exchange::LAST_EVENT_ID;
use crate::fault::Fault;
use crate::wire::Wire;
use http::{HeaderValue, StatusCode};
use tokio::time::sleep;

/// How often the wait before the next attempt is doubled at most.
const MOST_DOUBLED: u32 = 16;

impl Wire {
    /// Listens until the server does not want that, or the conversation ends.
    pub(crate) async fn listen(&self) {
        let mut last_id: Option<HeaderValue> = None;
        let mut retry = None;
        // How often in a row there was nothing on it.
        let mut fruitless = 0;
        let mut was_open = false;
        loop {
            let mut headers = self.session.headers();
            headers.extend(last_id.clone().map(|id| (LAST_EVENT_ID, id)));
            let opened = match self.client.stream(headers).await {
                Ok(response) => self.reading().read(response).await,
                Err(fault) => Err(fault),
            };
            match opened {
                Ok(Answer::Events(mut stream)) => {
                    was_open = true;
                    loop {
                        match self.reading().next(&mut stream).await {
                            Ok(Some(event)) => {
                                fruitless = 0;
                                self.take(event, None).await;
                            }
                            Ok(None) | Err(Fault::Lost { .. }) => break,
                            Err(fault) => return self.complain(fault),
                        }
                    }
                    last_id = stream.last_id().and_then(|id| id.parse().ok()).or(last_id);
                    retry = stream.retry().or(retry);
                }
                Ok(Answer::Message(_) | Answer::Nothing)
                | Err(Fault::Status { status: StatusCode::METHOD_NOT_ALLOWED, .. }) => return,
                Err(fault @ Fault::Status { status, .. }) if status.is_client_error() => {
                    // One that never was there is a stream that the server does not have, whatever it says.
                    if was_open {
                        self.complain(fault);
                    } else if status != StatusCode::NOT_FOUND {
                        self.output.say(&format!("there is no stream of events: {fault}"));
                    }
                    return;
                }
                Err(
                    fault @ (Fault::Redirected { .. } | Fault::RedirectedTooOften { .. } | Fault::NoMessage { .. }),
                ) => {
                    self.output.say(&format!("there is no stream of events: {fault}"));
                    return;
                }
                Err(fault) => self.output.say(&format!("the stream of events cannot be opened yet: {fault}")),
            }
            let wait = self.limits.wait(retry).saturating_mul(1 << fruitless.min(MOST_DOUBLED));
            fruitless += 1;
            sleep(wait.min(self.limits.longest_retry)).await;
        }
    }
}
