//! Streamable HTTP of the legacy era: what opens, carries and ends a session.

use crate::peer::{Asked, Peer};
use crate::support::{Talk, call, hurried, initialize, initialized, introduction, note, request, result};
use kennel_upstream::Upstream;
use serde_json::json;

/// A session with a peer, with the request for the stream of events.
pub(crate) async fn session(peer: &mut Peer) -> (Talk, Asked) {
    let upstream = Upstream::new(&peer.url()).expect("an address").limits(hurried());
    session_of(peer, upstream).await
}

pub(crate) async fn session_of(peer: &mut Peer, upstream: Upstream) -> (Talk, Asked) {
    let mut talk = Talk::to(upstream).await;
    talk.send(&initialize());
    let opening = peer.next().await;
    let answer = result(0, introduction()).to_string();
    opening.say(200, &[("content-type", "application/json"), ("Mcp-Session-Id", "s-1")], &answer).await;
    assert_eq!(talk.heard().await, result(0, introduction()));
    talk.send(&initialized());
    peer.next().await.accept().await;
    let stream = peer.next().await;
    assert_eq!((stream.method.as_str(), stream.header("accept")), ("GET", Some("text/event-stream")));
    (talk, stream)
}

fn session_headers(asked: &Asked) -> (Option<&str>, Option<&str>) {
    (asked.header("mcp-session-id"), asked.header("mcp-protocol-version"))
}

#[tokio::test]
async fn each_request_has_the_headers_that_it_needs_and_the_users_own() {
    let mut peer = Peer::new().await;
    let upstream = Upstream::new(&format!("{}?key=1", peer.url())).expect("an address");
    let upstream = upstream.header("Authorization", "Bearer secret").expect("a header").limits(hurried());
    let mut talk = Talk::to(upstream).await;
    talk.send(&initialize());
    let opening = peer.next().await;
    assert_eq!((opening.method.as_str(), opening.path.as_str()), ("POST", "/mcp?key=1"));
    assert_eq!(session_headers(&opening), (None, None));
    assert_eq!(opening.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(opening.header("content-type"), Some("application/json"));
    assert_eq!(opening.header("authorization"), Some("Bearer secret"));
    assert!(opening.header("user-agent").is_some_and(|agent| agent.starts_with("kennel/")));
    assert_eq!(opening.json(), initialize());
    let answer = result(0, introduction()).to_string();
    opening.say(200, &[("content-type", "application/json"), ("mcp-session-id", "s-1")], &answer).await;
    talk.heard().await;

    talk.send(&initialized());
    talk.send(&call(1));
    let greeting = peer.next().await;
    assert_eq!(greeting.json(), initialized());
    assert_eq!(session_headers(&greeting), (Some("s-1"), Some("2025-06-18")));
    tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    assert!(!peer.has_next(), "nothing overtakes the end of the handshake");
    greeting.accept().await;
    for _ in 0..2 {
        let asked = peer.next().await;
        assert_eq!(session_headers(&asked), (Some("s-1"), Some("2025-06-18")));
        assert_eq!(asked.header("authorization"), Some("Bearer secret"));
        match asked.method.as_str() {
            "GET" => asked.say(405, &[], "").await,
            _ => asked.result(json!({"content": []})).await,
        }
    }
    assert_eq!(talk.heard().await, result(1, json!({"content": []})));

    let stopping = tokio::spawn(async move { talk.stop().await });
    let farewell = peer.next().await;
    assert_eq!(farewell.method, "DELETE");
    assert_eq!(session_headers(&farewell), (Some("s-1"), Some("2025-06-18")));
    farewell.say(200, &[], "").await;
    assert_eq!(stopping.await.expect("it stops"), (0, String::new()));
}

#[tokio::test]
async fn what_belongs_to_no_request_comes_on_a_stream_that_is_opened_again() {
    let mut peer = Peer::new().await;
    let (mut talk, mut stream) = session(&mut peer).await;
    assert_eq!(stream.header("last-event-id"), None);
    stream.events().await;
    stream.raw(format!("id: e-7\nretry: 1\ndata: {}\n\n", note(1)).as_bytes()).await;
    assert_eq!(talk.heard().await, note(1));
    drop(stream);
    let mut again = peer.next().await;
    assert_eq!((again.method.as_str(), again.header("last-event-id")), ("GET", Some("e-7")));
    again.events().await;
    let question = request("q", "roots/list", &json!({}));
    again.event(&question).await;
    assert_eq!(talk.heard().await, question);
    talk.send(&result("q", json!({"roots": []})));
    let answer = peer.next().await;
    assert_eq!(answer.json(), result("q", json!({"roots": []})));
    answer.accept().await;
    // One that cannot be opened for a while is opened later.
    drop(again);
    peer.next().await.say(503, &[], "busy").await;
    let mut later = peer.next().await;
    later.events().await;
    later.event(&note(2)).await;
    assert_eq!(talk.heard().await, note(2));
}

#[tokio::test]
async fn a_server_without_such_a_stream_is_not_asked_again() {
    for status in [405, 404, 400] {
        let mut peer = Peer::new().await;
        let (mut talk, stream) = session(&mut peer).await;
        stream.say(status, &[], "no").await;
        talk.send(&call(1));
        peer.next().await.result(json!({})).await;
        assert_eq!(talk.heard().await, result(1, json!({})));
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert!(!peer.has_next(), "after {status}");
    }
}

#[tokio::test]
async fn a_session_that_the_server_has_lost_ends_the_process() {
    let lost = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "No valid Session ID"}});
    for (status, body) in [(404, "gone"), (404, lost.to_string().as_str()), (400, lost.to_string().as_str())] {
        let mut peer = Peer::new().await;
        let (mut talk, stream) = session(&mut peer).await;
        stream.say(405, &[], "").await;
        talk.send(&call(1));
        peer.next().await.say(status, &[("content-type", "application/json")], body).await;
        let (code, reason) = talk.ended().await;
        assert_eq!(code, 75);
        assert!(reason.contains("no longer knows the session"), "{reason}");
    }
}

#[tokio::test]
async fn a_request_that_is_given_up_is_told_to_the_server_and_hung_up() {
    let mut peer = Peer::new().await;
    let (mut talk, stream) = session(&mut peer).await;
    stream.say(405, &[], "").await;
    talk.send(&call(1));
    let mut asked = peer.next().await;
    asked.events().await;
    asked.event(&note(1)).await;
    assert_eq!(talk.heard().await, note(1));
    let given_up = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    talk.send(&given_up);
    let told = peer.next().await;
    assert_eq!(told.json(), given_up);
    told.accept().await;
    asked.hung_up().await;
    talk.send(&call(2));
    peer.next().await.result(json!({})).await;
    assert_eq!(talk.heard().await, result(2, json!({})), "the given-up one is not answered");
}
