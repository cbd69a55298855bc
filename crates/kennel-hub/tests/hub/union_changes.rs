//! Many servers as one: lists that change, and servers that come, go and are replaced.

use crate::callers::{answer, request, with};
use crate::support::{Guest, Process, Profile, Scene, Stream, calm, settle, tools};
use crate::union_support::{House, hear_out, list, member, scene_of, tool_names, with_tools};
use kennel_hub::{Asked, Caller, Principal, ProcessModel, Union, UnionSettings};
use kennel_wire::meta;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

const CHANGED: &str = "notifications/tools/list_changed";

/// A stream of somebody without a session that wants to hear of tools.
async fn listening(house: &House) -> (Asked, Stream) {
    let listen =
        with(request(7, "subscriptions/listen", &json!({})), &json!({ "notifications": { "toolsListChanged": true } }));
    let (asked, mailbox) = house.ask(&Caller::new(Principal::new("ann")), listen);
    assert_eq!(answer(&mailbox).await["method"], "notifications/subscriptions/acknowledged");
    (asked, Stream::attached(mailbox))
}

async fn hears_once(stream: &Stream) -> Value {
    let told = stream.notification().await;
    assert_eq!(told["method"], CHANGED);
    sleep(Duration::from_secs(1)).await;
    stream.is_quiet().await;
    told
}

/// Has a client call a tool of `a` and returns the process that has answered.
async fn used(house: &House, client: &Guest) -> Process {
    let stream = client.call(1, "a__x");
    let (process, request) = house.scene("a").process_that_hears("tools/call").await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    process
}

#[tokio::test(start_paused = true)]
async fn a_list_that_has_changed_is_told_once_to_everybody_when_it_is_there() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession, ProcessModel::PerUser] {
        let house = House::pair(model);
        let (client, other) = (house.client().await, house.client().await);
        tool_names(&client).await;
        let mut process = used(&house, &client).await;
        let (_asked, stream) = listening(&house).await;
        hear_out(&client).await;
        hear_out(&other).await;
        while stream.mailbox.try_next().is_some() {}
        process.notify(CHANGED, json!({})).await;
        process.notify(CHANGED, json!({})).await;
        let request = process.expect("tools/list").await;
        process.hears_nothing().await;
        // Until the new list is there, the old one is, and nobody is told.
        sleep(Duration::from_secs(10)).await;
        assert_eq!(tool_names(&other).await, ["a__x", "b__y"], "{model:?}");
        client.unsolicited.is_quiet().await;
        other.unsolicited.is_quiet().await;
        process.answer(&request, tools(&["x", "z"])).await;
        // It had changed once more while it was asked for.
        let request = process.expect("tools/list").await;
        process.answer(&request, tools(&["x", "z"])).await;
        hears_once(&client.unsolicited).await;
        hears_once(&other.unsolicited).await;
        assert_eq!(hears_once(&stream).await["params"]["_meta"][meta::SUBSCRIPTION_ID], 7);
        assert_eq!(tool_names(&client).await, ["a__x", "a__z", "b__y"], "{model:?}");
        assert_eq!(tool_names(&other).await, ["a__x", "a__z", "b__y"], "{model:?}");
        house.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn changes_of_several_servers_are_told_together() {
    let scene = || scene_of(ProcessModel::Shared, Profile { held: true, ..Profile::default() });
    let house = House::new(vec![("a", scene()), ("b", scene()), ("c", scene())]);
    let client = house.client().await;
    assert_eq!(list(&client, "tools/list").await, json!({ "tools": [] }));
    for name in ["a", "b", "c"] {
        house.process(name).await.open().await;
        settle().await;
    }
    hears_once(&client.unsolicited).await;
    assert_eq!(tool_names(&client).await, ["a__echo", "b__echo", "c__echo"]);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn who_is_offered_something_else_than_others_hears_of_it() {
    // The first process is the one that is tried out; those of clients may have more.
    for more in [&["x", "more"][..], &["x"]] {
        let profile = move |number| with_tools(if number == 1 { &["x"] } else { more });
        let scene = Scene::with(calm(ProcessModel::PerSession), profile);
        let house = House::new(vec![("a", scene)]);
        let client = house.guest(json!({ "sampling": {} })).await;
        assert_eq!(tool_names(&client).await, ["a__x"]);
        hear_out(&client).await;
        let _process = used(&house, &client).await;
        if more.len() > 1 {
            hears_once(&client.unsolicited).await;
            assert_eq!(tool_names(&client).await, ["a__x", "a__more"]);
        } else {
            sleep(Duration::from_secs(1)).await;
            client.unsolicited.is_quiet().await;
        }
        house.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn servers_come_and_go() {
    let (a, b) = (House::pair(ProcessModel::Shared), scene_of(ProcessModel::Shared, with_tools(&["new"])));
    let union = Union::new(UnionSettings::default(), Vec::new());
    let house = House::of(union, vec![("c", b)]);
    let client = house.client().await;
    let (_asked, stream) = listening(&house).await;
    assert_eq!(list(&client, "tools/list").await, json!({ "tools": [] }));
    // The first.
    house.union.replace(vec![member("a", a.scene("a"))]);
    let told = client.unsolicited.notification().await;
    assert!(told["method"].as_str().unwrap().ends_with("/list_changed"), "{told}");
    hear_out(&client).await;
    assert_eq!(stream.notification().await["method"], CHANGED);
    assert_eq!(tool_names(&client).await, ["a__x"]);
    hear_out(&client).await;
    // Another in its place.
    house.union.replace(vec![member("c", house.scene("c"))]);
    client.unsolicited.notification().await;
    assert_eq!(tool_names(&client).await, ["c__new"]);
    client.call(1, "a__x").error(-32602).await;
    hear_out(&client).await;
    // None.
    house.union.replace(Vec::new());
    client.unsolicited.notification().await;
    assert_eq!(list(&client, "tools/list").await, json!({ "tools": [] }));
    house.end().await;
    a.end().await;
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_finish_with_the_server_that_was_replaced() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession] {
        let house = House::pair(model);
        let client = house.guest(json!({ "elicitation": {} })).await;
        tool_names(&client).await;
        let stream = client.call(1, "a__x");
        let (mut old, request) = house.scene("a").process_that_hears("tools/call").await;
        let replacement = scene_of(model, with_tools(&["x", "more"]));
        house.union.replace(vec![member("a", &replacement), member("b", house.scene("b"))]);
        // What is new goes to the new one.
        let second = client.call(2, "a__x");
        let (mut new, of_new) = replacement.process_that_hears("tools/call").await;
        // The old one still asks, is answered, tells, and answers.
        old.ask(json!(0), "elicitation/create", json!({})).await;
        let asked = stream.request().await;
        client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept" } }).to_string());
        assert!(old.line().await.unwrap().contains("accept"));
        new.hears_nothing().await;
        old.answer(&request, json!({ "from": "old" })).await;
        assert_eq!(stream.response().await["result"]["from"], "old");
        new.answer(&of_new, json!({ "from": "new" })).await;
        assert_eq!(second.response().await["result"]["from"], "new");
        hear_out(&client).await;
        assert_eq!(tool_names(&client).await, ["a__x", "a__more", "b__y"]);
        // The next call finds nothing open with the old one, and leaves it.
        let third = client.call(3, "a__x");
        let request = new.hears("tools/call").await;
        new.answer(&request, json!({})).await;
        third.response().await;
        settle().await;
        let sessions = house.scene("a").hub.status().sessions;
        assert_eq!(sessions, 0, "{model:?}");
        if model == ProcessModel::PerSession {
            old.ended().await;
        }
        house.end().await;
        replacement.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_cancelled_after_its_server_was_replaced() {
    let house = House::pair(ProcessModel::Shared);
    let client = house.client().await;
    let stream = client.call(1, "a__x");
    let (mut old, _) = house.scene("a").process_that_hears("tools/call").await;
    let replacement = scene_of(ProcessModel::Shared, Profile::default());
    house.union.replace(vec![member("a", &replacement)]);
    let _second = client.call(2, "a__echo");
    let (mut new, _) = replacement.process_that_hears("tools/call").await;
    client.notify("notifications/cancelled", json!({ "requestId": 1 }));
    old.expect("notifications/cancelled").await;
    assert_eq!(stream.outgoing().await.kind, kennel_hub::OutgoingKind::Withdrawn);
    new.hears_nothing().await;
    client.session.close();
    new.expect("notifications/cancelled").await;
    house.end().await;
    replacement.end().await;
}
