//! Sessions: their beginning, whose they are, and their end.

use crate::support::{SOON, Scene, call, echo, initialize, request};
use kennel_gateway::{AccessSettings, Limits, Settings, Token};
use kennel_hub::Principal;
use serde_json::json;
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn without_a_session_only_initialize_is_taken() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let response = connection.post(&[], &request(3, "tools/list", &json!({}))).await;
    assert_eq!((response.status, response.json()["id"].as_i64()), (400, Some(3)));
    assert!(response.text().contains("Mcp-Session-Id"));
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(connection.post(&[], &note).await.status, 400);
    assert_eq!(connection.post(&[("mcp-session-id", "no-such")], &note).await.status, 404);
    // A version header on the first request is fine.
    let response = connection.post(&[("mcp-protocol-version", "2025-11-25")], &initialize("2025-11-25")).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.json()["result"]["protocolVersion"], "2025-11-25");
    scene.end().await;
}

#[tokio::test]
async fn an_initialize_that_is_not_proper_is_refused() {
    let scene = Scene::new().await;
    let response = scene.connect().await.post(&[], &request("x", "initialize", &json!([]))).await;
    assert_eq!((response.status, response.json()["id"].as_str()), (400, Some("x")));
    assert_eq!(response.header("mcp-session-id"), None);
    scene.end().await;
}

#[tokio::test]
async fn delete_ends_the_session_its_streams_and_its_process() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    client.post(&echo(1, "hello")).await;
    assert_eq!(scene.engine.live(), 1);
    let (mut listening, _) = client.get(&scene, None).await;
    listening.event().await;
    let mut waiting = scene.connect().await;
    waiting.send_post(&[("mcp-session-id", &client.id)], &call(2, "steps", &json!({"count": 1}))).await;
    waiting.head().await;

    let mut connection = scene.connect().await;
    let id = [("mcp-session-id", client.id.as_str())];
    assert_eq!(connection.ask("DELETE", "/mcp", &[], "").await.status, 400);
    let deleted = connection.ask("DELETE", "/mcp", &id, "").await;
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    assert_eq!(listening.event().await, None);
    while waiting.event().await.is_some() {}
    assert_eq!(connection.ask("DELETE", "/mcp", &id, "").await.status, 404);
    assert_eq!(client.post(&echo(3, "anybody?")).await.status, 404);
    assert_eq!(client.get(&scene, None).await.1.status, 404);
    let gone = async {
        while scene.engine.live() > 0 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, gone).await.expect("the process is stopped");
    scene.end().await;
}

#[tokio::test]
async fn a_request_that_waits_when_its_session_ends_is_let_go() {
    let scene = Scene::with(Limits { patience: SOON * 2, ..Limits::default() }).await;
    let mut client = scene.session("2025-11-25").await;
    let (mut other, id) = (scene.connect().await, client.id.clone());
    client.connection.send_post(&[("mcp-session-id", &id)], &call(1, "hold", &json!({}))).await;
    other.post(&[("mcp-session-id", &id)], &echo(2, "the first is there")).await;
    assert_eq!(other.ask("DELETE", "/mcp", &[("mcp-session-id", &id)], "").await.status, 204);
    client.connection.response().await;
    scene.end().await;
}

#[tokio::test]
async fn a_session_belongs_to_whoever_began_it() {
    let token = |secret: &str, who| Token { secret: secret.into(), principal: Principal::new(who) };
    let tokens = vec![token("alice's", "alice"), token("bob's", "bob")];
    let access = AccessSettings { tokens, ..AccessSettings::default() };
    let scene = Scene::of(Settings { access, ..Settings::default() }).await;
    let (alice, bob) = (("authorization", "Bearer alice's"), ("authorization", "Bearer bob's"));
    let mut connection = scene.connect().await;
    let response = connection.post(&[alice], &initialize("2025-11-25")).await;
    let id = ("mcp-session-id", response.header("mcp-session-id").unwrap());
    assert_eq!(connection.post(&[bob, id], &echo(1, "mine?")).await.status, 404);
    let events = ("accept", "text/event-stream");
    assert_eq!(connection.ask("GET", "/mcp", &[bob, id, events], "").await.status, 404);
    assert_eq!(connection.ask("DELETE", "/mcp", &[bob, id], "").await.status, 404);
    assert_eq!(connection.post(&[id], &echo(1, "mine?")).await.status, 401);
    assert_eq!(connection.post(&[alice, id], &echo(1, "mine")).await.status, 200);
    scene.end().await;
}

#[tokio::test]
async fn an_unused_session_ends_but_one_that_listens_does_not() {
    let scene = Scene::with(Limits { idle_session: Duration::from_millis(300), ..Limits::default() }).await;
    let (mut unused, mut listening) = (scene.session("2025-11-25").await, scene.session("2025-11-25").await);
    let (stream, _) = listening.get(&scene, None).await;
    let gone = async {
        // Asking is using, so it must be done seldom.
        loop {
            sleep(Duration::from_secs(1)).await;
            if unused.post(&echo(1, "there?")).await.status == 404 {
                break;
            }
        }
    };
    timeout(SOON, gone).await.expect("it is ended");
    assert_eq!(listening.post(&echo(1, "there?")).await.status, 200);
    drop(stream);
    scene.end().await;
}

#[tokio::test]
async fn a_full_table_refuses_until_a_session_was_unused_for_long_enough() {
    let floor = Duration::from_millis(500);
    let scene = Scene::with(Limits { sessions: 2, idle_session_floor: floor, ..Limits::default() }).await;
    let (mut first, mut second) = (scene.session("2025-11-25").await, scene.session("2025-11-25").await);
    let (_stream, _) = second.get(&scene, None).await;
    let mut connection = scene.connect().await;
    first.post(&echo(1, "still here")).await;
    let refused = connection.post(&[], &initialize("2025-11-25")).await;
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    let admitted = async {
        while connection.post(&[], &initialize("2025-11-25")).await.status != 200 {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, admitted).await.expect("a place becomes free");
    assert_eq!(first.post(&echo(1, "there?")).await.status, 404, "the unused one had to go");
    assert_eq!(second.post(&echo(1, "there?")).await.status, 200, "the one that listens stays");
    scene.end().await;
}

#[tokio::test]
async fn where_no_further_process_may_run_a_session_that_is_unused_goes() {
    let floor = Duration::from_millis(500);
    let limits = Limits { idle_session_floor: floor, ..Limits::default() };
    let processes = kennel_hub::Limits { instances: 1, ..kennel_hub::Limits::default() };
    let scene = Scene::bounded(Settings { limits, ..Settings::default() }, processes).await;
    let mut first = scene.session("2025-11-25").await;
    let mut connection = scene.connect().await;
    assert_eq!(connection.post(&[], &initialize("2025-11-25")).await.status, 503, "the first was used just now");
    let admitted = async {
        while connection.post(&[], &initialize("2025-11-25")).await.status != 200 {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, admitted).await.expect("a place becomes free");
    assert_eq!(first.post(&echo(1, "there?")).await.status, 404, "the unused one had to go");
    scene.end().await;
}

#[tokio::test]
async fn a_server_that_cannot_start_is_told_as_an_error_of_the_request() {
    let scene = Scene::new().await;
    scene.engine.refuse(Some("there is no room"));
    let response = scene.connect().await.post(&[], &initialize("2025-11-25")).await;
    assert_eq!(response.status, 200);
    assert!(response.json()["error"]["message"].is_string(), "{response:?}");
    assert_eq!(response.header("mcp-session-id"), None);
    scene.end().await;
}
