//! The transport of 2024-11-05: a stream of events, and an address for messages.

use crate::peer::{Asked, Peer};
use crate::support::{Talk, call, hurried, initialize, initialized, introduction, request, result};
use kennel_upstream::{Transport, Upstream};
use serde_json::json;

async fn talk_to(peer: &Peer, transport: Transport) -> Talk {
    let upstream = Upstream::new(&peer.url()).expect("an address").header("X-Key", "secret").expect("a header");
    Talk::to(upstream.transport(transport).limits(hurried())).await
}

/// Takes the request for the stream, names an address, and opens the conversation.
async fn open(peer: &mut Peer, talk: &mut Talk, address: &str) -> Asked {
    let mut stream = peer.next().await;
    assert_eq!((stream.method.as_str(), stream.header("accept")), ("GET", Some("text/event-stream")));
    assert_eq!(stream.header("x-key"), Some("secret"));
    stream.events().await;
    stream.raw(format!("event: endpoint\r\ndata: {address}\r\n\r\n").as_bytes()).await;
    let opening = peer.next().await;
    assert_eq!((opening.method.as_str(), opening.path.as_str()), ("POST", "/messages?session=1"));
    assert_eq!((opening.json(), opening.header("x-key")), (initialize(), Some("secret")));
    opening.say(202, &[], "Accepted").await;
    stream.event(&result(0, introduction())).await;
    assert_eq!(talk.heard().await, result(0, introduction()));
    stream
}

#[tokio::test]
async fn messages_go_to_the_address_and_answers_come_on_the_stream() {
    let mut peer = Peer::new().await;
    let mut talk = talk_to(&peer, Transport::Sse).await;
    talk.send(&initialize());
    let mut stream = open(&mut peer, &mut talk, "/messages?session=1").await;
    let question = request(1, "ping", &json!({}));
    for message in [initialized(), call(1), call(2), result("q", json!({}))] {
        talk.send(&message);
        let asked = peer.next().await;
        assert_eq!((asked.path.as_str(), asked.json()), ("/messages?session=1", message));
        asked.say(200, &[("content-type", "text/plain")], "ok").await;
    }
    stream.event(&question).await;
    stream.event(&result(2, json!({}))).await;
    stream.event(&result(1, json!({}))).await;
    assert_eq!(talk.heard().await, question);
    assert_eq!(talk.heard().await, result(2, json!({})));
    assert_eq!(talk.heard().await, result(1, json!({})));
    // What is not taken is answered, and the rest goes on.
    talk.send(&call(3));
    peer.next().await.say(413, &[], "too much").await;
    assert_eq!(talk.heard().await["error"]["code"], -31005);
    drop(stream);
    let (code, reason) = talk.ended().await;
    assert!(code == 75 && reason.contains("ended the stream"), "{reason}");
}

#[tokio::test]
async fn a_server_that_does_not_know_the_newer_transport_is_found_out() {
    for (status, address) in [(404, "messages?session=1"), (405, "/messages?session=1"), (400, "")] {
        let mut peer = Peer::new().await;
        let mut talk = talk_to(&peer, Transport::Auto).await;
        talk.send(&initialize());
        peer.next().await.say(status, &[("content-type", "text/html")], "<html>Cannot POST").await;
        let absolute = format!("http://{}/messages?session=1", peer.address);
        let address = if address.is_empty() { &absolute } else { address };
        let stream = open(&mut peer, &mut talk, address).await;
        let stopping = tokio::spawn(async move { talk.stop().await });
        stream.hung_up().await;
        assert_eq!(stopping.await.expect("it stops").0, 0);
    }
}

#[tokio::test]
async fn what_is_no_server_at_all_is_told_so() {
    let mut peer = Peer::new().await;
    let mut talk = talk_to(&peer, Transport::Auto).await;
    talk.send(&initialize());
    peer.next().await.say(404, &[], "").await;
    peer.next().await.say(403, &[], "").await;
    let answer = talk.heard().await;
    let reason = answer["error"]["message"].as_str().expect("a text");
    assert!(reason.contains("no MCP server") && reason.contains("404") && reason.contains("403"), "{reason}");

    // One that speaks JSON-RPC is believed instead.
    let mut talk = talk_to(&peer, Transport::Auto).await;
    talk.send(&initialize());
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "not this version"}});
    peer.next().await.say(400, &[("content-type", "application/json")], &error.to_string()).await;
    peer.next().await.say(405, &[], "").await;
    let answer = talk.heard().await;
    assert_eq!((&answer["id"], &answer["error"]), (&json!(0), &error["error"]));
}

#[tokio::test]
async fn credentials_do_not_go_to_an_address_of_another_origin() {
    let (mut peer, other) = (Peer::new().await, Peer::new().await);
    for (address, expected) in [
        (format!("http://{}/messages?key=hidden", other.address), format!("belongs to http://{}", other.address)),
        ("data:text/plain,x".to_owned(), "cannot be read".to_owned()),
    ] {
        let mut talk = talk_to(&peer, Transport::Sse).await;
        talk.send(&initialize());
        let mut stream = peer.next().await;
        stream.events().await;
        stream.raw(format!("event: endpoint\ndata: {address}\n\n").as_bytes()).await;
        let (code, reason) = talk.ended().await;
        assert_eq!(code, 75);
        assert!(reason.contains(&expected) && !reason.contains("hidden"), "{reason}");
        assert!(!other.has_next(), "nobody else is asked");
    }
}

#[tokio::test]
async fn a_stream_that_ends_before_the_address_ends_it() {
    let mut peer = Peer::new().await;
    let mut talk = talk_to(&peer, Transport::Sse).await;
    talk.send(&initialize());
    let mut stream = peer.next().await;
    stream.events().await;
    drop(stream);
    let (code, reason) = talk.ended().await;
    assert!(code == 75 && reason.contains("ended the stream"), "{reason}");
}
