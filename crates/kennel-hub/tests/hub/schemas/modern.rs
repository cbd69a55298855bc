//! Clients without sessions, with processes of both eras.

use super::ledger::{Ledger, MODERN, attend, everything};
use crate::callers::{answer, ask, request, with};
use crate::support::{Plan, Profile, Scene, calm, settle};
use kennel_hub::{Caller, Limits, Mailbox, Principal, ProcessModel};
use kennel_wire::meta;
use serde_json::{Value, json};

fn caller() -> Caller {
    Caller::new(Principal::new("ann"))
}

fn able() -> Value {
    json!({ "elicitation": {}, "roots": {} })
}

/// The answer to a request that the process need not know of.
async fn answered(scene: &Scene, id: u32, method: &str, further: &Value) -> Value {
    let (asked, mailbox) = ask(scene, &caller(), with(request(id, method, &able()), further));
    let answer = answer(&mailbox).await;
    asked.answered();
    answer
}

/// What a client that listens wants to hear of.
fn all() -> Value {
    json!({ "notifications": {
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["test://a"],
    } })
}

async fn told(ledger: &mut Ledger, stream: &Mailbox, method: &str) {
    let message = answer(stream).await;
    assert!(message["params"]["_meta"].get(meta::SUBSCRIPTION_ID).is_some(), "{message}");
    ledger.told(method, &message);
}

/// Refusals that need no process.
async fn refusals(scene: &Scene, client_side: &mut Ledger) {
    client_side.error(-32601, &answered(scene, 70, "ping", &json!({})).await);
    client_side.error(-32602, &answered(scene, 71, "subscriptions/listen", &json!({})).await);
    let (_, mailbox) = ask(scene, &caller(), request(72, "tools/list", &json!(null)));
    client_side.error(-32602, &answer(&mailbox).await);
}

#[tokio::test(start_paused = true)]
async fn with_processes_with_sessions() {
    let (Some(mut client_side), Some(mut process_side)) = (Ledger::of(MODERN), Ledger::of("2025-11-25")) else {
        return;
    };
    // The era is not known: the first process shows it.
    let plan = Plan { era: None, ..calm(ProcessModel::PerSession) };
    let scene = Scene::with(plan, |_| Profile { capabilities: everything(), ..Profile::default() });
    client_side.result("DiscoverResult", &answered(&scene, 1, "server/discover", &json!({})).await);
    let probed = scene.process().await;
    let mut probing = Ledger::of(MODERN).expect("it was there before");
    probing.heard(&probed);
    probing.has(&["server/discover"]);
    let mut process = scene.process().await;
    refusals(&scene, &mut client_side).await;
    // A stream that hears everything.
    let (listening, stream) = ask(&scene, &caller(), with(request(3, "subscriptions/listen", &able()), &all()));
    told(&mut client_side, &stream, "notifications/subscriptions/acknowledged").await;
    let subscribe = attend(&mut process, "resources/subscribe").await;
    process.answer(&subscribe, json!({})).await;
    for (method, params) in [
        ("notifications/resources/updated", json!({ "uri": "test://a" })),
        ("notifications/tools/list_changed", json!({})),
        ("notifications/prompts/list_changed", json!({})),
        ("notifications/resources/list_changed", json!({})),
    ] {
        process.notify(method, params).await;
        told(&mut client_side, &stream, method).await;
    }
    for (definition, method, further, result) in [
        ("GetPromptResult", "prompts/get", json!({}), json!({ "messages": [] })),
        ("ReadResourceResult", "resources/read", json!({ "uri": "test://a" }), json!({ "contents": [] })),
        (
            "CompleteResult",
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } }),
            json!({ "completion": { "values": [] } }),
        ),
        ("ListToolsResult", "tools/list", json!({ "cursor": "next" }), json!({ "tools": [] })),
        ("ListPromptsResult", "prompts/list", json!({ "cursor": "next" }), json!({ "prompts": [] })),
        ("ListResourcesResult", "resources/list", json!({ "cursor": "next" }), json!({ "resources": [] })),
        (
            "ListResourceTemplatesResult",
            "resources/templates/list",
            json!({ "cursor": "next" }),
            json!({ "resourceTemplates": [] }),
        ),
    ] {
        let (asked, mailbox) = ask(&scene, &caller(), with(request(4, method, &able()), &further));
        loop {
            // Kennel asks for the first pages by itself.
            let message = attend(&mut process, method).await;
            process.answer(&message, result.clone()).await;
            if further.get("cursor").is_none() || message["params"]["cursor"] == further["cursor"] {
                break;
            }
        }
        client_side.result(definition, &answer(&mailbox).await);
        asked.answered();
    }
    rounds(&scene, &mut process, &mut client_side).await;
    // It listens no longer.
    drop(listening);
    attend(&mut process, "resources/unsubscribe").await;
    let (listening, stream) = ask(&scene, &caller(), with(request(9, "subscriptions/listen", &able()), &all()));
    told(&mut client_side, &stream, "notifications/subscriptions/acknowledged").await;
    settle().await;
    process_side.heard(&process);
    process_side.has(&["initialize", "notifications/initialized", "tools/list", "resources/list", "prompts/list"]);
    process_side.has(&["resources/templates/list", "resources/subscribe", "resources/unsubscribe", "tools/call"]);
    process_side.has(&["logging/setLevel", "notifications/cancelled", "a result", "an error"]);
    scene.end().await;
    client_side.result("SubscriptionsListenResult", &answer(&stream).await);
    listening.answered();
}

/// A call that asks back, one that asks what it must not, one that is called off and one that dies.
async fn rounds(scene: &Scene, process: &mut crate::support::Process, client_side: &mut Ledger) {
    let log_level = json!({ "_meta": { meta::LOG_LEVEL: "info" } });
    let (asked, mailbox) = ask(scene, &caller(), with(request(5, "tools/call", &able()), &log_level));
    let call = attend(process, "tools/call").await;
    process.ask(json!(1), "sampling/createMessage", json!({})).await;
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    process.ask(json!("q"), "elicitation/create", json!({ "message": "name?", "requestedSchema": form })).await;
    let question = answer(&mailbox).await;
    asked.answered();
    client_side.result("InputRequiredResult", &question);
    let state = &question["result"]["requestState"];
    let wrong = json!({ "requestState": format!("x{}", state.as_str().unwrap()), "inputResponses": {} });
    client_side.error(-32602, &answered(scene, 6, "tools/call", &wrong).await);
    let answers = json!({ "q": { "action": "accept", "content": { "name": "Ada" } } });
    let further = json!({ "requestState": state, "inputResponses": answers });
    let (asked, mailbox) = ask(scene, &caller(), with(request(7, "tools/call", &able()), &further));
    process.line().await.expect("the answer");
    process.answer(&call, json!({ "content": [{ "type": "text", "text": "done" }] })).await;
    client_side.result("CallToolResult", &answer(&mailbox).await);
    asked.answered();
    let (asked, _mailbox) = ask(scene, &caller(), request(8, "tools/call", &able()));
    attend(process, "tools/call").await;
    drop(asked);
    attend(process, "notifications/cancelled").await;
}

#[tokio::test(start_paused = true)]
async fn with_processes_without_sessions() {
    let (Some(mut client_side), Some(mut process_side)) = (Ledger::of(MODERN), Ledger::of(MODERN)) else { return };
    let limits = Limits { result_bytes: 1000, ..Limits::default() };
    let plan = Plan { era: None, limits, ..calm(ProcessModel::PerSession) };
    let scene = Scene::with(plan, |_| Profile::modern(everything()));
    client_side.result("DiscoverResult", &answered(&scene, 1, "server/discover", &json!({})).await);
    let mut process = scene.process().await;
    refusals(&scene, &mut client_side).await;
    // Kennel's own stream, and that of the client.
    attend(&mut process, "subscriptions/listen").await;
    let (listening, stream) = ask(&scene, &caller(), with(request(3, "subscriptions/listen", &able()), &all()));
    let listen = attend(&mut process, "subscriptions/listen").await;
    let about = json!({ meta::SUBSCRIPTION_ID: listen["id"] });
    let mut acknowledged = all();
    acknowledged["_meta"] = about.clone();
    process.notify("notifications/subscriptions/acknowledged", acknowledged).await;
    told(&mut client_side, &stream, "notifications/subscriptions/acknowledged").await;
    process.notify("notifications/tools/list_changed", json!({ "_meta": about })).await;
    told(&mut client_side, &stream, "notifications/tools/list_changed").await;
    // A result that is kept, a call that is called off, and one that dies with the process.
    let (asked, mailbox) = ask(&scene, &caller(), request(4, "tools/call", &able()));
    let call = attend(&mut process, "tools/call").await;
    let content = json!([{ "type": "text", "text": "x".repeat(2000) }]);
    process.answer(&call, json!({ "resultType": "complete", "content": content })).await;
    let kept = answer(&mailbox).await;
    asked.answered();
    client_side.result("CallToolResult", &kept);
    let uri = json!({ "uri": kept["result"]["content"][1]["uri"] });
    client_side.result("ReadResourceResult", &answered(&scene, 5, "resources/read", &uri).await);
    let uri = json!({ "uri": "kennel://results/99" });
    client_side.error(-32602, &answered(&scene, 5, "resources/read", &uri).await);
    let (asked, _mailbox) = ask(&scene, &caller(), request(6, "tools/call", &able()));
    attend(&mut process, "tools/call").await;
    drop(asked);
    attend(&mut process, "notifications/cancelled").await;
    let (asked, mailbox) = ask(&scene, &caller(), request(7, "tools/call", &able()));
    attend(&mut process, "tools/call").await;
    process_side.heard(&process);
    process.die().await;
    client_side.error(-31001, &answer(&mailbox).await);
    asked.answered();
    // The stream goes on with the next process, and ends with the hub.
    let mut process = scene.process().await;
    attend(&mut process, "subscriptions/listen").await;
    attend(&mut process, "subscriptions/listen").await;
    process_side.heard(&process);
    process_side.has(&["server/discover", "subscriptions/listen", "tools/list", "notifications/cancelled"]);
    process_side.has(&["resources/list", "resources/templates/list", "prompts/list", "tools/call"]);
    scene.end().await;
    client_side.result("SubscriptionsListenResult", &answer(&stream).await);
    listening.answered();
}
