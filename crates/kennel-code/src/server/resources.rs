//! What can be read: the manual, and results that are too large to be shown.

use super::conversation::{Conversation, Refused};
use crate::docs::MANUAL_URI;
use crate::results::{PREFIX, Results};
use kennel_wire::{ErrorCode, Message};
use serde_json::{Value, json};

/// What is always there.
pub(super) fn list() -> Value {
    json!({ "resources": [{
        "uri": MANUAL_URI,
        "name": "capabilities",
        "title": "Manual of code mode",
        "mimeType": "text/markdown",
    }] })
}

/// What comes and goes.
pub(super) fn templates() -> Value {
    json!({ "resourceTemplates": [{
        "uriTemplate": format!("{PREFIX}{{id}}{{?offset,limit}}"),
        "name": "result",
        "title": "Output that was too long, by bytes",
        "mimeType": "text/plain",
    }] })
}

/// Reads one.
pub(super) async fn read(conversation: &Conversation, message: &Message) -> Result<Value, Refused> {
    let uri = message.resource_uri().ok().flatten().ok_or_else(|| Refused::invalid("`params.uri` must be a text"))?;
    let not_found = |text: String| Refused { code: ErrorCode::RESOURCE_NOT_FOUND, text };
    let toolbox = conversation.toolbox()?;
    if uri == MANUAL_URI {
        let snapshot = toolbox.snapshot().await.map_err(|error| not_found(error.message))?;
        let text = snapshot.catalog().manual();
        return Ok(json!({ "contents": [{ "uri": uri, "mimeType": "text/markdown", "text": text }] }));
    }
    if !Results::is_result(&uri) {
        return Err(not_found(format!("there is no resource {uri}; there are {MANUAL_URI} and {PREFIX}<id>")));
    }
    let page = conversation.server.results().read(toolbox.holder(), &uri);
    let page = page.map_err(|error| not_found(error.to_string()))?;
    let mut contents = json!({ "uri": uri, "mimeType": "text/plain", "text": page.text });
    contents["_meta"] = json!({ "kennel/offset": page.offset, "kennel/length": page.length, "kennel/next": page.next });
    Ok(json!({ "contents": [contents] }))
}
