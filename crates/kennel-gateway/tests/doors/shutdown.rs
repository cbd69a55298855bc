//! The end of a gateway, and what keeps it from beginning.

use crate::support::{SOON, Scene, call, text_of};
use kennel_gateway::{BindError, Gateway, Limits, Settings};
use serde_json::json;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn requests_in_hand_are_finished_and_streams_told_to_come_back() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    let (mut listening, _) = client.get(&scene, None).await;
    listening.event().await;
    let (mut untouched, mut idle, id) = (scene.connect().await, scene.connect().await, client.id.clone());
    idle.ask("GET", "/healthz", &[], "").await;
    client.connection.send_post(&[("mcp-session-id", &id)], &call(1, "hold", &json!({}))).await;
    // The request is in hand when the server has it; another one behind it shows that.
    let mut second = scene.connect().await;
    second.post(&[("mcp-session-id", &id)], &call(2, "echo", &json!({"text": "there"}))).await;

    scene.shutdown.cancel();
    let farewell = listening.event().await.unwrap();
    assert!(farewell.retry.is_some() && farewell.data.is_none(), "{farewell:?}");
    assert_eq!(listening.event().await, None);
    assert!(idle.is_closed().await && untouched.is_closed().await);
    scene.gate.open(1);
    let response = client.connection.response().await;
    assert_eq!(text_of(&response.json()), "held");
    assert!(client.connection.is_closed().await);
    assert!(TcpStream::connect(scene.address).await.is_err(), "nothing is accepted any more");
    scene.end().await;
}

#[tokio::test]
async fn what_does_not_end_is_dropped() {
    let scene = Scene::with(Limits { drain: Duration::from_millis(50), ..Limits::default() }).await;
    let mut client = scene.session("2025-11-25").await;
    let id = client.id.clone();
    client.connection.send_post(&[("mcp-session-id", &id)], &call(1, "hold", &json!({}))).await;
    let mut second = scene.connect().await;
    second.post(&[("mcp-session-id", &id)], &call(2, "echo", &json!({"text": "there"}))).await;
    scene.end().await;
    assert!(client.connection.is_closed().await);
}

#[tokio::test]
async fn an_address_that_is_taken_is_named_with_a_way_out() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listen = taken.local_addr().unwrap();
    let error = Gateway::bind(Settings { listen, ..Settings::default() }).await.expect_err("it is taken");
    assert!(matches!(error, BindError::InUse { .. }));
    let text = error.to_string();
    assert!(text.contains(&listen.to_string()) && text.contains("--listen"), "{text}");
    let elsewhere = "203.0.113.1:80".parse().unwrap();
    let error = Gateway::bind(Settings { listen: elsewhere, ..Settings::default() }).await.expect_err("not here");
    assert!(error.to_string().contains("--listen") && error.to_string().contains("203.0.113.1:80"), "{error}");
}

#[tokio::test]
async fn a_limit_that_lets_nobody_in_is_named() {
    let limits = Limits { sessions: 0, ..Limits::default() };
    let error = Gateway::bind(Settings { limits, ..Settings::default() }).await.expect_err("nobody could come in");
    assert!(error.to_string().contains("`sessions`"), "{error}");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_their_turn() {
    let scene = Scene::with(Limits { connections: 1, ..Limits::default() }).await;
    let mut first = scene.connect().await;
    assert_eq!(first.ask("GET", "/healthz", &[], "").await.status, 200);
    let mut second = scene.connect().await;
    second.send("GET", "/healthz", &[], "").await;
    assert!(timeout(Duration::from_millis(100), second.head()).await.is_err(), "it waits");
    drop(first);
    assert_eq!(timeout(SOON, second.head()).await.expect("its turn comes").status, 200);
    scene.end().await;
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let scene = Scene::with(Limits { idle_connection: Duration::from_millis(50), ..Limits::default() }).await;
    let mut silent = scene.connect().await;
    assert!(silent.is_closed().await);
    let mut slow = scene.connect().await;
    slow.raw(b"POST /mcp HTTP/1.1\r\nhost: loc").await;
    assert!(slow.is_closed().await);
    scene.end().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let scene = Scene::with(Limits { body_timeout: Duration::from_millis(50), ..Limits::default() }).await;
    let mut slow = scene.connect().await;
    slow.raw(b"POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{")
        .await;
    assert_eq!(slow.response().await.status, 408);
    scene.end().await;
}
