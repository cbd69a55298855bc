//! The era in which every request stands for itself (2026-07-28): its headers, its stream, and streams that stay open.
//!
//! Arguments that a tool wants repeated in headers of their own (`Mcp-Param-…`) are not; a server that insists on them
//! answers with its own error.

use crate::answer::Answer;
use crate::exchange::Relayed;
use crate::fault::Fault;
use crate::session::PROTOCOL_VERSION;
use crate::wire::Wire;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use kennel_wire::{Id, Message, ProtocolVersion, RawJson, meta, notification};
use tokio::time::sleep;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LISTEN: &str = "subscriptions/listen";
/// What a stream can be asked to tell, and what it is told by.
const LISTS: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "notifications/resources/list_changed"),
];

impl Wire {
    /// Sends a request that stands for itself and passes on what comes until its answer.
    pub(crate) async fn exchange_modern(&self, id: &Id, request: &Message) -> Result<(), Fault> {
        let stays_open = request.method().as_deref() == Some(LISTEN);
        let mut wait = self.limits.retry;
        loop {
            let headers = headers(request);
            let response = self.client.post(self.client.address(), headers, request.bytes().clone()).await?;
            let mut stream = match self.reading().read(response).await? {
                Answer::Events(stream) => stream,
                answer => return self.finish(answer, id).await,
            };
            let Relayed::Broken { fault, has_said } = self.relay(&mut stream, id).await? else { return Ok(()) };
            // In this era nothing of a stream comes again, but one that only listens may be opened anew.
            if !stays_open {
                return Err(fault);
            }
            self.output.say(&format!("{fault}; listening again"));
            if has_said {
                wait = self.limits.retry;
            }
            sleep(wait).await;
            wait = wait.saturating_mul(2).min(self.limits.longest_retry);
            self.tell_of_lists(id, request).await;
        }
    }

    /// What has changed while nobody listened is not known, so all may have.
    async fn tell_of_lists(&self, id: &Id, request: &Message) {
        let about = RawJson::object([(meta::SUBSCRIPTION_ID, &id.into())]);
        let params = RawJson::object([("_meta", &about)]);
        for (list, method) in LISTS {
            let asked = request.field(&["params", "notifications", list]).ok().flatten();
            if asked.is_some_and(|asked| asked.as_bytes() == b"true") {
                self.output.message(notification(method, &params)).await;
            }
        }
    }
}

/// The headers that repeat what a message says.
pub(crate) fn headers(message: &Message) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let version = message.declared_version().ok().flatten();
    let version = version.as_deref().unwrap_or(ProtocolVersion::LATEST.as_str());
    headers.extend(HeaderValue::from_str(version).ok().map(|version| (PROTOCOL_VERSION, version)));
    let method = message.method().unwrap_or_default();
    headers.extend(HeaderValue::from_str(&method).ok().map(|method| (METHOD, method)));
    let path: Option<&[&str]> = match method.as_ref() {
        "tools/call" | "prompts/get" => Some(&["params", "name"]),
        "resources/read" => Some(&["params", "uri"]),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some(&["params", "taskId"]),
        _ => None,
    };
    let name = path.and_then(|path| message.text_at(path).ok().flatten());
    headers.extend(name.and_then(|name| encoded(&name)).map(|name| (NAME, name)));
    headers
}

/// A text as a header carries it: as it is, or in Base64 between markers where it could not be told from something else.
fn encoded(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && text.trim_matches(' ') == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let value = if is_plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::from_str(&value).ok()
}

#[cfg(test)]
#[path = "modern_tests.rs"]
mod tests;
