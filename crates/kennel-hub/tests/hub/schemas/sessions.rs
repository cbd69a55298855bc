//! Clients with sessions, of every version, with processes of both eras.

use super::ledger::{Ledger, MODERN, WITH_SESSIONS, attend, complete, everything};
use crate::support::{Plan, Profile, Scene, calm, settle, tools};
use kennel_hub::{Limits, ProcessModel, Timeouts};
use kennel_wire::{Era, meta};
use serde_json::json;
use std::time::Duration;

fn able() -> serde_json::Value {
    json!({ "elicitation": {}, "roots": {} })
}

#[tokio::test(start_paused = true)]
async fn with_processes_of_the_same_era() {
    for version in WITH_SESSIONS {
        let (Some(mut client_side), Some(mut process_side)) = (Ledger::of(version), Ledger::of(version)) else {
            return;
        };
        let timeouts = Timeouts { call: Duration::from_mins(1), ..Timeouts::default() };
        let plan = Plan { timeouts, ..calm(ProcessModel::Shared) };
        let scene = Scene::with(plan, move |number| {
            let offered = tools(if number < 2 { &["echo"] } else { &["echo", "new"] });
            Profile { version, capabilities: everything(), tools: vec![offered], ..Profile::default() }
        });
        let client = scene.introduce("ann", version, able()).await;
        client_side.result("InitializeResult", &client.introduction);
        let mut process = scene.process().await;
        for (id, method, params) in [
            (1, "resources/subscribe", json!({ "uri": "test://a" })),
            (2, "logging/setLevel", json!({ "level": "warning" })),
        ] {
            let stream = client.request(id, method, params);
            let request = attend(&mut process, method).await;
            process.answer(&request, json!({})).await;
            client_side.result("EmptyResult", &stream.response().await);
        }
        client_side.result("EmptyResult", &client.request(3, "ping", json!({})).response().await);
        let stream = client.request(4, "tools/list", json!({}));
        let request = attend(&mut process, "tools/list").await;
        process.answer(&request, tools(&["echo"])).await;
        client_side.result("ListToolsResult", &stream.response().await);
        // What the process asks and must not, and what nobody answers.
        let stream = client.call(5, "echo");
        attend(&mut process, "tools/call").await;
        process.ask(json!("p"), "ping", json!({})).await;
        process.ask(json!("s"), "sampling/createMessage", json!({})).await;
        process.ask(json!("r"), "roots/list", json!({})).await;
        client_side.asked("roots/list", &stream.request().await);
        settle().await;
        // Its end: the question is taken back, the call has failed, and the next one is told what the first was.
        process_side.heard(&process);
        process.die().await;
        client_side.told("notifications/cancelled", &stream.notification().await);
        client_side.error(-31001, &stream.response().await);
        let mut process = scene.process().await;
        client_side.told("notifications/tools/list_changed", &client.unsolicited.notification().await);
        // One that takes too long, and one that the client leaves behind.
        let stream = client.call(6, "echo");
        attend(&mut process, "tools/call").await;
        let late = stream.response().await;
        client_side.error(late["error"]["code"].as_i64().unwrap_or_default(), &late);
        let _stream = client.call(7, "echo");
        attend(&mut process, "tools/call").await;
        client.session.close();
        settle().await;
        process_side.heard(&process);
        process_side.has(&["initialize", "notifications/initialized", "tools/list", "resources/list", "prompts/list"]);
        process_side.has(&["resources/templates/list", "resources/subscribe", "resources/unsubscribe"]);
        process_side.has(&["logging/setLevel", "notifications/cancelled", "a result", "an error"]);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn with_processes_without_sessions() {
    for version in WITH_SESSIONS {
        let (Some(mut client_side), Some(mut process_side)) = (Ledger::of(version), Ledger::of(MODERN)) else { return };
        let plan = Plan { era: Some(Era::Modern), ..calm(ProcessModel::Shared) };
        let scene = Scene::with(plan, |_| Profile::modern(everything()));
        let client = scene.introduce("ann", version, able()).await;
        client_side.result("InitializeResult", &client.introduction);
        let mut process = scene.process().await;
        let first = attend(&mut process, "subscriptions/listen").await;
        for (id, method, params) in [
            (1, "resources/subscribe", json!({ "uri": "test://a" })),
            (2, "logging/setLevel", json!({ "level": "warning" })),
            (3, "ping", json!({})),
        ] {
            client_side.result("EmptyResult", &client.request(id, method, params).response().await);
        }
        let listen = attend(&mut process, "subscriptions/listen").await;
        assert_ne!(first["id"], listen["id"]);
        let stream = client.request(4, "tools/list", json!({}));
        let request = attend(&mut process, "tools/list").await;
        process.answer(&request, complete(tools(&["echo"]))).await;
        client_side.result("ListToolsResult", &stream.response().await);
        let about = json!({ meta::SUBSCRIPTION_ID: listen["id"] });
        process.notify("notifications/resources/updated", json!({ "_meta": about, "uri": "test://a" })).await;
        client_side.told("notifications/resources/updated", &client.unsolicited.notification().await);
        for list in ["tools", "prompts", "resources"] {
            let method = format!("notifications/{list}/list_changed");
            process.notify(&method, json!({ "_meta": about })).await;
            client_side.told(&method, &client.unsolicited.notification().await);
        }
        // What it asks for is asked, and brought.
        let stream = client.call(5, "echo");
        let call = attend(&mut process, "tools/call").await;
        let asked = json!({ "where": { "method": "roots/list" } });
        let question = json!({ "resultType": "input_required", "inputRequests": asked, "requestState": "s" });
        process.answer(&call, question).await;
        let question = stream.request().await;
        client_side.asked("roots/list", &question);
        let roots = json!({ "roots": [{ "uri": "file:///a" }] });
        client.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots }).to_string());
        let call = attend(&mut process, "tools/call").await;
        assert_eq!(call["params"]["inputResponses"]["where"], roots);
        let done = json!({ "resultType": "complete", "content": [{ "type": "text", "text": "done" }] });
        process.answer(&call, done).await;
        client_side.result("CallToolResult", &stream.response().await);
        // One that is called off, and one that dies with the process.
        let _stream = client.call(6, "echo");
        attend(&mut process, "tools/call").await;
        client.notify("notifications/cancelled", json!({ "requestId": 6 }));
        let stream = client.call(7, "echo");
        attend(&mut process, "tools/call").await;
        process_side.heard(&process);
        process.die().await;
        client_side.error(-31001, &stream.response().await);
        let mut process = scene.process().await;
        attend(&mut process, "subscriptions/listen").await;
        process_side.heard(&process);
        process_side.has(&["server/discover", "subscriptions/listen", "tools/list", "prompts/list", "tools/call"]);
        process_side.has(&["resources/list", "resources/templates/list", "notifications/cancelled"]);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn results_that_are_kept() {
    for version in ["2025-06-18", "2025-11-25"] {
        let Some(mut client_side) = Ledger::of(version) else { return };
        let limits = Limits { result_bytes: 1000, ..Limits::default() };
        let scene = Scene::new(Plan { limits, ..calm(ProcessModel::Shared) });
        let client = scene.introduce("ann", version, able()).await;
        let mut process = scene.process().await;
        let stream = client.call(1, "echo");
        let call = attend(&mut process, "tools/call").await;
        process.answer(&call, json!({ "content": [{ "type": "text", "text": "x".repeat(2000) }] })).await;
        let kept = stream.response().await;
        client_side.result("CallToolResult", &kept);
        let uri = &kept["result"]["content"][1]["uri"];
        let read = client.request(2, "resources/read", json!({ "uri": uri })).response().await;
        client_side.result("ReadResourceResult", &read);
        let wrong = client.request(3, "resources/read", json!({ "uri": "kennel://results/99" })).response().await;
        client_side.error(-32002, &wrong);
        scene.end().await;
    }
}
