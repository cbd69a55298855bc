//! Many servers as one: prompts, resources and completions, with the addresses that clients see and those of the servers.

use crate::support::{Plan, calm, settle};
use crate::union_support::{House, called, hear_out, list, rich, scene_as, tool_names};
use kennel_hub::{Limits, OutgoingKind, ProcessModel};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn all_lists_are_joined() {
    let house = House::rich_pair();
    let client = house.client().await;
    // The first that is asked for anything waits for the whole of it.
    let prompts = list(&client, "prompts/list").await;
    assert_eq!(called(&prompts, "prompts", "name"), ["a__greet", "b__greet"]);
    let resources = list(&client, "resources/list").await;
    assert_eq!(called(&resources, "resources", "uri"), ["kennel://a/file:///x", "kennel://b/file:///x"]);
    assert_eq!(called(&resources, "resources", "name"), ["x", "x"]);
    let templates = list(&client, "resources/templates/list").await;
    assert_eq!(
        called(&templates, "resourceTemplates", "uriTemplate"),
        ["kennel://a/db://{id}/row", "kennel://b/db://{id}/row"]
    );
    assert_eq!(tool_names(&client).await, ["a__x", "b__y"]);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn prompts_and_completions_go_to_their_server() {
    let house = House::rich_pair();
    let client = house.client().await;
    tool_names(&client).await;
    let mut b = house.process("b").await;
    let stream = client.request(1, "prompts/get", json!({ "name": "b__greet", "arguments": { "n": "1" } }));
    let request = b.expect("prompts/get").await;
    assert_eq!(request["params"], json!({ "name": "greet", "arguments": { "n": "1" } }));
    let result = r#"{ "messages":[ {"role":"user","content":{"type":"text","text":"hi"}} ], "n":1.0}"#;
    b.say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"])).await;
    let spelled = stream.spelled(OutgoingKind::Response).await;
    assert_eq!(spelled, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    for (reference, own) in [
        (json!({ "type": "ref/prompt", "name": "b__greet" }), json!({ "type": "ref/prompt", "name": "greet" })),
        (
            json!({ "type": "ref/resource", "uri": "kennel://b/db://{id}/row" }),
            json!({ "type": "ref/resource", "uri": "db://{id}/row" }),
        ),
    ] {
        let argument = json!({ "name": "id", "value": "4" });
        let stream = client.request(2, "completion/complete", json!({ "ref": reference, "argument": argument }));
        let request = b.expect("completion/complete").await;
        assert_eq!(request["params"], json!({ "ref": own, "argument": argument }));
        b.answer(&request, json!({ "completion": { "values": ["42"] } })).await;
        assert_eq!(stream.response().await["result"]["completion"]["values"], json!(["42"]));
    }
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn resources_are_read_under_the_addresses_that_clients_see() {
    let house = House::rich_pair();
    let client = house.client().await;
    tool_names(&client).await;
    let mut a = house.process("a").await;
    for own in ["file:///x", "db://7/row", "x", "a b/ü?#{", "kennel://b/file:///x"] {
        let joined = format!("kennel://a/{own}");
        let stream = client.request(1, "resources/read", json!({ "uri": joined }));
        let request = a.expect("resources/read").await;
        assert_eq!(request["params"], json!({ "uri": own }));
        let contents = json!([{ "uri": own, "text": own, "_meta": { "x": 1 } }, { "uri": "other", "blob": "" }]);
        a.answer(&request, json!({ "contents": contents, "x": 1 })).await;
        let result = stream.response().await["result"].clone();
        assert_eq!(called(&result, "contents", "uri"), [joined.as_str(), "kennel://a/other"]);
        assert_eq!(result["contents"][0]["text"], own, "what it says of itself is its own");
        assert_eq!((&result["contents"][0]["_meta"], &result["x"]), (&json!({ "x": 1 }), &json!(1)));
    }
    // What is refused is refused under the client's address.
    let stream = client.request(1, "resources/read", json!({ "uri": "kennel://a/gone" }));
    let request = a.expect("resources/read").await;
    let error = json!({ "code": -32002, "message": "no", "data": { "uri": "gone", "x": 1 } });
    a.say(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string()).await;
    let refused = stream.error(-32002).await;
    assert_eq!(refused["error"]["data"], json!({ "uri": "kennel://a/gone", "x": 1 }));
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn subscriptions_are_kept_with_their_server() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession] {
        let scene = |tool| scene_as(calm(model), rich(tool));
        let house = House::new(vec![("a", scene("x")), ("b", scene("y"))]);
        let client = house.client().await;
        tool_names(&client).await;
        settle().await;
        let mut processes = Vec::new();
        for server in ["a", "b"] {
            let address = format!("kennel://{server}/file:///x");
            let stream = client.request(1, "resources/subscribe", json!({ "uri": address }));
            let (process, request) = house.scene(server).process_that_hears("resources/subscribe").await;
            assert_eq!(request["params"], json!({ "uri": "file:///x" }));
            process.answer(&request, json!({})).await;
            stream.response().await;
            processes.push(process);
        }
        hear_out(&client).await;
        for (server, process) in ["a", "b"].iter().zip(&processes) {
            process.notify("notifications/resources/updated", json!({ "uri": "file:///x", "n": 1.50 })).await;
            let updated = client.unsolicited.notification().await;
            assert_eq!(updated["method"], "notifications/resources/updated");
            assert_eq!(updated["params"], json!({ "uri": format!("kennel://{server}/file:///x"), "n": 1.50 }));
        }
        let stream = client.request(1, "resources/unsubscribe", json!({ "uri": "kennel://b/file:///x" }));
        let request = processes[1].hears("resources/unsubscribe").await;
        assert_eq!(request["params"], json!({ "uri": "file:///x" }));
        processes[1].answer(&request, json!({})).await;
        stream.response().await;
        processes[0].hears_nothing().await;
        client.unsolicited.is_quiet().await;
        house.end().await;
    }
}

/// Content with addresses in it, and the same as a client sees it.
fn addressed() -> (Value, Value) {
    let content = |link: &str, embedded: &str| {
        json!([
            { "type": "text", "text": "file:///x" },
            { "type": "resource_link", "uri": link, "name": "x", "x": 1.50 },
            { "type": "resource", "resource": { "uri": embedded, "text": "file:///y", "x": 1 }, "annotations": {} },
            { "type": "of tomorrow", "uri": "file:///z" },
            { "type": "resource_link", "name": "none" },
            { "type": "resource", "resource": { "uri": 7 } },
        ])
    };
    (content("file:///x", "file:///y"), content("kennel://a/file:///x", "kennel://a/file:///y"))
}

#[tokio::test(start_paused = true)]
async fn addresses_in_results_can_be_read() {
    let house = House::rich_pair();
    let client = house.client().await;
    tool_names(&client).await;
    let mut a = house.process("a").await;
    let (own, seen) = addressed();
    let stream = client.call(1, "a__x");
    let request = a.expect("tools/call").await;
    a.answer(&request, json!({ "content": own, "structuredContent": { "uri": "file:///x" }, "isError": false })).await;
    let result = stream.response().await["result"].clone();
    assert_eq!(result, json!({ "content": seen, "structuredContent": { "uri": "file:///x" }, "isError": false }));
    let stream = client.request(2, "resources/read", json!({ "uri": result["content"][2]["resource"]["uri"] }));
    assert_eq!(a.expect("resources/read").await["params"]["uri"], "file:///y");
    drop(stream);
    let stream = client.request(3, "prompts/get", json!({ "name": "a__greet" }));
    let request = a.hears("prompts/get").await;
    let messages = |blocks: &Value| -> Vec<Value> {
        blocks.as_array().unwrap().iter().map(|block| json!({ "role": "user", "content": block })).collect()
    };
    a.answer(&request, json!({ "messages": messages(&own), "description": "d" })).await;
    let result = stream.response().await["result"].clone();
    assert_eq!(result, json!({ "messages": messages(&seen), "description": "d" }));
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_too_large_can_be_read_to_its_end() {
    let limits = Limits { result_bytes: 1000, ..Limits::default() };
    let plan = || Plan { limits: limits.clone(), ..calm(ProcessModel::Shared) };
    let scene = |tool| scene_as(plan(), rich(tool));
    let house = House::new(vec![("a", scene("x")), ("b", scene("y"))]);
    let client = house.client().await;
    tool_names(&client).await;
    let mut b = house.process("b").await;
    let stream = client.call(1, "b__y");
    let request = b.expect("tools/call").await;
    let text = "x".repeat(3 << 20);
    b.answer(&request, json!({ "content": [{ "type": "text", "text": text }] })).await;
    let result = stream.response().await["result"].clone();
    let mut next = result["content"][1]["uri"].as_str().map(str::to_owned);
    let mut whole = String::new();
    while let Some(address) = next.take() {
        assert!(address.starts_with("kennel://b/kennel://results/"), "{address}");
        let response = client.request(2, "resources/read", json!({ "uri": address })).response().await;
        let part = &response["result"]["contents"][0];
        assert_eq!(part["uri"], address, "{response}");
        whole += part["text"].as_str().unwrap();
        next = part["_meta"]["kennel/next"].as_str().map(str::to_owned);
    }
    assert!(whole.contains(&text) && whole.len() < text.len() + 100, "{}", whole.len());
    // Links are newer than this client.
    let older = crate::support::introduce(&house.endpoint, "local", "2024-11-05", json!({})).await.expect("a session");
    let stream = older.call(1, "b__y");
    let request = b.hears("tools/call").await;
    b.answer(&request, json!({ "content": [{ "type": "text", "text": text }] })).await;
    let content = stream.response().await["result"]["content"].clone();
    assert_eq!(content.as_array().unwrap().len(), 1, "{content}");
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_address_of_a_server_is_understood_where_only_one_lists_it() {
    let mut c = rich("z");
    c.lists[1].1 =
        json!({ "resources": [{ "uri": "kennel://c/manual", "name": "m" }, { "uri": "file:///x", "name": "x" }] });
    c.lists[2].1 = json!({ "resourceTemplates": [
        { "uriTemplate": "notes://all/{id}", "name": "n" }, { "uriTemplate": "{+any}", "name": "a" },
    ] });
    let scene = |profile| scene_as(calm(ProcessModel::Shared), profile);
    let house = House::new(vec![("a", scene(rich("x"))), ("c", scene(c))]);
    let client = house.client().await;
    tool_names(&client).await;
    list(&client, "resources/list").await;
    list(&client, "resources/templates/list").await;
    let mut process = house.process("c").await;
    for (address, own) in [
        ("kennel://c/manual", "kennel://c/manual"),
        ("kennel://c/kennel://c/manual", "kennel://c/manual"),
        ("notes://all/7", "notes://all/7"),
        ("kennel://c/notes://all/7", "notes://all/7"),
        ("kennel://c/file:///x", "file:///x"),
        ("kennel://c/unlisted://1", "unlisted://1"),
    ] {
        let stream = client.request(1, "resources/read", json!({ "uri": address }));
        let request = process.expect("resources/read").await;
        assert_eq!(request["params"]["uri"], own, "{address}");
        process.answer(&request, json!({ "contents": [] })).await;
        stream.response().await;
    }
    for address in ["file:///x", "unlisted://1", "kennel://none/file:///x"] {
        client.request(2, "resources/read", json!({ "uri": address })).error(-32602).await;
    }
    house.end().await;
}
