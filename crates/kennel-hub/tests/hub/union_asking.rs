//! Many servers as one: what they ask the client, what they log, and who hears it.

use crate::support::{Guest, Process, settle};
use crate::union_support::{House, hear_out, tool_names};
use kennel_hub::ProcessModel;
use serde_json::{Value, json};

fn able() -> Value {
    json!({ "sampling": {}, "elicitation": {}, "roots": {} })
}

async fn heard(process: &mut Process) -> Value {
    serde_json::from_str(&process.line().await.expect("a line")).expect("a message")
}

/// Calls the tool of each of the two servers.
async fn at_work(house: &House, client: &Guest) -> [(Process, Value, crate::support::Stream); 2] {
    let streams = [client.call(1, "a__x"), client.call(2, "b__y")];
    let (mut a, mut b) = (house.process("a").await, house.process("b").await);
    let calls = [a.hears("tools/call").await, b.hears("tools/call").await];
    let [of_a, of_b] = calls;
    let [first, second] = streams;
    [(a, of_a, first), (b, of_b, second)]
}

#[tokio::test(start_paused = true)]
async fn answers_reach_the_server_that_asked() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession, ProcessModel::PerCall] {
        let house = House::pair(model);
        let client = house.guest(able()).await;
        let [(mut a, _, to_a), (mut b, _, to_b)] = if model == ProcessModel::PerCall {
            // Each call has a process beside that of the session.
            let streams = [client.call(1, "a__x"), client.call(2, "b__y")];
            let a = house.scene("a").process_that_hears("tools/call").await;
            let b = house.scene("b").process_that_hears("tools/call").await;
            let [first, second] = streams;
            [(a.0, a.1, first), (b.0, b.1, second)]
        } else {
            at_work(&house, &client).await
        };
        // Both under the same id, and one of them under the token of the other.
        let meta = json!({ "_meta": { "progressToken": "t" } });
        a.ask(json!(1), "sampling/createMessage", meta.clone()).await;
        b.ask(json!(1), "elicitation/create", meta).await;
        let (of_a, of_b) = (to_a.request().await, to_b.request().await);
        assert_eq!(
            (&of_a["method"], &of_b["method"]),
            (&json!("sampling/createMessage"), &json!("elicitation/create"))
        );
        assert_ne!(of_a["id"], of_b["id"]);
        client.notify("notifications/progress", json!({ "progressToken": of_b["id"], "progress": 1 }));
        assert_eq!(b.expect("notifications/progress").await["params"]["progressToken"], "t");
        for (asked, process, other, text) in [(&of_b, 1, 0, "for b"), (&of_a, 0, 1, "for a")] {
            let processes = [&mut a, &mut b];
            client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": text }).to_string());
            let answer = heard(processes[process]).await;
            assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 1, "result": text }));
            processes[other].hears_nothing().await;
        }
        // A refusal is an answer, too.
        a.ask(json!("again"), "elicitation/create", json!({})).await;
        let asked = to_a.request().await;
        let error = json!({ "code": -1, "message": "no" });
        client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }).to_string());
        assert_eq!(heard(&mut a).await["error"], error);
        b.hears_nothing().await;
        house.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_no_longer_wants_an_answer_says_so() {
    let house = House::pair(ProcessModel::PerSession);
    let client = house.guest(able()).await;
    let [(mut a, _, to_a), (mut b, _, to_b)] = at_work(&house, &client).await;
    a.ask(json!("q"), "roots/list", json!({})).await;
    b.ask(json!("q"), "roots/list", json!({})).await;
    let (of_a, of_b) = (to_a.request().await, to_b.request().await);
    a.notify("notifications/cancelled", json!({ "requestId": "q", "reason": "enough" })).await;
    let cancelled = to_a.notification().await;
    assert_eq!(cancelled["params"], json!({ "requestId": of_a["id"], "reason": "enough" }));
    to_b.is_quiet().await;
    client.tell(&json!({ "jsonrpc": "2.0", "id": of_a["id"], "result": {} }).to_string());
    a.hears_nothing().await;
    client.tell(&json!({ "jsonrpc": "2.0", "id": of_b["id"], "result": {} }).to_string());
    assert_eq!(heard(&mut b).await, json!({ "jsonrpc": "2.0", "id": "q", "result": {} }));
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn servers_are_introduced_to_the_client_and_hear_of_its_roots() {
    let house = House::pair(ProcessModel::PerSession);
    let client = house.guest(able()).await;
    let [(mut a, _, to_a), (mut b, ..)] = at_work(&house, &client).await;
    assert_eq!(a.introduction().await["capabilities"], able());
    assert_eq!(b.introduction().await["clientInfo"]["name"], "test");
    a.ask(json!(0), "roots/list", json!({})).await;
    let asked = to_a.request().await;
    assert_eq!(asked["method"], "roots/list");
    let roots = json!({ "roots": [{ "uri": "file:///home" }] });
    client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots }).to_string());
    assert_eq!(heard(&mut a).await, json!({ "jsonrpc": "2.0", "id": 0, "result": roots }));
    client.notify("notifications/roots/list_changed", json!({}));
    a.expect("notifications/roots/list_changed").await;
    b.expect("notifications/roots/list_changed").await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_level_of_logs_holds_for_servers_before_and_after_they_are_used() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared] {
        let house = House::pair(model);
        let client = house.client().await;
        tool_names(&client).await;
        let set = async |level: &str| {
            let response = client.request(9, "logging/setLevel", json!({ "level": level })).response().await;
            assert_eq!(response, json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
        };
        // Before any server is used by the session.
        set("error").await;
        let streams = [client.call(1, "a__x")];
        let (mut a, told) = house.scene("a").process_that_hears("logging/setLevel").await;
        assert_eq!(told["params"], json!({ "level": "error" }));
        a.answer(&told, json!({})).await;
        let request = a.hears("tools/call").await;
        a.answer(&request, json!({})).await;
        streams[0].response().await;
        // Afterwards.
        set("info").await;
        let told = a.expect("logging/setLevel").await;
        assert_eq!(told["params"], json!({ "level": "info" }));
        a.answer(&told, json!({})).await;
        settle().await;
        // And one that is used only then.
        let stream = client.call(2, "b__y");
        let (mut b, told) = house.scene("b").process_that_hears("logging/setLevel").await;
        assert_eq!(told["params"], json!({ "level": "info" }));
        b.answer(&told, json!({})).await;
        let request = b.hears("tools/call").await;
        b.answer(&request, json!({})).await;
        stream.response().await;
        hear_out(&client).await;
        for (process, text) in [(&a, "of a"), (&b, "of b")] {
            process.notify("notifications/message", json!({ "level": "info", "data": text, "n": 1.50 })).await;
            let logged = client.unsolicited.notification().await;
            assert_eq!(logged["params"], json!({ "level": "info", "data": text, "n": 1.50 }));
        }
        client.unsolicited.is_quiet().await;
        house.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_level_that_there_is_not_is_refused() {
    let house = House::pair(ProcessModel::Shared);
    let client = house.client().await;
    for level in [json!("loud"), json!(3), json!(null)] {
        let refused = client.request(1, "logging/setLevel", json!({ "level": level })).error(-32602).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("params.level"), "{refused}");
    }
    house.end().await;
}
