//! What a server may do with one request, and what is made of it: one answer each, or the end.

use crate::peer::{Asked, Peer};
use crate::sessions::{session, session_of};
use crate::support::{Talk, call, hurried, note, request, result};
use kennel_upstream::{Limits, Upstream};
use serde_json::{Value, json};

/// A session without a stream of its own, and a request in it that the peer has.
async fn asked(peer: &mut Peer) -> (Talk, Asked) {
    let (talk, stream) = session(peer).await;
    stream.say(405, &[], "").await;
    talk.send(&call(1));
    let asked = peer.next().await;
    (talk, asked)
}

/// Checks that the session goes on, and that the request before got no second answer.
async fn goes_on(talk: &mut Talk, peer: &mut Peer) {
    talk.send(&call("next"));
    peer.next().await.result(json!({"on": true})).await;
    assert_eq!(talk.heard().await, result("next", json!({"on": true})));
}

fn failed(answer: &Value, code: i64, text: &str) {
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(code)), "{answer}");
    let message = answer["error"]["message"].as_str().expect("a text");
    assert!(message.contains(text), "{message}");
}

#[tokio::test]
async fn a_stream_may_be_cut_anywhere() {
    let text = json!({"text": "zwölf 🐕\n"});
    let events = format!(
        ": comment\r\n\r\nevent: message\r\nid: 1\r\ndata: {}\r\n\r\nevent: other\ndata: ignored\n\ndata: {{\"jsonrpc\":\"2.0\",\n\
         data: \"id\":1,\ndata: \"result\":{text}}}\n\n",
        note(1)
    );
    let mut peer = Peer::new().await;
    let (mut talk, mut first) = asked(&mut peer).await;
    first.events().await;
    for byte in events.as_bytes() {
        first.raw(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(talk.heard().await, note(1));
    assert_eq!(talk.heard().await, result(1, text));
    drop(first);
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn a_batch_is_heard_message_by_message() {
    let mut peer = Peer::new().await;
    let (mut talk, asked) = asked(&mut peer).await;
    asked.message(&json!([note(1), result(1, json!({})), 7, note(2)])).await;
    assert_eq!(talk.heard().await, note(1));
    assert_eq!(talk.heard().await, result(1, json!({})));
    assert_eq!(talk.heard().await, note(2));
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn a_second_answer_is_not_passed_on() {
    let mut peer = Peer::new().await;
    let (mut talk, mut asked) = asked(&mut peer).await;
    asked.events().await;
    asked.event(&result(1, json!({"first": true}))).await;
    asked.event(&result(1, json!({"second": true}))).await;
    asked.event(&result(99, json!({}))).await;
    drop(asked);
    assert_eq!(talk.heard().await, result(1, json!({"first": true})));
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn an_error_is_passed_on_with_any_status() {
    let error = |id: Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -7, "message": "no", "data": 1.0}});
    for (status, id) in [(400, json!(1)), (500, json!(1)), (400, Value::Null), (200, Value::Null), (404, json!(1))] {
        let mut peer = Peer::new().await;
        let (mut talk, asked) = asked(&mut peer).await;
        let body = error(id.clone()).to_string();
        asked.say(status, &[("content-type", "application/json")], &body).await;
        assert_eq!(talk.heard().await, error(json!(1)), "{status} {id}");
        goes_on(&mut talk, &mut peer).await;
    }
}

#[tokio::test]
async fn a_status_without_a_message_is_an_error() {
    for (status, body, code, text) in [
        (400, "what?", -32603, "400 Bad Request: what?"),
        (403, "not you", -32603, "403 Forbidden: not you"),
        (500, "<html>oops</html>", -32603, "500 Internal Server Error"),
        (502, "", -31001, "502"),
        (503, "later", -31002, "later"),
        (429, "", -31002, "429"),
        (301, "", -32603, "301"),
    ] {
        let mut peer = Peer::new().await;
        let (mut talk, asked) = asked(&mut peer).await;
        asked.say(status, &[("content-type", "text/plain")], body).await;
        let answer = talk.heard().await;
        failed(&answer, code, text);
        assert!(!answer.to_string().contains("<html>"));
        goes_on(&mut talk, &mut peer).await;
    }
}

#[tokio::test]
async fn what_is_no_answer_is_an_error() {
    let json = "application/json";
    let other = note(1).to_string();
    for (status, kind, body) in [
        (200, json, "junk"),
        (200, json, ""),
        (200, json, other.as_str()),
        (200, "text/html", "<html>"),
        (200, "text/event-stream", "data: junk\n\n"),
        (202, json, ""),
        (204, json, ""),
    ] {
        let mut peer = Peer::new().await;
        let (mut talk, mut asked) = asked(&mut peer).await;
        asked.head(status, &[("content-type", kind)]).await;
        asked.raw(body.as_bytes()).await;
        drop(asked);
        let mut answer = talk.heard().await;
        if body == other {
            assert_eq!(answer, note(1));
            answer = talk.heard().await;
        }
        let code = if kind == "text/event-stream" { -31001 } else { -32603 };
        failed(&answer, code, "http://127.0.0.1:");
        goes_on(&mut talk, &mut peer).await;
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_leaves_the_outcome_unknown() {
    for begun in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"jsonrpc\"",
        "HTTP/1.1 2",
    ] {
        let mut peer = Peer::new().await;
        let (mut talk, mut asked) = asked(&mut peer).await;
        asked.raw(begun.as_bytes()).await;
        drop(asked);
        failed(&talk.heard().await, -31001, "nobody knows what the server did");
        goes_on(&mut talk, &mut peer).await;
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_asked_for_again_from_its_last_event() {
    let mut peer = Peer::new().await;
    let (mut talk, mut first) = asked(&mut peer).await;
    first.events().await;
    first.raw(format!("id: a\ndata:\n\nretry: 2\nid: b\ndata: {}\n\nid: c\ndata: half", note(1)).as_bytes()).await;
    assert_eq!(talk.heard().await, note(1));
    drop(first);
    let mut second = peer.next().await;
    assert_eq!((second.method.as_str(), second.header("last-event-id")), ("GET", Some("b")));
    assert_eq!(second.header("mcp-session-id"), Some("s-1"));
    second.events().await;
    drop(second);
    let mut third = peer.next().await;
    assert_eq!(third.header("last-event-id"), Some("b"), "an empty stream does not move the place");
    third.events().await;
    third.event(&result(1, json!({"late": true}))).await;
    assert_eq!(talk.heard().await, result(1, json!({"late": true})));
    drop(third);
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn a_stream_is_not_asked_for_for_ever() {
    let mut peer = Peer::new().await;
    let (mut talk, mut first) = asked(&mut peer).await;
    first.events().await;
    first.raw(b"id: a\ndata:\n\n").await;
    drop(first);
    for _ in 0..hurried().resumes {
        let mut again = peer.next().await;
        again.events().await;
    }
    failed(&talk.heard().await, -31001, "nobody knows");
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn a_stream_that_the_server_does_not_give_again_is_an_error() {
    let mut peer = Peer::new().await;
    let (mut talk, mut first) = asked(&mut peer).await;
    first.events().await;
    first.raw(b"id: a\ndata:\n\n").await;
    drop(first);
    peer.next().await.say(405, &[], "").await;
    failed(&talk.heard().await, -31001, "nobody knows");
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn what_is_too_large_is_not_held() {
    let limits = Limits { message_bytes: 10_000, ..hurried() };
    let body = result(1, json!({"text": "x".repeat(20_000)})).to_string();
    for kind in ["application/json", "text/event-stream"] {
        let mut peer = Peer::new().await;
        let upstream = Upstream::new(&peer.url()).expect("an address").limits(limits.clone());
        let (mut talk, stream) = session_of(&mut peer, upstream).await;
        stream.say(405, &[], "").await;
        talk.send(&call(1));
        let mut asked = peer.next().await;
        asked.head(200, &[("content-type", kind)]).await;
        asked.raw(b"data: ").await;
        asked.raw(body.as_bytes()).await;
        failed(&talk.heard().await, -31005, "10000 bytes");
        asked.hung_up().await;
        goes_on(&mut talk, &mut peer).await;
    }
}

#[tokio::test]
async fn only_so_many_requests_are_under_way_at_once() {
    let mut peer = Peer::new().await;
    let upstream = Upstream::new(&peer.url()).expect("an address").limits(Limits { requests: 2, ..hurried() });
    let (mut talk, stream) = session_of(&mut peer, upstream).await;
    stream.say(405, &[], "").await;
    talk.send(&call(7));
    let first = peer.next().await;
    talk.send(&call(8));
    let second = peer.next().await;
    talk.send(&call(1));
    failed(&talk.heard().await, -31004, "2 requests");
    talk.send(&call(8));
    assert_eq!(talk.heard().await["error"]["code"], -31004);
    first.result(json!({})).await;
    assert_eq!(talk.heard().await["id"], 7);
    talk.send(&call(8));
    assert_eq!(talk.heard().await["error"]["code"], -32600, "an id that is in use");
    second.result(json!({})).await;
    assert_eq!(talk.heard().await, result(8, json!({})));
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn what_is_too_large_to_be_sent_is_answered() {
    let mut peer = Peer::new().await;
    let upstream = Upstream::new(&peer.url()).expect("an address").limits(Limits { message_bytes: 1000, ..hurried() });
    let (mut talk, stream) = session_of(&mut peer, upstream).await;
    stream.say(405, &[], "").await;
    talk.send(&request(1, "tools/call", &json!({"name": "x".repeat(2000)})));
    failed(&talk.heard().await, -31005, "the limit is 1000");
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn a_question_on_the_way_is_answered_while_the_request_waits() {
    let mut peer = Peer::new().await;
    let (mut talk, mut asked) = asked(&mut peer).await;
    asked.events().await;
    // The server numbers its questions as it likes, also like the request.
    let question = request(1, "elicitation/create", &json!({"message": "Who are you?"}));
    asked.event(&question).await;
    assert_eq!(talk.heard().await, question);
    talk.send(&result(1, json!({"action": "decline"})));
    let told = peer.next().await;
    assert_eq!((told.json(), told.header("mcp-session-id")), (result(1, json!({"action": "decline"})), Some("s-1")));
    told.accept().await;
    asked.event(&result(1, json!({"declined": true}))).await;
    assert_eq!(talk.heard().await, result(1, json!({"declined": true})));
    drop(asked);
    goes_on(&mut talk, &mut peer).await;
}

#[tokio::test]
async fn an_answer_that_comes_on_another_stream_is_the_answer() {
    let mut peer = Peer::new().await;
    let (mut talk, mut stream) = session(&mut peer).await;
    stream.events().await;
    talk.send(&call(1));
    let mut asked = peer.next().await;
    asked.events().await;
    stream.event(&result(1, json!({"elsewhere": true}))).await;
    assert_eq!(talk.heard().await, result(1, json!({"elsewhere": true})));
    asked.hung_up().await;
    goes_on(&mut talk, &mut peer).await;
}
