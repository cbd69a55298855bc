//! What the doors themselves say, held against the protocol's schemas.

use crate::http::Response;
use crate::support::{Scene, VERSION_FIELD, echo, modern, request};
use kennel_testkit::{Schema, specification};
use serde_json::{Value, json};

#[track_caller]
fn is_error(schema: &Schema, definition: &str, response: &Response) {
    assert!(response.status >= 400, "{response:?}");
    let message = response.json();
    assert!(message["error"].is_object(), "{message}");
    assert_eq!(schema.problem(definition, &message), None, "{definition}: {message}");
}

#[tokio::test]
async fn errors_for_clients_without_sessions() {
    let Some(revision) = specification("2026-07-28") else { return };
    let schema = Schema::read(&revision).expect("the schema can be read");
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let of_version = |version: Value| {
        let mut request = modern(echo(1, "hi"));
        request["params"]["_meta"][VERSION_FIELD] = version;
        request
    };
    let unknown = connection.post_modern(&[], &of_version(json!("2030-01-01"))).await;
    is_error(&schema, "UnsupportedProtocolVersionError", &unknown);
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list"), ("mcp-name", "echo")];
    is_error(&schema, "HeaderMismatchError", &connection.post(&headers, &modern(echo(1, "hi"))).await);
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "echo")];
    is_error(&schema, "HeaderMismatchError", &connection.post(&headers[..2], &modern(echo(1, "hi"))).await);
    is_error(&schema, "JSONRPCErrorResponse", &connection.post(&headers, &echo(1, "no meta")).await);
    let mut bare = modern(echo(1, "hi"));
    bare["params"]["_meta"] = json!({VERSION_FIELD: "2026-07-28"});
    is_error(&schema, "JSONRPCErrorResponse", &connection.post_modern(&[], &bare).await);
    let removed = modern(request(1, "ping", &json!({})));
    is_error(&schema, "JSONRPCErrorResponse", &connection.post_modern(&[], &removed).await);
    scene.end().await;
}

#[tokio::test]
async fn errors_for_clients_with_sessions() {
    // Earlier revisions have no error without an id, which is what a refusal is.
    let Some(revision) = specification("2025-11-25") else { return };
    let schema = Schema::read(&revision).expect("the schema can be read");
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    is_error(&schema, "JSONRPCErrorResponse", &connection.post(&[], &echo(1, "no session")).await);
    let unknown = [("mcp-session-id", "no-such")];
    is_error(&schema, "JSONRPCErrorResponse", &connection.post(&unknown, &echo(1, "no session")).await);
    is_error(&schema, "JSONRPCErrorResponse", &connection.ask("GET", "/mcp", &unknown, "").await);
    is_error(&schema, "JSONRPCErrorResponse", &connection.ask("PUT", "/mcp", &[], "").await);
    is_error(&schema, "JSONRPCErrorResponse", &connection.post(&[("host", "evil.example")], &json!({})).await);
    scene.end().await;
}
