//! Many servers as one, for clients with sessions: who is called, with what, and what comes back.

use crate::support::{Profile, parse, settle};
use crate::union_support::{House, called, list, scene_of, tool_names, with_tools};
use kennel_hub::{Mailbox, MailboxLimits, OutgoingKind, ProcessModel};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn a_session_is_opened_without_any_server() {
    let house = House::pair(ProcessModel::PerSession);
    let client = house.client().await;
    let result = &client.introduction["result"];
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "kennel");
    for (capability, flags) in [
        ("tools", json!({ "listChanged": true })),
        ("prompts", json!({ "listChanged": true })),
        ("resources", json!({ "listChanged": true, "subscribe": true })),
        ("completions", json!({})),
        ("logging", json!({})),
    ] {
        assert_eq!(result["capabilities"][capability], flags, "{capability}");
    }
    assert!(result["instructions"].as_str().unwrap().contains("\n- a\n- b"), "{result}");
    assert_eq!(client.request(1, "ping", json!({})).response().await["result"], json!({}));
    client.request(2, "initialize", json!({ "protocolVersion": "2025-11-25" })).error(-32600).await;
    client.request(3, "logging/setLevel", json!({ "level": "info" })).response().await;
    client.request(4, "logging/setLevel", json!({})).error(-32602).await;
    client.notify("notifications/roots/list_changed", json!({}));
    house.starts_nothing().await;
    assert_eq!(house.live(), 0);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_older_client_is_talked_to_in_its_version() {
    let house = House::pair(ProcessModel::Shared);
    for (asked, agreed) in [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2030-01-01", "2025-11-25")] {
        let client = crate::support::introduce(&house.endpoint, "local", asked, json!({})).await.expect("a session");
        assert_eq!(client.introduction["result"]["protocolVersion"], agreed);
        assert_eq!(client.session.version().as_str(), agreed);
    }
    let principal = kennel_hub::Principal::local();
    let request = parse(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
    let refused = house.endpoint.initialize(&principal, request, Mailbox::new(MailboxLimits::default()));
    assert_eq!(refused.await.unwrap_err().reason, kennel_hub::RefusedReason::Invalid);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn lists_are_joined_and_calls_find_their_server() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession, ProcessModel::PerUser, ProcessModel::PerCall] {
        let house = House::pair(model);
        let client = house.client().await;
        let listed = list(&client, "tools/list").await;
        assert_eq!(called(&listed, "tools", "name"), ["a__x", "b__y"]);
        assert_eq!(listed["tools"][0], json!({ "name": "a__x", "inputSchema": { "type": "object" } }));
        settle().await;
        let tried = if model == ProcessModel::Shared { 2 } else { 0 };
        assert_eq!(house.live(), tried, "who was only tried out has ended");
        let streams = [client.call(1, "a__x"), client.call(2, "b__y")];
        for (server, tool, stream) in [("b", "y", &streams[1]), ("a", "x", &streams[0])] {
            let (process, request) = house.scene(server).process_that_hears("tools/call").await;
            assert_eq!(request["params"], json!({ "name": tool }));
            process.answer(&request, json!({ "content": [{ "type": "text", "text": server }] })).await;
            assert_eq!(stream.response().await["result"]["content"][0]["text"], server);
        }
        house.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn everything_but_the_name_stays_as_it_is_spelled() {
    let house = House::pair(ProcessModel::Shared);
    let client = house.client().await;
    tool_names(&client).await;
    let mut process = house.process("a").await;
    let arguments = r#"{ "z":1.0, "a":1e5,"n":12345678901234567890123, "t":"\u00e4\/" , "z":2}"#;
    let stream = client.ask(&format!(
        r#"{{"jsonrpc":"2.0","odd":[1.50],"id":"i","method":"tools/call","params":{{"arguments":{arguments},  "name" : "a__x","later":0.10}}}}"#
    ));
    let line = process.line().await.unwrap();
    assert!(line.contains(arguments), "{line}");
    assert!(line.contains(r#""odd":[1.50]"#) && line.contains(r#""later":0.10"#), "{line}");
    assert!(line.contains(r#"  "name" : "x","#), "{line}");
    let id = &serde_json::from_str::<Value>(&line).unwrap()["id"];
    let result = r#"{ "structuredContent":{"b":1.0,"a":1E2, "uri":"file:///x"},"content":[ {"text":"resource","type":"text"} ],"_meta":{"x":1.10} , "isError":false}"#;
    process.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result},"extra":0.0}}"#)).await;
    let spelled = stream.spelled(OutgoingKind::Response).await;
    assert_eq!(spelled, format!(r#"{{"jsonrpc":"2.0","id":"i","result":{result},"extra":0.0}}"#));
    // An error is the server's own, too.
    let stream = client.call(7, "a__x");
    let request = process.expect("tools/call").await;
    let error = r#"{"message":"no","code":-32050 ,"data":{"v":1.0}}"#;
    process.say(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, request["id"])).await;
    let spelled = stream.spelled(OutgoingKind::Response).await;
    assert_eq!(spelled, format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#));
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn calls_of_two_sessions_with_one_id_are_two() {
    let house = House::pair(ProcessModel::Shared);
    let clients = [house.client().await, house.client().await];
    tool_names(&clients[0]).await;
    let mut process = house.process("a").await;
    let streams = [clients[0].call(1, "a__x"), clients[1].call(1, "a__x"), clients[0].call(2, "a__x")];
    let mut requests = Vec::new();
    for _ in &streams {
        requests.push(process.expect("tools/call").await);
    }
    for (number, request) in requests.iter().enumerate().rev() {
        process.answer(request, json!({ "number": number })).await;
    }
    for (number, (stream, id)) in streams.iter().zip([1, 1, 2]).enumerate() {
        let response = stream.response().await;
        assert_eq!((&response["id"], &response["result"]["number"]), (&json!(id), &json!(number)));
    }
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn one_id_at_two_servers_is_two_requests() {
    // Clients count by session; one that is answered by two servers must not be mixed up.
    let house = House::pair(ProcessModel::Shared);
    let client = house.client().await;
    tool_names(&client).await;
    let (mut a, mut b) = (house.process("a").await, house.process("b").await);
    let token = |tool: &str, token: &str| json!({ "name": tool, "_meta": { "progressToken": token } });
    let streams =
        [client.request(5, "tools/call", token("a__x", "p")), client.request(6, "tools/call", token("b__y", "q"))];
    for (process, stream, token) in [(&mut b, &streams[1], "q"), (&mut a, &streams[0], "p")] {
        let request = process.expect("tools/call").await;
        let given = request["params"]["_meta"]["progressToken"].clone();
        assert_ne!(given, json!(token));
        process.notify("notifications/progress", json!({ "progressToken": given, "progress": 0.50 })).await;
        let progress = stream.notification().await;
        assert_eq!(progress["params"], json!({ "progressToken": token, "progress": 0.50 }));
    }
    // Cancelling one leaves the other alone.
    client.notify("notifications/cancelled", json!({ "requestId": 6, "reason": "enough" }));
    let cancelled = b.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["reason"], "enough");
    assert_eq!(streams[1].outgoing().await.kind, OutgoingKind::Withdrawn);
    a.hears_nothing().await;
    client.notify("notifications/cancelled", json!({ "requestId": 5 }));
    a.expect("notifications/cancelled").await;
    b.hears_nothing().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_refused_and_nothing_is_started() {
    let house = House::pair(ProcessModel::PerSession);
    let client = house.client().await;
    for name in ["x", "c__x", "", "__x", "a", "a__", "a_x"] {
        let refused = client.call(1, name).error(-32602).await;
        let text = refused["error"]["message"].as_str().unwrap();
        assert!(text.contains(&format!("`{name}`")) && text.contains("tools/list"), "{text}");
        let refused = client.request(1, "prompts/get", json!({ "name": name })).error(-32602).await;
        let text = refused["error"]["message"].as_str().unwrap();
        assert!(text.contains(&format!("`{name}`")) && text.contains("prompts/list"), "{text}");
    }
    for params in [json!({}), json!({ "name": 1 }), json!({ "name": null })] {
        let refused = client.request(1, "tools/call", params).error(-32602).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("`params.name`"), "{refused}");
    }
    for address in ["file:///x", "kennel://c/file:///x", "kennel://a", ""] {
        for method in ["resources/read", "resources/subscribe", "resources/unsubscribe"] {
            let refused = client.request(1, method, json!({ "uri": address })).error(-32602).await;
            assert!(refused["error"]["message"].as_str().unwrap().contains(&format!("`{address}`")), "{refused}");
        }
    }
    client.request(1, "resources/read", json!({})).error(-32602).await;
    client.request(1, "completion/complete", json!({ "ref": {} })).error(-32602).await;
    let refused = client.request(1, "tasks/list", json!({})).error(-32601).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("`tasks/list`"), "{refused}");
    house.starts_nothing().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_not_listed_is_left_to_its_server() {
    let house = House::pair(ProcessModel::PerSession);
    let client = house.client().await;
    // Nothing is known of the server, which is called all the same.
    let stream = client.call(1, "a__x");
    let mut process = house.process("a").await;
    let request = process.expect("tools/call").await;
    assert_eq!(request["params"]["name"], "x");
    process.answer(&request, json!({})).await;
    stream.response().await;
    // And so it is where another tool is known.
    let stream = client.call(2, "a__hidden");
    let request = process.expect("tools/call").await;
    assert_eq!(request["params"]["name"], "hidden");
    process.fail(&request, -32602).await;
    stream.error(-32602).await;
    house.scene("b").starts_nothing().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_ends_what_served_it_alone() {
    let house = House::pair(ProcessModel::PerSession);
    let (closed, dropped, stays) = (house.client().await, house.client().await, house.client().await);
    let mut streams = Vec::new();
    let mut processes = Vec::new();
    for client in [&closed, &dropped, &stays] {
        for (server, tool) in [("a", "a__x"), ("b", "b__y")] {
            streams.push(client.call(1, tool));
            let mut process = house.process(server).await;
            process.expect("tools/call").await;
            processes.push(process);
        }
    }
    assert_eq!(house.live(), 6);
    let mailbox = std::sync::Arc::clone(&closed.unsolicited.mailbox);
    closed.session.close();
    for stream in &streams[..2] {
        stream.error(-31002).await;
    }
    assert!(mailbox.next().await.is_none(), "nothing will come any more");
    assert_eq!(closed.call(9, "a__x").response().await["id"], 9, "who comes too late is told");
    drop(dropped);
    for process in processes.drain(..4) {
        process.ended().await;
    }
    settle().await;
    assert_eq!(house.live(), 2, "those of the session that stays");
    stays.session.close();
    for process in processes {
        process.ended().await;
    }
    settle().await;
    assert_eq!(house.live(), 0);
    house.starts_nothing().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_servers_say_of_themselves_is_told_once_it_is_known() {
    let talkative = |instructions| Profile { instructions, ..with_tools(&["x"]) };
    let long: &'static str = Box::leak(["word"; 200].join("\n").into_boxed_str());
    let house = House::new(vec![
        ("a", scene_of(ProcessModel::Shared, talkative("Reads\n\n files."))),
        ("b", scene_of(ProcessModel::Shared, talkative(long))),
        ("c", scene_of(ProcessModel::Shared, talkative(""))),
    ]);
    let client = house.client().await;
    list(&client, "tools/list").await;
    let instructions = house.client().await.introduction["result"]["instructions"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = instructions.lines().collect();
    assert_eq!(lines[1], "- a: Reads files.");
    assert!(lines[2].starts_with("- b: word word") && lines[2].ends_with('…') && lines[2].len() < 450, "{}", lines[2]);
    assert_eq!(lines[3], "- c");
    drop(client);
    house.end().await;
}
