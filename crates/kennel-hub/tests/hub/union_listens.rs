//! Many servers as one: streams on which clients without sessions hear what changes.

use crate::callers::{answer, request, with};
use crate::support::{Profile, settle, tools};
use crate::union_support::{House, member, rich, scene_of};
use kennel_hub::{Asked, Caller, Mailbox, OutgoingKind, Principal, ProcessModel};
use kennel_wire::{Era, meta};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

fn listen(house: &House, id: u32, filter: &Value) -> (Asked, Arc<Mailbox>) {
    let listen = with(request(id, "subscriptions/listen", &json!({})), &json!({ "notifications": filter }));
    house.ask(&Caller::new(Principal::new("ann")), listen)
}

fn about(message: &Value) -> &Value {
    &message["params"]["_meta"][meta::SUBSCRIPTION_ID]
}

async fn is_quiet(mailbox: &Mailbox) {
    settle().await;
    assert!(mailbox.try_next().is_none(), "something was told");
}

/// Servers that are known, and those who listen have heard so.
async fn known() -> House {
    let house = House::rich_pair();
    crate::union_support::tool_names(&house.client().await).await;
    sleep(Duration::from_secs(1)).await;
    house
}

#[tokio::test(start_paused = true)]
async fn a_stream_hears_of_lists_without_starting_anything() {
    let house = House::pair(ProcessModel::PerSession);
    let (_all, all) = listen(&house, 7, &json!({ "toolsListChanged": true, "promptsListChanged": true, "x": 1 }));
    let (_none, none) = listen(&house, 8, &json!({ "resourcesListChanged": true }));
    let acknowledged = answer(&all).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(about(&acknowledged), 7);
    let honoured = json!({ "toolsListChanged": true, "promptsListChanged": true });
    assert_eq!(acknowledged["params"]["notifications"], honoured);
    assert_eq!(answer(&none).await["params"]["notifications"], json!({ "resourcesListChanged": true }));
    house.starts_nothing().await;
    house.union.replace(vec![member("a", house.scene("a"))]);
    let told = [answer(&all).await, answer(&all).await];
    for (told, method) in told.iter().zip(["notifications/prompts/list_changed", "notifications/tools/list_changed"]) {
        assert_eq!((&told["method"], about(told)), (&json!(method), &json!(7)));
    }
    let told = answer(&none).await;
    assert_eq!((&told["method"], about(&told)), (&json!("notifications/resources/list_changed"), &json!(8)));
    is_quiet(&all).await;
    is_quiet(&none).await;
    house.starts_nothing().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn resources_are_listened_to_at_their_servers() {
    let house = known().await;
    let (mut a, mut b) = (house.process("a").await, house.process("b").await);
    let wanted = json!(["kennel://a/db://1/row", "kennel://b/file:///x", "file:///x", "kennel://c/x"]);
    let (stream, mailbox) = listen(&house, 7, &json!({ "resourceSubscriptions": wanted, "taskIds": ["t"] }));
    let acknowledged = answer(&mailbox).await;
    assert_eq!(about(&acknowledged), 7);
    let honoured = json!({ "resourceSubscriptions": ["kennel://a/db://1/row", "kennel://b/file:///x"] });
    assert_eq!(acknowledged["params"]["notifications"], honoured, "what there is not is not promised");
    for (process, own) in [(&mut a, "db://1/row"), (&mut b, "file:///x")] {
        let request = process.expect("resources/subscribe").await;
        assert_eq!(request["params"], json!({ "uri": own }));
        process.answer(&request, json!({})).await;
    }
    is_quiet(&mailbox).await;
    for (process, own, joined) in
        [(&b, "file:///x", "kennel://b/file:///x"), (&a, "db://1/row", "kennel://a/db://1/row")]
    {
        process.notify("notifications/resources/updated", json!({ "uri": own, "n": 1.50 })).await;
        let updated = answer(&mailbox).await;
        assert_eq!(updated["method"], "notifications/resources/updated");
        assert_eq!((&updated["params"]["uri"], about(&updated)), (&json!(joined), &json!(7)));
        assert_eq!(updated["params"]["n"], 1.50);
    }
    // Neither another resource nor a list is its affair.
    a.notify("notifications/resources/updated", json!({ "uri": "file:///x" })).await;
    a.notify("notifications/tools/list_changed", json!({})).await;
    let request = a.expect("tools/list").await;
    a.answer(&request, tools(&["x", "z"])).await;
    sleep(Duration::from_secs(1)).await;
    is_quiet(&mailbox).await;
    // Who closes the stream is told nothing more, and the servers hear of it.
    drop(stream);
    assert_eq!(a.expect("resources/unsubscribe").await["params"], json!({ "uri": "db://1/row" }));
    assert_eq!(b.expect("resources/unsubscribe").await["params"], json!({ "uri": "file:///x" }));
    b.notify("notifications/resources/updated", json!({ "uri": "file:///x" })).await;
    is_quiet(&mailbox).await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_listened_to_directly() {
    let capabilities = json!({ "tools": {}, "resources": { "subscribe": true } });
    let profile = Profile { era: Era::Modern, capabilities, ..rich("x") };
    let plan = crate::support::Plan { era: Some(Era::Modern), ..crate::support::calm(ProcessModel::PerSession) };
    let house = House::new(vec![("a", crate::union_support::scene_as(plan, profile))]);
    let (stream, mailbox) = listen(&house, 7, &json!({ "resourceSubscriptions": ["kennel://a/file:///x"] }));
    assert_eq!(about(&answer(&mailbox).await), 7);
    let mut process = house.process("a").await;
    process.hears("subscriptions/listen").await;
    let forwarded = process.hears("subscriptions/listen").await;
    assert_eq!(forwarded["params"]["notifications"], json!({ "resourceSubscriptions": ["file:///x"] }));
    let meta = json!({ meta::SUBSCRIPTION_ID: forwarded["id"] });
    let honoured = json!({ "_meta": meta, "notifications": { "resourceSubscriptions": ["file:///x"] } });
    process.notify("notifications/subscriptions/acknowledged", honoured).await;
    is_quiet(&mailbox).await;
    process.notify("notifications/resources/updated", json!({ "uri": "file:///x", "_meta": meta })).await;
    let updated = answer(&mailbox).await;
    assert_eq!((&updated["params"]["uri"], about(&updated)), (&json!("kennel://a/file:///x"), &json!(7)));
    drop(stream);
    assert_eq!(process.hears("notifications/cancelled").await["params"]["requestId"], forwarded["id"]);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn streams_end_in_order_and_once() {
    let house = known().await;
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["kennel://a/file:///x"] });
    let (stream, mailbox) = listen(&house, 7, &filter);
    answer(&mailbox).await;
    house.endpoint.end_streams();
    for name in ["a", "b"] {
        kennel_hub::Endpoint::Server(house.scene(name).hub.clone()).end_streams();
    }
    let last = mailbox.next().await.expect("an end");
    assert_eq!(last.kind, OutgoingKind::Response);
    let end: Value = serde_json::from_slice(&last.message).unwrap();
    let result = json!({ "resultType": "complete", "_meta": { meta::SUBSCRIPTION_ID: 7 } });
    assert_eq!(end, json!({ "jsonrpc": "2.0", "id": 7, "result": result }));
    house.union.replace(Vec::new());
    house.endpoint.end_streams();
    sleep(Duration::from_secs(1)).await;
    is_quiet(&mailbox).await;
    stream.answered();
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_opens_no_stream() {
    let house = House::new(vec![("a", scene_of(ProcessModel::PerSession, rich("x")))]);
    for filter in [json!(null), json!([]), json!({ "toolsListChanged": 1 }), json!({ "resourceSubscriptions": "a:b" })]
    {
        let (_stream, mailbox) = listen(&house, 1, &filter);
        assert_eq!(answer(&mailbox).await["error"]["code"], -32602, "{filter}");
    }
    house.starts_nothing().await;
    house.end().await;
}
