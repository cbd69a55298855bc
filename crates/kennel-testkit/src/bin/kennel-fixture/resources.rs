//! Owns the resources.

use serde_json::{Value, json};

use crate::calls::Work;
use crate::content::PNG;
use crate::dialogue::{Question, Sealing};
use crate::incoming::Failure;

/// The result of `resources/list`.
pub(crate) fn list() -> String {
    json!({"resources": [
        resource("test://static-text", "Static text", "A text that never changes", "text/plain"),
        resource("test://static-binary", "Static binary", "A picture that never changes", "image/png"),
        resource("test://watched-resource", "Watched resource", "Can be subscribed to", "text/plain"),
    ]})
    .to_string()
}

/// The result of `resources/templates/list`.
pub(crate) fn templates() -> String {
    json!({"resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data",
        "name": "Template",
        "description": "Data for an id",
        "mimeType": "application/json",
    }]})
    .to_string()
}

/// The resource that asks; it is not listed.
const ASKING: &str = "test://asking-resource";

/// What reads a resource that asks the client first.
pub(crate) fn asking(uri: &str) -> Option<Work> {
    (uri == ASKING).then_some(|call| {
        call.require(&["elicitation"])?;
        let question = Question::form("password", "What is the password?", "password");
        let password = call.ask_for_text(question, "/content/password", Sealing::WhenNeeded)?;
        let content = text(ASKING, "text/plain", &format!("Read with the password {password}"));
        Ok(json!({"contents": [content]}).to_string())
    })
}

/// The result of `resources/read` for the others.
pub(crate) fn read(uri: &str) -> Result<String, Failure> {
    let content = match uri {
        "test://static-text" => text(uri, "text/plain", "This is the content of the static text resource."),
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        "test://watched-resource" => text(uri, "text/plain", "Watched resource content"),
        _ => {
            let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let id = id.filter(|id| !id.is_empty()).ok_or_else(|| Failure::unknown_resource(uri))?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            text(uri, "application/json", &data.to_string())
        }
    };
    Ok(json!({"contents": [content]}).to_string())
}

fn resource(uri: &str, name: &str, description: &str, mime_type: &str) -> Value {
    json!({"uri": uri, "name": name, "description": description, "mimeType": mime_type})
}

fn text(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({"uri": uri, "mimeType": mime_type, "text": text})
}
