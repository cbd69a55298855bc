//! Many clients of one process: ids, tokens, cancellations and introductions are each client's own.

use crate::support::{Profile, Scene, calm, parse};
use kennel_hub::{Caller, Mailbox, MailboxLimits, OutgoingKind, Principal, ProcessModel};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Barrier};
use tokio::runtime::Handle;

#[tokio::test(start_paused = true)]
async fn clients_that_use_the_same_ids_and_tokens_get_their_own_answers() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let mut clients = Vec::new();
    for number in 0..20 {
        clients.push(scene.guest(&format!("user {number}"), json!({})).await);
    }
    let mut process = scene.process().await;
    let mut streams = Vec::new();
    for (number, client) in clients.iter().enumerate() {
        let params = json!({ "name": "echo", "n": number, "_meta": { "progressToken": 1 } });
        streams.push(client.request(1, "tools/call", params));
    }
    let mut requests = Vec::new();
    for _ in &clients {
        requests.push(process.expect("tools/call").await);
    }
    let ids: HashSet<String> = requests.iter().map(|request| request["id"].to_string()).collect();
    let token = |request: &Value| request["params"]["_meta"]["progressToken"].to_string();
    let tokens: HashSet<String> = requests.iter().map(token).collect();
    assert_eq!((ids.len(), tokens.len()), (clients.len(), clients.len()), "each has its own");
    // Answered in another order.
    for request in requests.iter().rev() {
        let params =
            json!({ "progressToken": request["params"]["_meta"]["progressToken"], "progress": request["params"]["n"] });
        process.notify("notifications/progress", params).await;
        process.answer(request, request["params"]["n"].clone()).await;
    }
    for (number, stream) in streams.iter().enumerate() {
        let progress = stream.notification().await;
        assert_eq!(progress["params"], json!({ "progressToken": 1, "progress": number }));
        assert_eq!(stream.response().await, json!({ "jsonrpc": "2.0", "id": 1, "result": number }));
        stream.is_quiet().await;
    }
    // What is over is over: neither a second answer nor late progress reaches anybody.
    for request in &requests {
        let params = json!({ "progressToken": request["params"]["_meta"]["progressToken"], "progress": 9 });
        process.notify("notifications/progress", params).await;
        process.answer(request, json!({})).await;
    }
    for (client, stream) in clients.iter().zip(&streams) {
        stream.is_quiet().await;
        client.unsolicited.is_quiet().await;
    }
    assert_eq!(scene.metric("stray_answers_total"), clients.len() as u64);
    assert_eq!(scene.engine.started(), 1);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_reaches_the_process_under_its_id_and_leaves_no_answer() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (one, other) = (scene.guest("one", json!({})).await, scene.guest("other", json!({})).await);
    let mut process = scene.process().await;
    let (first, second) = (one.call(7, "echo"), other.call(7, "echo"));
    let (request, untouched) = (process.expect("tools/call").await, process.expect("tools/call").await);
    one.tell(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"enough","requestId":7,"x":1.0}}"#,
    );
    let line = process.line().await.unwrap();
    let id = &request["id"];
    assert_eq!(
        line,
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"reason":"enough","requestId":{id},"x":1.0}}}}"#
        )
    );
    assert_eq!(first.outgoing().await.kind, OutgoingKind::Withdrawn);
    process.answer(&request, json!({})).await;
    first.is_quiet().await;
    assert_eq!(scene.metric("stray_answers_total"), 1);
    process.answer(&untouched, json!({})).await;
    assert_eq!(second.response().await["id"], 7);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn only_the_owner_of_a_request_cancels_it() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (owner, other) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    let stream = owner.call(7, "echo");
    let request = process.expect("tools/call").await;
    other.notify("notifications/cancelled", json!({ "requestId": 7 }));
    // Nor by the id that it has with the process, nor by one of another type.
    other.notify("notifications/cancelled", json!({ "requestId": request["id"] }));
    owner.notify("notifications/cancelled", json!({ "requestId": "7" }));
    owner.notify("notifications/cancelled", json!({ "requestId": 8 }));
    owner.notify("notifications/cancelled", json!({}));
    process.hears_nothing().await;
    process.answer(&request, json!({})).await;
    assert_eq!(stream.response().await["id"], 7);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn each_client_is_answered_with_its_own_version_and_roots_are_not_promised() {
    for model in [ProcessModel::Shared, ProcessModel::PerUser] {
        let capabilities = json!({ "tools": {}, "prompts": { "listChanged": false }, "x": { "y": 1 } });
        let profile = Profile { capabilities, ..Profile::default() };
        let scene = Scene::with(calm(model), move |_| profile.clone());
        let capable = json!({ "roots": { "listChanged": true }, "sampling": {} });
        let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
        let mut clients = Vec::new();
        for version in versions {
            let client = scene.introduce("local", version, capable.clone()).await;
            assert_eq!(client.introduction["result"]["protocolVersion"], version);
            assert_eq!(client.session.version().as_str(), version);
            let offered = &client.introduction["result"]["capabilities"];
            assert_eq!(offered["tools"], json!({ "listChanged": true }), "another process may have others");
            assert_eq!(offered["prompts"], json!({ "listChanged": true }));
            assert_eq!((&offered["x"], &offered["resources"]), (&json!({ "y": 1 }), &Value::Null));
            clients.push(client);
        }
        let unknown = scene.introduce("local", "2033-01-01", json!({})).await;
        assert_eq!(unknown.introduction["result"]["protocolVersion"], "2025-11-25");
        let mut process = scene.process().await;
        let introduction = process.introduction().await;
        assert_eq!(introduction["capabilities"].get("roots"), None);
        assert!(introduction["capabilities"].get("sampling").is_some());
        assert_eq!(scene.engine.started(), 1, "one handshake for all");
        process.expect("prompts/list").await;
        clients[0].notify("notifications/roots/list_changed", json!({}));
        process.hears_nothing().await;
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_alone_introduces_itself() {
    let profile = Profile { version: "2025-03-26", ..Profile::default() };
    let scene = Scene::with(calm(ProcessModel::PerSession), move |_| profile.clone());
    let client = scene.introduce("local", "2025-06-18", json!({ "roots": { "x": 1 } })).await;
    let mut process = scene.process().await;
    let introduction = process.introduction().await;
    let expected = json!({
        "protocolVersion": "2025-06-18", "capabilities": { "roots": { "x": 1 } },
        "clientInfo": { "name": "test", "version": "1" },
    });
    assert_eq!(introduction, expected);
    assert_eq!(client.introduction["result"]["protocolVersion"], "2025-03-26", "the choice of the process");
    client.notify("notifications/roots/list_changed", json!({}));
    process.expect("notifications/roots/list_changed").await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn users_have_a_process_each_and_share_it_among_their_sessions() {
    let scene = Scene::new(calm(ProcessModel::PerUser));
    let (first, second) = (scene.guest("ann", json!({})).await, scene.guest("ann", json!({})).await);
    let stranger = scene.guest("bob", json!({})).await;
    let (mut anns, mut bobs) = (scene.process().await, scene.process().await);
    for client in [&first, &second] {
        let stream = client.call(1, "echo");
        let request = anns.expect("tools/call").await;
        anns.answer(&request, json!({})).await;
        stream.response().await;
    }
    let stream = stranger.call(1, "echo");
    let request = bobs.expect("tools/call").await;
    bobs.answer(&request, json!({})).await;
    stream.response().await;
    anns.hears_nothing().await;
    assert_eq!(scene.engine.started(), 2);
    first.session.close();
    second.session.close();
    anns.hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_closes_calls_off_what_it_asked_and_nothing_else() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (leaver, stayer) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    let (gone, stays) = (leaver.call(1, "echo"), stayer.call(1, "echo"));
    let (request, other) = (process.expect("tools/call").await, process.expect("tools/call").await);
    leaver.session.close();
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], request["id"]);
    gone.error(-31002).await;
    let late = leaver.call(2, "echo");
    late.error(-31002).await;
    process.answer(&other, json!({})).await;
    assert_eq!(stays.response().await["result"], json!({}));
    assert_eq!(scene.hub.status().sessions, 1);
    scene.end().await;
}

/// Callers that open no session have one together per principal, also when many come at once on several threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_without_a_session_come_all_at_once() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 300;
    let server = kennel_testkit::fake::McpServer::default();
    let scene = Scene::scripted(calm(ProcessModel::Shared), move |child| server.clone().run(child));
    let gate = Arc::new(Barrier::new(THREADS));
    let (runtime, hub) = (Handle::current(), scene.hub.clone());
    // Threads of their own, so that they meet nowhere but at the gate, and then in the hub.
    let callers = (0..THREADS).map(|_| {
        let (hub, gate, runtime) = (hub.clone(), Arc::clone(&gate), runtime.clone());
        std::thread::spawn(move || {
            let _entered = runtime.enter();
            let calls = (0..ROUNDS).map(|round| {
                let mailbox = Mailbox::new(MailboxLimits::default());
                let request = parse(r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo"}}"#);
                let principal = Principal::new(&format!("user {round}"));
                gate.wait();
                hub.call(&Caller::new(principal), request, &mailbox);
                mailbox
            });
            calls.collect::<Vec<_>>()
        })
    });
    let callers: Vec<_> = callers.collect();
    let joined =
        tokio::task::spawn_blocking(|| callers.into_iter().map(|caller| caller.join().unwrap()).collect::<Vec<_>>());
    for mailbox in joined.await.unwrap().iter().flatten() {
        let answer: Value = serde_json::from_slice(&mailbox.next().await.expect("an answer").message).unwrap();
        assert_eq!((&answer["id"], answer["error"].is_null()), (&json!("x"), true), "{answer}");
    }
    assert_eq!(scene.hub.status().sessions, ROUNDS);
    scene.end().await;
}
