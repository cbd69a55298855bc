//! Many servers as one for clients without sessions, and for those that say nothing about themselves.

use crate::callers::{answer, request, with};
use crate::support::{Plan, Process, Profile, Scene, calm, settle};
use crate::union_support::{House, called, rich, scene_as, scene_of, tool_names, with_tools};
use kennel_hub::{Asked, Caller, HeaderParameterKind, Mailbox, Principal, ProcessModel};
use kennel_wire::{Era, meta};
use serde_json::{Value, json};
use std::sync::Arc;

fn caller() -> Caller {
    Caller::new(Principal::new("ann"))
}

/// Makes a request with these parameters.
fn ask(house: &House, method: &str, params: &Value) -> (Asked, Arc<Mailbox>) {
    house.ask(&caller(), with(request(3, method, &json!({ "elicitation": {} })), params))
}

/// Makes a request that is answered without further ado.
async fn asked(house: &House, method: &str, params: &Value) -> Value {
    let (asked, mailbox) = ask(house, method, params);
    let response = answer(&mailbox).await;
    asked.answered();
    assert_eq!(response["id"], 3);
    response
}

#[tokio::test(start_paused = true)]
async fn a_union_is_discovered_without_any_server() {
    let house = House::pair(ProcessModel::PerSession);
    let response = asked(&house, "server/discover", &json!({})).await;
    let result = &response["result"];
    assert_eq!(result["resultType"], "complete", "{response}");
    assert!(result["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{response}");
    assert_eq!(result["capabilities"]["resources"]["subscribe"], true);
    assert!(result["capabilities"]["tools"].is_object());
    assert!(result["instructions"].as_str().unwrap().contains("- a"));
    assert_eq!(result["_meta"][meta::SERVER_INFO]["name"], "kennel");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{response}");
    house.starts_nothing().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn lists_say_how_long_they_hold() {
    let house = House::rich_pair();
    for (method, list, name, names) in [
        ("tools/list", "tools", "name", ["a__x", "b__y"]),
        ("prompts/list", "prompts", "name", ["a__greet", "b__greet"]),
        ("resources/list", "resources", "uri", ["kennel://a/file:///x", "kennel://b/file:///x"]),
        (
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
            ["kennel://a/db://{id}/row", "kennel://b/db://{id}/row"],
        ),
    ] {
        let response = asked(&house, method, &json!({})).await;
        let result = &response["result"];
        assert_eq!(called(result, list, name), names);
        assert_eq!(result["resultType"], "complete", "{response}");
        assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{response}");
    }
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn requests_go_to_their_server_and_what_is_missing_is_refused() {
    let house = House::rich_pair();
    asked(&house, "tools/list", &json!({})).await;
    let mut b = house.process("b").await;
    let (call, mailbox) = ask(&house, "tools/call", &json!({ "name": "b__y", "arguments": { "n": 1.50 } }));
    let request = b.expect("tools/call").await;
    assert_eq!((&request["params"]["name"], &request["params"]["arguments"]), (&json!("y"), &json!({ "n": 1.50 })));
    b.answer(&request, json!({ "content": [{ "type": "resource_link", "uri": "file:///x", "name": "x" }] })).await;
    let response = answer(&mailbox).await;
    call.answered();
    assert_eq!(response["result"]["resultType"], "complete");
    assert_eq!(response["result"]["content"][0]["uri"], "kennel://b/file:///x");
    let (read, mailbox) = ask(&house, "resources/read", &json!({ "uri": "kennel://b/file:///x" }));
    let request = b.expect("resources/read").await;
    assert_eq!(request["params"]["uri"], "file:///x");
    b.answer(&request, json!({ "contents": [{ "uri": "file:///x", "text": "" }] })).await;
    let response = answer(&mailbox).await;
    read.answered();
    assert_eq!(called(&response["result"], "contents", "uri"), ["kennel://b/file:///x"]);
    assert!(response["result"]["ttlMs"].is_u64(), "{response}");
    for (method, params, code) in [
        ("tools/call", json!({ "name": "c__y" }), -32602),
        ("prompts/get", json!({ "name": "c__y" }), -32602),
        ("resources/read", json!({ "uri": "kennel://c/x" }), -32602),
        ("ping", json!({}), -32601),
        ("initialize", json!({}), -32601),
        ("logging/setLevel", json!({ "level": "info" }), -32601),
        ("resources/subscribe", json!({ "uri": "kennel://b/file:///x" }), -32601),
        ("of/tomorrow", json!({}), -32601),
        ("tools/list", json!({ "cursor": "none of ours" }), -32602),
    ] {
        let response = asked(&house, method, &params).await;
        assert_eq!(response["error"]["code"], code, "{method}: {response}");
    }
    b.hears_nothing().await;
    let mailbox = Mailbox::new(kennel_hub::MailboxLimits::default());
    let bare = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}"#;
    drop(house.endpoint.ask(&caller(), crate::support::parse(bare), &mailbox));
    assert_eq!(answer(&mailbox).await["error"]["code"], -32602, "a request says what its sender can do");
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_is_called_off() {
    let house = House::pair(ProcessModel::Shared);
    let (call, _mailbox) = ask(&house, "tools/call", &json!({ "name": "a__x" }));
    let mut process = house.process("a").await;
    let request = process.expect("tools/call").await;
    drop(call);
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], request["id"]);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_leaves_all_servers() {
    let house = House::pair(ProcessModel::PerSession);
    let caller = Caller::connected(Principal::new("ann"));
    let mut calls = Vec::new();
    for (server, tool) in [("a", "a__x"), ("b", "b__y")] {
        let request = with(request(3, "tools/call", &json!({})), &json!({ "name": tool }));
        calls.push(house.ask(&caller, request));
        house.process(server).await.expect("tools/call").await;
    }
    assert_eq!(house.live(), 2);
    house.endpoint.leave(&caller);
    settle().await;
    assert_eq!(house.live(), 0);
    house.end().await;
}

/// What was asked, by the server that asked it, and the state that comes back.
async fn asked_back(house: &House, server: &str, tool: &str) -> (Process, Value, Value) {
    let (call, mailbox) = ask(house, "tools/call", &json!({ "name": tool }));
    let (process, request) = house.scene(server).process_that_hears("tools/call").await;
    process.ask(json!("q"), "elicitation/create", json!({ "message": server })).await;
    let question = answer(&mailbox).await;
    call.answered();
    assert_eq!(question["result"]["resultType"], "input_required", "{question}");
    (process, request, question)
}

#[tokio::test(start_paused = true)]
async fn rounds_come_back_to_the_server_that_asked() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared, ProcessModel::PerCall] {
        let house = House::pair(model);
        asked(&house, "tools/list", &json!({})).await;
        let (mut a, of_a, asked_by_a) = asked_back(&house, "a", "a__x").await;
        let (mut b, of_b, asked_by_b) = asked_back(&house, "b", "b__y").await;
        for (process, request, question, tool, text) in
            [(&mut b, &of_b, &asked_by_b, "b__y", "b"), (&mut a, &of_a, &asked_by_a, "a__x", "a")]
        {
            let questions = question["result"]["inputRequests"].as_object().unwrap();
            let (name, asked) = questions.iter().next().unwrap();
            assert_eq!(asked["params"]["message"], text);
            let back = json!({
                "name": tool,
                "requestState": question["result"]["requestState"],
                "inputResponses": { name.clone(): { "action": text } },
            });
            let (call, mailbox) = ask(&house, "tools/call", &back);
            let said: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
            assert_eq!(said, json!({ "jsonrpc": "2.0", "id": "q", "result": { "action": text } }));
            process.answer(request, json!({ "content": [{ "type": "text", "text": text }] })).await;
            let response = answer(&mailbox).await;
            call.answered();
            assert_eq!(response["result"]["content"][0]["text"], text, "{response}");
        }
        house.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn servers_of_both_eras_serve_clients_of_both() {
    let scene = |era, tool: &str| {
        let profile = Profile { era, ..with_tools(&[tool]) };
        let plan = Plan { era: None, ..calm(ProcessModel::PerSession) };
        scene_as(plan, profile)
    };
    let house = House::new(vec![("new", scene(Era::Modern, "x")), ("old", scene(Era::Legacy, "y"))]);
    let client = house.client().await;
    assert_eq!(tool_names(&client).await, ["new__x", "old__y"]);
    let response = asked(&house, "tools/list", &json!({})).await;
    assert_eq!(called(&response["result"], "tools", "name"), ["new__x", "old__y"]);
    for (server, tool, era) in [("new", "new__x", Era::Modern), ("old", "old__y", Era::Legacy)] {
        let stream = client.call(1, tool);
        let (process, request) = house.scene(server).process_that_hears("tools/call").await;
        assert_eq!(request["params"]["_meta"].is_object(), era == Era::Modern, "{request}");
        let content = json!([{ "type": "text", "text": server }]);
        process.answer(&request, json!({ "resultType": "complete", "content": content })).await;
        assert_eq!(stream.response().await["result"]["content"], content);
        let (call, mailbox) = ask(&house, "tools/call", &json!({ "name": tool }));
        let (process, request) = house.scene(server).process_that_hears("tools/call").await;
        assert_eq!(request["params"]["_meta"][meta::PROTOCOL_VERSION].is_string(), era == Era::Modern, "{request}");
        process.answer(&request, json!({ "resultType": "complete", "content": content })).await;
        assert_eq!(answer(&mailbox).await["result"]["content"], content);
        call.answered();
    }
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn header_parameters_are_known_by_the_joined_name() {
    let region = json!({ "type": "string", "x-mcp-header": "Region" });
    let schema = json!({ "type": "object", "properties": { "region": region } });
    let page = json!({ "tools": [{ "name": "route", "inputSchema": schema }] });
    let scene: Scene = scene_of(ProcessModel::PerSession, Profile { tools: vec![page], ..Profile::default() });
    let house = House::new(vec![("a", scene)]);
    assert!(house.endpoint.header_parameters("a__route").is_none(), "nothing is known yet");
    tool_names(&house.client().await).await;
    let parameters = house.endpoint.header_parameters("a__route").expect("it is known");
    assert_eq!(parameters.len(), 1);
    assert_eq!(parameters[0].kind, HeaderParameterKind::String);
    for unknown in ["route", "a__other", "b__route"] {
        assert!(house.endpoint.header_parameters(unknown).is_none(), "{unknown}");
    }
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn those_who_say_nothing_about_themselves_are_served() {
    let house = House::new(vec![("a", scene_of(ProcessModel::PerSession, rich("x")))]);
    let response = answer(&house.call(&caller(), "initialize", json!({}))).await;
    assert_eq!(response["result"]["serverInfo"]["name"], "kennel");
    assert_eq!(answer(&house.call(&caller(), "ping", json!({}))).await["result"], json!({}));
    house.starts_nothing().await;
    let response = answer(&house.call(&caller(), "tools/list", json!({}))).await;
    assert_eq!(called(&response["result"], "tools", "name"), ["a__x"]);
    assert_eq!(response["result"].get("resultType"), None);
    let mailbox = house.call(&caller(), "tools/call", json!({ "name": "a__x" }));
    let (process, request) = house.scene("a").process_that_hears("tools/call").await;
    assert_eq!(request["params"]["name"], "x");
    process.answer(&request, json!({ "content": [] })).await;
    assert_eq!(answer(&mailbox).await["result"], json!({ "content": [] }));
    let refused = answer(&house.call(&caller(), "tools/call", json!({ "name": "b__x" }))).await;
    assert_eq!(refused["error"]["code"], -32602);
    house.end().await;
}
