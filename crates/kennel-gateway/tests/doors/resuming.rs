//! Sessions that go on after a restart of the gateway.

use crate::support::{Client, SOON, Scene, echo, request};
use kennel_gateway::Limits;
use kennel_state::Store;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// The client of a session, at another gateway.
async fn at(scene: &Scene, id: &str) -> Client {
    Client { connection: scene.connect().await, id: id.to_owned() }
}

/// Ends a gateway as `kill -9` would: nothing is said to anybody, and what it kept is what it had written by then.
async fn killed(scene: Scene, store: &Store) {
    store.flush().await.expect("it is written");
    scene.serving.abort();
    let _ = scene.serving.await;
    scene.hub.shutdown().await;
}

#[tokio::test]
async fn a_session_goes_on_with_its_id_at_the_next_gateway() {
    let store = Store::in_memory();
    let first = Scene::remembering(&store, Limits::default()).await;
    let mut client = first.session("2025-06-18").await;
    assert_eq!(client.post(&echo(1, "before")).await.status, 200);
    let id = client.id.clone();
    killed(first, &store).await;

    let second = Scene::remembering(&store, Limits::default()).await;
    // Two at once: the session is found again once, and neither is lost.
    let (mut one, mut other) = (at(&second, &id).await, at(&second, &id).await);
    let (one_message, other_message) = (echo(2, "after"), echo(3, "after, too"));
    let (one, other) = tokio::join!(one.post(&one_message), other.post(&other_message));
    assert_eq!((one.status, other.status), (200, 200), "{} {}", one.text(), other.text());
    assert!(one.text().contains("after") && other.text().contains("after, too"));
    assert_eq!(second.engine.live(), 1, "one process serves both");
    second.end().await;
}

#[tokio::test]
async fn what_ended_or_is_somewhere_else_or_too_old_does_not_go_on() {
    let store = Store::in_memory();
    let first = Scene::remembering(&store, Limits::default()).await;
    let mut ended = first.session("2025-11-25").await;
    let open = first.session("2025-11-25").await;
    let id = ended.id.clone();
    let deleted = ended.connection.ask("DELETE", "/mcp", &[("mcp-session-id", &id)], "").await;
    assert_eq!(deleted.status, 204);
    killed(first, &store).await;

    let second = Scene::remembering(&store, Limits::default()).await;
    assert_eq!(at(&second, &id).await.post(&echo(1, "x")).await.status, 404);
    assert_eq!(at(&second, &"0".repeat(48)).await.post(&echo(1, "x")).await.status, 404);
    killed(second, &store).await;

    tokio::time::sleep(Duration::from_millis(30)).await;
    let limits = Limits { idle_session: Duration::from_millis(10), ..Limits::default() };
    let third = Scene::remembering(&store, limits).await;
    assert_eq!(at(&third, &open.id).await.post(&echo(1, "x")).await.status, 404);
    third.end().await;
}

#[tokio::test]
async fn an_ordinary_end_of_the_gateway_keeps_sessions_too() {
    let store = Store::in_memory();
    let first = Scene::remembering(&store, Limits::default()).await;
    let client = first.session("2025-11-25").await;
    let id = client.id.clone();
    drop(client);
    first.end().await;
    let second = Scene::remembering(&store, Limits::default()).await;
    assert_eq!(at(&second, &id).await.post(&echo(1, "still here")).await.status, 200);
    second.end().await;
}

#[tokio::test]
async fn what_was_asked_for_the_whole_session_holds_again() {
    let store = Store::in_memory();
    let first = Scene::remembering(&store, Limits::default()).await;
    let mut client = first.session("2025-11-25").await;
    client.post(&request(1, "logging/setLevel", &json!({"level": "warning"}))).await;
    for (id, method, uri) in
        [(2, "resources/subscribe", "a:1"), (3, "resources/subscribe", "a:2"), (4, "resources/unsubscribe", "a:1")]
    {
        client.post(&request(id, method, &json!({ "uri": uri }))).await;
    }
    let id = client.id.clone();
    killed(first, &store).await;

    let second = Scene::remembering(&store, Limits::default()).await;
    at(&second, &id).await.post(&echo(5, "hello")).await;
    let heard = timeout(SOON, async {
        loop {
            let heard = second.gate.heard();
            if heard.iter().any(|line| line.contains("a:2")) && heard.iter().any(|line| line.contains("warning")) {
                return heard;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let heard = heard.await.expect("the process is told again");
    assert!(!heard.iter().any(|line| line.contains("a:1")), "{heard:?}");
    second.end().await;
}

#[tokio::test]
async fn a_stream_of_before_is_followed_by_a_new_one() {
    let store = Store::in_memory();
    let first = Scene::remembering(&store, Limits::default()).await;
    let client = first.session("2025-11-25").await;
    let id = client.id.clone();
    killed(first, &store).await;

    let second = Scene::remembering(&store, Limits::default()).await;
    let client = at(&second, &id).await;
    let (mut listening, head) = client.get(&second, Some("0-1")).await;
    assert_eq!(head.status, 200);
    let event = listening.event().await.expect("the stream begins");
    let number: u64 =
        event.id.as_deref().and_then(|id| id.split('-').next()).expect("an id").parse().expect("a number");
    assert!(number > 1_000_000, "it cannot be taken for one of before: {number}");
    drop(listening);
    second.end().await;
}
