//! Results that are too large to pass: kept, and read in parts that join to the exact bytes, by their owner.

use crate::callers::{answer, ask, request};
use crate::support::{Guest, Plan, Process, Profile, Scene, calm, settle};
use kennel_hub::{Caller, Limits, OutgoingKind, Principal, ProcessModel};
use kennel_wire::Era;
use serde_json::{Value, json};

const LIMIT: usize = 1000;

fn scene(kept_result_bytes: u64) -> Scene {
    let limits = Limits { result_bytes: LIMIT, kept_result_bytes, ..Limits::default() };
    Scene::new(Plan { limits, ..calm(ProcessModel::Shared) })
}

/// Calls a tool that answers with this result.
async fn call(client: &Guest, process: &mut Process, result: &str) -> Value {
    let stream = client.call(3, "echo");
    let request = process.expect("tools/call").await;
    process.say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"])).await;
    stream.response().await
}

fn address(response: &Value) -> String {
    response["result"]["content"][1]["uri"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

async fn read(client: &Guest, uri: &str) -> Value {
    client.request(4, "resources/read", json!({ "uri": uri })).response().await
}

/// All parts of a kept result, joined.
async fn whole(client: &Guest, uri: &str) -> (String, usize) {
    let (mut uri, mut text, mut parts) = (uri.to_owned(), String::new(), 0);
    loop {
        let part = read(client, &uri).await["result"]["contents"][0].clone();
        assert_eq!(part["uri"], uri);
        text += part["text"].as_str().unwrap_or_else(|| panic!("{part}"));
        parts += 1;
        match part["_meta"]["kennel/next"].as_str() {
            Some(next) => next.clone_into(&mut uri),
            None => return (text, parts),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn parts_join_to_the_exact_bytes() {
    let scene = scene(1 << 30);
    let (owner, other) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    // Of an odd length before characters of several bytes, so that a part would end within one.
    for (filler, times) in [("x", LIMIT), ("ü", 800_000), ("x😀", 600_000)] {
        let result = format!(
            r#"{{ "isError" : true, "content":[{{"type":"text","text":"a{}"}}],  "n":1.0, "n":1e5 }}"#,
            filler.repeat(times)
        );
        let response = call(&owner, &mut process, &result).await;
        assert_eq!((&response["id"], &response["result"]["isError"]), (&json!(3), &json!(true)));
        let link = &response["result"]["content"][1];
        assert_eq!((&link["type"], &link["size"]), (&json!("resource_link"), &json!(result.len())));
        let uri = address(&response);
        assert!(
            response["result"]["content"][0]["text"].as_str().unwrap().contains(&uri),
            "also for who reads no links"
        );
        let (text, parts) = whole(&owner, &uri).await;
        assert!(text == result, "the parts are something else");
        assert_eq!(parts, result.len().div_ceil(1 << 20));
        // By nobody else, and no guessing.
        assert_eq!(read(&other, &uri).await["error"]["code"], -32002);
        for wrong in ["kennel://results/999", "kennel://results/", "kennel://results/1?offset=x", "kennel://results/-1"]
        {
            assert_eq!(read(&owner, wrong).await["error"]["code"], -32002);
        }
        let beyond = format!("{uri}?offset={}", result.len() + 1);
        assert_eq!(read(&owner, &beyond).await["error"]["code"], -32002);
    }
    process.hears_nothing().await;
    assert_eq!(scene.metric("kept_results_total"), 3);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_fits_passes_and_so_do_errors_and_what_is_no_tool() {
    let scene = scene(1 << 30);
    let client = scene.client().await;
    let mut process = scene.process().await;
    let small = json!({ "content": [] });
    assert_eq!(call(&client, &mut process, &small.to_string()).await["result"], small);
    let long = "x".repeat(LIMIT * 2);
    let stream = client.call(3, "echo");
    let request = process.expect("tools/call").await;
    process.say(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":1,"message":"{long}"}}}}"#, request["id"])).await;
    let expected = format!(r#"{{"jsonrpc":"2.0","id":3,"error":{{"code":1,"message":"{long}"}}}}"#);
    assert_eq!(stream.spelled(OutgoingKind::Response).await, expected);
    let stream = client.request(3, "resources/read", json!({ "uri": "test://a" }));
    let request = process.expect("resources/read").await;
    process.answer(&request, json!({ "contents": [long] })).await;
    assert_eq!(stream.response().await["result"]["contents"][0], long);
    assert_eq!(scene.metric("kept_results_total"), 0);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn clients_that_know_no_links_get_the_address_as_text() {
    let scene = scene(1 << 30);
    let client = scene.introduce("local", "2025-03-26", json!({})).await;
    let mut process = scene.process().await;
    let result = json!({ "content": ["x".repeat(LIMIT)] }).to_string();
    let response = call(&client, &mut process, &result).await;
    let content = response["result"]["content"].as_array().unwrap();
    assert_eq!(content.len(), 1);
    let text = content[0]["text"].as_str().unwrap();
    let uri = text.split_whitespace().find(|word| word.starts_with("kennel://")).unwrap().trim_end_matches(':');
    assert_eq!(whole(&client, uri).await.0, result);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_oldest_make_room_and_a_session_takes_its_own_along() {
    let scene = scene(5000);
    let (one, other) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    let result = json!({ "content": ["x".repeat(2000)] }).to_string();
    let mut kept = Vec::new();
    for client in [&one, &other, &one] {
        kept.push(address(&call(client, &mut process, &result).await));
    }
    assert_eq!(read(&one, &kept[0]).await["error"]["code"], -32002, "there was room for two");
    assert_eq!(whole(&other, &kept[1]).await.0, result);
    assert_eq!(whole(&one, &kept[2]).await.0, result);
    one.session.close();
    settle().await;
    // Its part of the room is free again.
    let another = address(&call(&other, &mut process, &result).await);
    assert_eq!(whole(&other, &kept[1]).await.0, result);
    assert_eq!(whole(&other, &another).await.0, result);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_is_passed_whole_however_large_it_is() {
    let limits = Limits { result_bytes: LIMIT, ..Limits::default() };
    let plan = Plan { era: Some(Era::Modern), limits, ..calm(ProcessModel::PerSession) };
    let scene = Scene::with(plan, |_| Profile::modern(json!({ "tools": {} })));
    let (asked, mailbox) =
        ask(&scene, &Caller::new(Principal::local()), request(1, "tools/call", &json!({ "elicitation": {} })));
    let (process, call) = scene.process_that_hears("tools/call").await;
    let params = json!({ "message": "x".repeat(LIMIT) });
    let questions = json!({ "q": { "method": "elicitation/create", "params": params } });
    let question = json!({ "resultType": "input_required", "inputRequests": questions, "requestState": "s" });
    process.answer(&call, question.clone()).await;
    assert_eq!(answer(&mailbox).await["result"], question);
    asked.answered();
    scene.end().await;
}
