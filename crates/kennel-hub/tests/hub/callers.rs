//! Those who open no session: what they say about themselves, how long they are remembered, what calls a request off.

use crate::support::{Plan, Scene, calm, parse};
use kennel_hub::{Asked, Caller, Mailbox, MailboxLimits, Principal, ProcessModel, Timeouts};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// A request that stands for itself.
pub(crate) fn request(id: u32, method: &str, capabilities: &Value) -> kennel_wire::Message {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    parse(
        &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "name": "echo", "_meta": meta } })
            .to_string(),
    )
}

/// The request with further parameters; those of `_meta` come to the ones that are there.
#[expect(clippy::needless_pass_by_value, reason = "so that callers can write it where it stands")]
pub(crate) fn with(request: kennel_wire::Message, further: &Value) -> kennel_wire::Message {
    let mut request: Value = serde_json::from_slice(request.bytes()).expect("JSON");
    for (name, value) in further.as_object().expect("parameters") {
        match (name.as_str(), value.as_object()) {
            ("_meta", Some(meta)) => {
                for (name, value) in meta {
                    request["params"]["_meta"][name] = value.clone();
                }
            }
            _ => request["params"][name] = value.clone(),
        }
    }
    parse(&request.to_string())
}

pub(crate) fn ask(scene: &Scene, caller: &Caller, request: kennel_wire::Message) -> (Asked, Arc<Mailbox>) {
    let mailbox = Mailbox::new(MailboxLimits::default());
    (scene.hub.ask(caller, request, &mailbox), mailbox)
}

pub(crate) async fn answer(mailbox: &Mailbox) -> Value {
    serde_json::from_slice(&mailbox.next().await.expect("an answer").message).expect("JSON")
}

#[tokio::test(start_paused = true)]
async fn one_caller_has_one_process_and_others_have_others() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (ann, bob) = (Caller::new(Principal::new("ann")), Caller::new(Principal::new("bob")));
    let asked: Vec<_> =
        [&ann, &ann, &bob].map(|caller| ask(&scene, caller, request(1, "tools/call", &json!({})))).into();
    let mut first = scene.process().await;
    let mut second = scene.process().await;
    assert_ne!(first.expect("tools/call").await["id"], first.expect("tools/call").await["id"]);
    second.expect("tools/call").await;
    // The same principal with other capabilities, and on a connection of its own.
    let with_roots = ask(&scene, &ann, request(1, "tools/call", &json!({ "roots": {} })));
    let connected = ask(&scene, &Caller::connected(Principal::new("ann")), request(1, "tools/call", &json!({})));
    let mut third = scene.process().await;
    assert_eq!(third.introduction().await["capabilities"], json!({ "roots": {} }));
    let fourth = scene.process().await;
    assert_eq!(scene.hub.status().sessions, 4);
    drop((asked, with_roots, connected, fourth));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_waits_for_is_called_off() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let caller = Caller::new(Principal::new("ann"));
    let (gone, _nobody) = ask(&scene, &caller, request(1, "tools/call", &json!({})));
    let (first, kept) = ask(&scene, &caller, request(1, "tools/call", &json!({})));
    let mut process = scene.process().await;
    let (gone_call, kept_call) = (process.expect("tools/call").await, process.expect("tools/call").await);
    drop(gone);
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], gone_call["id"]);
    process.answer(&kept_call, json!({ "content": [] })).await;
    assert_eq!(answer(&kept).await["id"], 1);
    first.answered();
    process.hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn callers_are_forgotten_when_they_no_longer_call() {
    let timeouts = Timeouts { caller: Duration::from_mins(1), ..Timeouts::default() };
    let scene = Scene::new(Plan { timeouts, ..calm(ProcessModel::PerSession) });
    let (asked, mailbox) = ask(&scene, &Caller::new(Principal::new("ann")), request(1, "tools/call", &json!({})));
    let mut process = scene.process().await;
    let call = process.expect("tools/call").await;
    sleep(Duration::from_secs(100)).await;
    assert_eq!(scene.hub.status().sessions, 1, "one that waits for an answer is remembered");
    process.answer(&call, json!({ "content": [] })).await;
    answer(&mailbox).await;
    asked.answered();
    sleep(Duration::from_secs(100)).await;
    assert_eq!(scene.hub.status().sessions, 0);
    process.ended().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_ended_with_the_sessions_is_no_method_any_more() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let (asked, mailbox) = ask(&scene, &Caller::new(Principal::local()), request(7, method, &json!({})));
        let answer = answer(&mailbox).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32601)), "{answer}");
        asked.answered();
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_has_to_say_what_its_sender_can_do() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    for capabilities in [json!(null), json!([])] {
        let (_, mailbox) = ask(&scene, &Caller::new(Principal::local()), request(1, "tools/call", &capabilities));
        assert_eq!(answer(&mailbox).await["error"]["code"], -32602);
    }
    assert_eq!(scene.hub.status().sessions, 0);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_leaves_with_its_connection() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let caller = Caller::connected(Principal::new("ann"));
    let (_asked, mailbox) = ask(&scene, &caller, request(1, "tools/call", &json!({})));
    let mut process = scene.process().await;
    let call = process.expect("tools/call").await;
    scene.hub.leave(&caller);
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], call["id"]);
    assert_eq!(answer(&mailbox).await["error"]["code"], -31002);
    process.ended().await;
    assert_eq!(scene.hub.status().sessions, 0);
    scene.end().await;
}
