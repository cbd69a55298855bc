//! Streams that outlive their connections: resumption, replacement, and what belongs to no request.

use crate::support::{Scene, call, echo, text_of};
use kennel_gateway::{Limits, ReplayLimits};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_broken_stream_goes_on_where_the_client_says() {
    let scene = Scene::with(Limits { patience: Duration::from_millis(1), ..Limits::default() }).await;
    let mut client = scene.session("2025-11-25").await;
    client.begin(&call(1, "pace", &json!({"count": 4}))).await;
    let priming = client.connection.event().await.unwrap();
    scene.gate.open(2);
    let first = client.connection.event().await.unwrap();
    let second = client.connection.event().await.unwrap();
    let ids = [priming.id(), first.id(), second.id()];
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    client.connection = scene.connect().await;

    // The call goes on without its client.
    scene.gate.open(1);
    let (mut resumed, head) = client.get(&scene, Some(first.id())).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(resumed.event().await.unwrap(), second, "again what was sent, under the same id");
    assert_eq!(resumed.event().await.unwrap().json()["params"]["progress"], 3, "then what was missed");
    drop(resumed);

    let (mut resumed, _) = client.get(&scene, Some(priming.id())).await;
    for number in 1..=3 {
        assert_eq!(resumed.event().await.unwrap().json()["params"]["progress"], number);
    }
    scene.gate.open(2);
    assert_eq!(resumed.event().await.unwrap().json()["params"]["progress"], 4, "then what comes");
    let last = resumed.event().await.unwrap();
    assert_eq!(text_of(&last.json()), "paced");
    assert_eq!(resumed.event().await, None);

    // A finished stream can still be read, but only as far as there is something to read.
    let (mut resumed, _) = client.get(&scene, Some(second.id())).await;
    assert_eq!(resumed.message().await.json()["params"]["progress"], 3);
    assert_eq!(client.get(&scene, Some(last.id())).await.1.status, 405);
    scene.end().await;
}

#[tokio::test]
async fn an_error_ends_a_stream_as_a_result_does_and_is_not_asked_for_for_ever() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    client.begin(&call(1, "refuse", &json!({}))).await;
    let progress = client.connection.message().await;
    let error = client.connection.event().await.unwrap();
    assert_eq!(error.json()["error"]["message"], "refused");
    assert_eq!(client.connection.event().await, None);
    let (mut resumed, _) = client.get(&scene, Some(progress.id())).await;
    assert_eq!(resumed.event().await.unwrap(), error);
    assert_eq!(client.get(&scene, Some(error.id())).await.1.status, 405);
    scene.end().await;
}

#[tokio::test]
async fn an_id_that_was_not_sent_in_the_session_is_refused() {
    let scene = Scene::new().await;
    let (mut client, other) = (scene.session("2025-11-25").await, scene.session("2025-11-25").await);
    client.begin(&call(1, "steps", &json!({"count": 1}))).await;
    let id = client.connection.message().await.id().to_owned();
    for (who, last) in [(&client, "7-1"), (&client, "junk"), (&client, "1-9"), (&client, ""), (&other, &id)] {
        assert_eq!(who.get(&scene, Some(last)).await.1.status, 400, "{last}");
    }
    scene.end().await;
}

#[tokio::test]
async fn two_streams_are_never_mixed_up() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    client.begin(&call("a", "steps", &json!({"count": 2}))).await;
    let a = client.connection.event().await.unwrap();
    client.connection = scene.connect().await;
    client.begin(&call("b", "steps", &json!({"count": 2}))).await;
    let b = client.connection.event().await.unwrap();
    client.connection = scene.connect().await;
    scene.gate.open(2);
    for (token, priming) in [("b", b), ("a", a)] {
        let (mut resumed, _) = client.get(&scene, Some(priming.id())).await;
        for number in 1..=2 {
            let params = json!({"progressToken": token, "progress": number});
            assert_eq!(resumed.event().await.unwrap().json()["params"], params);
        }
        assert_eq!(resumed.event().await.unwrap().json()["id"], token);
        assert_eq!(resumed.event().await, None);
    }
    scene.end().await;
}

#[tokio::test]
async fn what_belongs_to_no_request_comes_by_get_and_waits_for_it() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    let changed = |event: &crate::http::Event| event.json()["method"] == "notifications/tools/list_changed";
    let (mut listening, head) = client.get(&scene, None).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    let priming = listening.event().await.unwrap();
    assert_eq!((priming.data.as_deref(), priming.retry.is_some()), (Some(""), true));
    client.post(&call(1, "announce", &json!({}))).await;
    let first = listening.message().await;
    assert!(changed(&first));

    // Two connections are not one too many: the later one reads on, the earlier one ends.
    let (mut later, _) = client.get(&scene, None).await;
    assert_eq!(listening.event().await, None);
    assert_eq!(later.event().await.unwrap().data.as_deref(), Some(""));
    client.post(&call(2, "announce", &json!({}))).await;
    let second = later.message().await;
    assert!(changed(&second) && second.id != first.id);

    // Whoever comes back gets what they missed, once.
    drop(later);
    let (mut resumed, _) = client.get(&scene, Some(first.id())).await;
    assert_eq!(resumed.event().await.unwrap(), second);
    client.post(&call(3, "announce", &json!({}))).await;
    let third = resumed.message().await;
    assert!(changed(&third) && third.id != second.id);
    scene.end().await;
}

#[tokio::test]
async fn a_stream_that_nobody_came_back_for_is_gone() {
    let replay = ReplayLimits { kept: Duration::from_millis(50), ..ReplayLimits::default() };
    let scene = Scene::with(Limits { replay, ..Limits::default() }).await;
    let mut client = scene.session("2025-11-25").await;
    client.begin(&call(1, "steps", &json!({"count": 1}))).await;
    let id = client.connection.message().await.id().to_owned();
    // While it is read, it is kept.
    tokio::time::sleep(Duration::from_millis(400)).await;
    scene.gate.open(1);
    assert_eq!(text_of(&client.connection.message().await.json()), "stepped");
    client.connection = scene.connect().await;
    let gone = async {
        // Each attempt that finds it keeps it for another while, so they must not come too often.
        while client.get(&scene, Some(&id)).await.1.status != 410 {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::time::timeout(crate::support::SOON, gone).await.expect("it is forgotten");
    assert_eq!(client.post(&echo(2, "on")).await.status, 200, "the session goes on");
    scene.end().await;
}

#[tokio::test]
async fn a_large_message_passes_through_a_stream_unchanged() {
    let scene = Scene::with(Limits { patience: Duration::from_millis(1), ..Limits::default() }).await;
    let mut client = scene.session("2025-11-25").await;
    let head = client.begin(&call(1, "large", &json!({"bytes": 300_000}))).await;
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    let priming = client.connection.event().await.unwrap();
    scene.gate.open(1);
    let event = client.connection.event().await.unwrap();
    assert_eq!(text_of(&event.json()), "x".repeat(300_000));
    assert_eq!(client.connection.event().await, None);
    let (mut resumed, _) = client.get(&scene, Some(priming.id())).await;
    assert_eq!(resumed.event().await.unwrap(), event);
    scene.end().await;
}

#[tokio::test]
async fn get_needs_a_session_and_takes_only_streams() {
    let scene = Scene::new().await;
    let client = scene.session("2025-11-25").await;
    let mut connection = scene.connect().await;
    let id = client.id.as_str();
    let events = ("accept", "text/event-stream");
    for (headers, status) in [
        (vec![("mcp-session-id", id), ("accept", "application/json")], 406),
        (vec![("mcp-session-id", id)], 406),
        (vec![events], 400),
        (vec![events, ("mcp-session-id", "no-such")], 404),
        (vec![events, ("mcp-session-id", id), ("mcp-protocol-version", "1999-01-01")], 400),
    ] {
        assert_eq!(connection.ask("GET", "/mcp", &headers, "").await.status, status, "{headers:?}");
    }
    scene.end().await;
}
