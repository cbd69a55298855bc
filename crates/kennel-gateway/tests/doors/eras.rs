//! Both eras on one connection, over WebSocket and stdio.

use crate::stdio::with_door;
use crate::support::{Gate, SOON, Scene, VERSION_FIELD, call, echo, initialize, modern, request, text_of};
use crate::websocket::Socket;
use kennel_gateway::Limits;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

fn cancel(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

#[tokio::test]
async fn a_request_that_stands_for_itself_needs_no_session() {
    let scene = Scene::new().await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    let answer = socket.ask(&modern(echo("a", "first"))).await;
    assert_eq!((text_of(&answer), &answer["id"]), ("first", &json!("a")));
    assert_eq!(socket.ask(&echo(1, "no session")).await["error"]["code"], -32600);
    // A session beside it, with ids of its own, and notes before the answers of both.
    assert_eq!(socket.ask(&initialize("2025-11-25")).await["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(text_of(&socket.ask(&echo(1, "in the session")).await), "in the session");
    for steps in [call(5, "steps", &json!({"count": 2})), modern(call(5, "steps", &json!({"count": 2})))] {
        socket.send(&steps).await;
        for number in 1..=2 {
            assert_eq!(socket.read().await.unwrap()["params"], json!({"progressToken": 5, "progress": number}));
        }
    }
    assert_eq!(text_of(&socket.ask(&modern(echo(6, "in between"))).await), "in between");
    scene.gate.open(2);
    for _ in 0..2 {
        let answer = socket.read().await.unwrap();
        assert_eq!((text_of(&answer), &answer["id"]), ("stepped", &json!(5)));
    }
    assert_eq!(scene.engine.started(), 2);
    // Another connection is another caller.
    let (mut other, _) = Socket::open(&scene, &[]).await.unwrap();
    assert_eq!(text_of(&other.ask(&modern(echo(1, "apart"))).await), "apart");
    assert_eq!(scene.engine.started(), 3);
    let page = scene.connect().await.ask("GET", "/metrics", &[], "").await.text();
    for line in ["{door=\"ws\",era=\"legacy\"} 4", "{door=\"ws\",era=\"modern\"} 4"] {
        assert!(page.contains(&format!("kennel_mcp_requests_total{line}\n")), "{line} is missing in\n{page}");
    }
    scene.end().await;
}

#[tokio::test]
async fn a_caller_and_its_process_go_with_the_connection() {
    let scene = Scene::new().await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    assert_eq!(text_of(&socket.ask(&modern(echo(1, "here"))).await), "here");
    assert_eq!(scene.hub.status().sessions, 1);
    drop(socket);
    let gone = async {
        while scene.hub.status().sessions + scene.engine.live() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, gone).await.expect("they go soon");
    scene.end().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_said_without_a_status() {
    with_door(Limits { open_requests: 2, ..Limits::default() }, async |mut pipe, gate| {
        let mut unknown = modern(request(1, "server/discover", &json!({})));
        unknown["params"]["_meta"][VERSION_FIELD] = json!("2030-01-01");
        let answer = pipe.ask(&unknown).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32022)));
        assert_eq!(answer["error"]["data"]["requested"], "2030-01-01");
        assert_eq!(answer["error"]["data"]["supported"][0], "2026-07-28");
        for params in [json!({}), json!({"_meta": {VERSION_FIELD: "2026-07-28"}}), json!({"_meta": {VERSION_FIELD: 7}})]
        {
            let answer = pipe.ask(&request("d", "server/discover", &params)).await;
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("d"), &json!(-32602)), "{params}");
        }
        // As many as may be open, each under an id of its own.
        pipe.send(&modern(call(1, "hold", &json!({})))).await;
        assert_eq!(pipe.ask(&modern(echo(1, "taken"))).await["error"]["code"], -32600);
        pipe.send(&modern(call(2, "hold", &json!({})))).await;
        let answer = pipe.ask(&modern(echo(3, "too many"))).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(3), &json!(-31004)));
        gate.open(2);
        let mut ids = [pipe.read().await.unwrap()["id"].clone(), pipe.read().await.unwrap()["id"].clone()];
        ids.sort_by_key(Value::to_string);
        assert_eq!(ids, [json!(1), json!(2)]);
        assert_eq!(text_of(&pipe.ask(&modern(echo(1, "free again"))).await), "free again");
        None
    })
    .await;
}

#[tokio::test]
async fn a_probe_is_answered_as_one_before_anything_else() {
    with_door(Limits::default(), async |mut pipe, _gate| {
        let answer = pipe.ask(&modern(request("probe", "server/discover", &json!({})))).await;
        assert_eq!(answer["id"], "probe");
        assert_ne!(answer["error"]["code"], -32600, "it does not say that a session is needed: {answer}");
        // Whatever the client makes of that, it may go on with a session.
        assert_eq!(pipe.ask(&initialize("2025-11-25")).await["result"]["protocolVersion"], "2025-11-25");
        None
    })
    .await;
}

#[tokio::test]
async fn a_request_is_called_off_by_its_id_and_not_heard_of_again() {
    let scene = Scene::new().await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    socket.send(&modern(call("x", "steps", &json!({"count": 1})))).await;
    assert_eq!(socket.read().await.unwrap()["method"], "notifications/progress");
    socket.send(&cancel(&json!("y"))).await;
    socket.send(&cancel(&json!("x"))).await;
    scene.gate.cancelled().await;
    // The server answers all the same; nobody hears it, and the id can be used again.
    scene.gate.open(1);
    for text in ["one", "two"] {
        let answer = socket.ask(&modern(echo("x", text))).await;
        assert_eq!(text_of(&answer), text);
    }
    assert_eq!(scene.gate.cancellations(), 0, "what was answered is not cancelled");
    // The session's requests are still called off in the session.
    socket.ask(&initialize("2025-11-25")).await;
    socket.send(&call("z", "steps", &json!({"count": 1}))).await;
    assert_eq!(socket.read().await.unwrap()["method"], "notifications/progress");
    socket.send(&cancel(&json!("z"))).await;
    scene.gate.cancelled().await;
    scene.end().await;
}

#[tokio::test]
async fn the_end_of_a_connection_calls_its_requests_off() {
    let scene = Scene::new().await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    for id in 1..=2 {
        socket.send(&modern(call(id, "steps", &json!({"count": 1})))).await;
        assert_eq!(socket.read().await.unwrap()["method"], "notifications/progress");
    }
    drop(socket);
    scene.gate.cancelled().await;
    scene.gate.cancelled().await;
    scene.end().await;
}

#[tokio::test]
async fn listening_shares_the_connection_until_it_is_called_off() {
    let scene = Scene::new().await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    let listen = request("l", "subscriptions/listen", &json!({"notifications": {"toolsListChanged": true}}));
    let acknowledged = socket.ask(&modern(listen)).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    socket.send(&modern(call(1, "announce", &json!({})))).await;
    let mut both = [socket.read().await.unwrap(), socket.read().await.unwrap()];
    both.sort_by_key(|message| message["id"].is_null());
    assert_eq!((&both[0]["id"], &both[1]["method"]), (&json!(1), &json!("notifications/tools/list_changed")));
    socket.send(&cancel(&json!("l"))).await;
    socket.send(&modern(call(2, "announce", &json!({})))).await;
    assert_eq!(socket.read().await.unwrap()["id"], 2, "of changes there is no word any more");
    assert_eq!(socket.ask(&modern(echo(3, "on"))).await["id"], 3);
    scene.end().await;
}

#[tokio::test]
async fn a_script_may_write_everything_first_and_then_read() {
    with_door(Limits { drain: SOON * 2, ..Limits::default() }, async |mut pipe, gate: Gate| {
        // One that listens would never end, so it is not waited for.
        let listen = request("l", "subscriptions/listen", &json!({"notifications": {"toolsListChanged": true}}));
        let messages = [modern(listen), modern(call(1, "hold", &json!({}))), modern(echo(2, "two"))];
        for message in &messages {
            pipe.send(message).await;
        }
        pipe.input.shutdown().await.unwrap();
        let mut answered = Vec::new();
        let reading = async {
            while let Some(message) = pipe.read().await {
                answered.extend(message["id"].as_i64());
                if message["id"] == 2 {
                    gate.open(1);
                }
            }
        };
        timeout(SOON, reading).await.expect("it ends before its time is up");
        assert_eq!(answered, [2, 1]);
        None
    })
    .await;
}

#[tokio::test]
async fn requests_in_hand_are_answered_when_the_gateway_closes() {
    let scene = Scene::new().await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    socket.send(&modern(call(1, "steps", &json!({"count": 1})))).await;
    assert_eq!(socket.read().await.unwrap()["method"], "notifications/progress");
    scene.shutdown.cancel();
    scene.gate.open(1);
    assert_eq!(text_of(&socket.read().await.unwrap()), "stepped");
    assert_eq!(socket.read().await, Err(1001));
    scene.end().await;
}

#[tokio::test]
async fn what_does_not_end_when_the_gateway_closes_is_called_off() {
    let scene = Scene::with(Limits { drain: Duration::from_millis(50), ..Limits::default() }).await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    socket.send(&modern(call(1, "steps", &json!({"count": 1})))).await;
    assert_eq!(socket.read().await.unwrap()["method"], "notifications/progress");
    scene.shutdown.cancel();
    scene.gate.cancelled().await;
    scene.end().await;
}
