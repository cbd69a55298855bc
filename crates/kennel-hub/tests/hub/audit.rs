//! What is written down of calls: one row for each, with what became of it.

use crate::support::{Plan, Scene, calm, settle};
use kennel_hub::{Audit, AuditedArguments, ProcessModel, Timeouts};
use kennel_state::{AuditFilter, AuditRow, Outcome, Store};
use serde_json::json;
use std::time::Duration;

fn audited(store: &Store, arguments: AuditedArguments) -> Plan {
    let timeouts = Timeouts { inactivity: Duration::from_secs(10), ..Timeouts::default() };
    let audit = Some(Audit { store: store.clone(), arguments });
    Plan { timeouts, audit, ..calm(ProcessModel::Shared) }
}

/// All rows, the oldest first.
async fn rows(store: &Store) -> Vec<AuditRow> {
    settle().await;
    let mut rows = store.audit(AuditFilter::default(), 100).await.expect("they can be read");
    rows.reverse();
    rows
}

#[tokio::test]
async fn every_call_is_written_down_with_its_outcome() {
    let store = Store::in_memory();
    let scene = Scene::new(audited(&store, AuditedArguments::Digest));
    let client = scene.guest("ada", json!({})).await;
    let mut process = scene.process().await;
    // Succeeded, failed by the tool, failed by the server.
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a": 1}}}"#;
    let stream = client.ask(request);
    let heard = process.hears("tools/call").await;
    process.answer(&heard, json!({ "content": [] })).await;
    let answer = stream.response().await;
    let stream = client.call(2, "echo");
    let heard = process.hears("tools/call").await;
    process.answer(&heard, json!({ "content": [], "isError": true })).await;
    stream.response().await;
    let stream = client.request(3, "resources/read", json!({ "uri": "a:b" }));
    let heard = process.hears("resources/read").await;
    process.fail(&heard, -32002).await;
    stream.error(-32002).await;
    // Cancelled by the client, and left behind by it.
    let _stream = client.request(4, "prompts/get", json!({ "name": "greet" }));
    process.hears("prompts/get").await;
    client.notify("notifications/cancelled", json!({ "requestId": 4 }));
    process.hears("notifications/cancelled").await;
    // What only asks is not written down.
    let stream = client.request(5, "tools/list", json!({}));
    let heard = process.hears("tools/list").await;
    process.answer(&heard, json!({ "tools": [] })).await;
    stream.response().await;
    let stream = client.call(6, "echo");
    process.hears("tools/call").await;
    process.die().await;
    stream.error(-31001).await;

    let rows = rows(&store).await;
    let seen: Vec<_> = rows.iter().map(|row| (row.method.as_str(), row.tool.as_deref(), row.outcome)).collect();
    assert_eq!(
        seen,
        [
            ("tools/call", Some("echo"), Outcome::Succeeded),
            ("tools/call", Some("echo"), Outcome::ToolFailed),
            ("resources/read", Some("a:b"), Outcome::Failed),
            ("prompts/get", Some("greet"), Outcome::Cancelled),
            ("tools/call", Some("echo"), Outcome::Lost),
        ]
    );
    let first = &rows[0];
    assert_eq!((first.principal.as_str(), first.server.as_str()), ("ada", "weather"));
    assert_eq!(first.request_bytes, request.len() as u64);
    assert!(first.response_bytes >= answer.to_string().len() as u64 - 10, "{first:?}");
    assert!(first.session.is_some() && first.session == rows[1].session);
    assert!(first.arguments.text.is_none());
    let digest = store.digest(br#"{"a": 1}"#).await.expect("it can be made");
    assert_eq!(first.arguments.hash, Some(digest));
    assert_eq!((rows[2].error_code, rows[0].error_code), (Some(-32002), None));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_is_written_down_as_that() {
    let store = Store::in_memory();
    let scene = Scene::new(audited(&store, AuditedArguments::Text));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.request(1, "tools/call", json!({ "name": "echo", "arguments": { "key": "value" } }));
    process.hears("tools/call").await;
    stream.response().await;
    let rows = rows(&store).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].outcome, Outcome::TimedOut);
    assert!(rows[0].duration >= Duration::from_secs(10), "{:?}", rows[0].duration);
    assert_eq!(rows[0].arguments.text.as_deref(), Some(r#"{"key":"value"}"#));
    scene.end().await;
}
