//! Requests that stand for themselves (2026-07-28): what they carry, and what ends them.

use crate::peer::{Asked, Peer};
use crate::support::{Talk, hurried, note, request, result};
use kennel_upstream::{Transport, Upstream};
use serde_json::{Value, json};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A request as this era has it.
pub(crate) fn modern(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    request(id, method, &params)
}

async fn discovered(peer: &mut Peer) -> Talk {
    let mut talk = Talk::with(&peer.url()).await;
    talk.send(&modern("d", "server/discover", json!({})));
    let asked = peer.next().await;
    assert_eq!(mirrored(&asked), (Some("2026-07-28"), Some("server/discover"), None));
    asked.result(json!({"supportedVersions": ["2026-07-28"]})).await;
    talk.heard().await;
    talk
}

fn mirrored(asked: &Asked) -> (Option<&str>, Option<&str>, Option<&str>) {
    (asked.header("mcp-protocol-version"), asked.header("mcp-method"), asked.header("mcp-name"))
}

#[tokio::test]
async fn each_request_has_headers_that_repeat_it_and_no_session() {
    let mut peer = Peer::new().await;
    let mut talk = discovered(&mut peer).await;
    talk.send(&modern(1, "tools/call", json!({"name": "zwölf", "arguments": {}})));
    let mut asked = peer.next().await;
    assert_eq!(mirrored(&asked), (Some("2026-07-28"), Some("tools/call"), Some("=?base64?enfDtmxm?=")));
    assert_eq!((asked.header("mcp-session-id"), asked.header("last-event-id")), (None, None));
    asked.head(200, &[("content-type", "text/event-stream"), ("mcp-session-id", "ignored")]).await;
    asked.event(&note(1)).await;
    asked.event(&result(1, json!({"resultType": "complete"}))).await;
    assert_eq!(talk.heard().await, note(1));
    assert_eq!(talk.heard().await, result(1, json!({"resultType": "complete"})));
    talk.send(&modern(2, "tools/list", json!({})));
    let asked = peer.next().await;
    assert_eq!(asked.header("mcp-session-id"), None);
    asked.result(json!({"tools": []})).await;
    assert_eq!(talk.heard().await, result(2, json!({"tools": []})));
    // There is no session to say goodbye to.
    assert_eq!(talk.stop().await, (0, String::new()));
    assert!(!peer.has_next());
}

#[tokio::test]
async fn a_request_is_given_up_by_hanging_up() {
    let mut peer = Peer::new().await;
    let mut talk = discovered(&mut peer).await;
    talk.send(&modern(1, "tools/call", json!({"name": "slow"})));
    let asked = peer.next().await;
    talk.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    asked.hung_up().await;
    talk.send(&modern(2, "tools/call", json!({"name": "quick"})));
    let asked = peer.next().await;
    assert_eq!(asked.json()["id"], 2, "nothing was told in words");
    asked.result(json!({})).await;
    assert_eq!(talk.heard().await, result(2, json!({})));
}

#[tokio::test]
async fn a_broken_stream_does_not_come_again() {
    let mut peer = Peer::new().await;
    let mut talk = discovered(&mut peer).await;
    talk.send(&modern(1, "tools/call", json!({"name": "x"})));
    let mut asked = peer.next().await;
    asked.events().await;
    asked.raw(b"id: 1\ndata:\n\n").await;
    drop(asked);
    assert_eq!(talk.heard().await["error"]["code"], -31001);
    assert!(!peer.has_next(), "it is not asked for again");
}

#[tokio::test]
async fn a_stream_that_listens_is_opened_again_and_what_may_have_changed_is_told() {
    let mut peer = Peer::new().await;
    let mut talk = discovered(&mut peer).await;
    let listen = modern(5, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    talk.send(&listen);
    let mut asked = peer.next().await;
    assert_eq!(mirrored(&asked), (Some("2026-07-28"), Some("subscriptions/listen"), None));
    asked.events().await;
    asked.event(&note(1)).await;
    assert_eq!(talk.heard().await, note(1));
    drop(asked);
    let told = talk.heard().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
    let mut again = peer.next().await;
    assert_eq!(again.json(), listen);
    again.events().await;
    again.event(&note(2)).await;
    assert_eq!(talk.heard().await, note(2), "of other lists nothing is told");
    // A stream that ends in order has an answer.
    again.event(&result(5, json!({"resultType": "complete"}))).await;
    assert_eq!(talk.heard().await, result(5, json!({"resultType": "complete"})));
}

#[tokio::test]
async fn a_server_of_the_other_era_refuses_with_an_error() {
    for (status, body) in [(400, "Bad Request: no session"), (404, "<html>"), (405, "")] {
        let mut peer = Peer::new().await;
        let mut talk = Talk::with(&peer.url()).await;
        talk.send(&modern("d", "server/discover", json!({})));
        peer.next().await.say(status, &[("content-type", "text/plain")], body).await;
        let answer = talk.heard().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("d"), &json!(-32603)), "{answer}");
        assert_eq!(talk.stop().await.0, 0);
    }
    let mut peer = Peer::new().await;
    let mut talk = Talk::with(&peer.url()).await;
    talk.send(&modern("d", "server/discover", json!({})));
    peer.next().await.say(503, &[], "later").await;
    let (code, reason) = talk.ended().await;
    assert!(code == 75 && reason.contains("later"), "what is no refusal ends it: {reason}");
}

#[tokio::test]
async fn the_older_transport_knows_nothing_of_this_era() {
    let peer = Peer::new().await;
    let upstream = Upstream::new(&peer.url()).expect("an address").transport(Transport::Sse).limits(hurried());
    let mut talk = Talk::to(upstream).await;
    talk.send(&modern("d", "server/discover", json!({})));
    assert_eq!(talk.heard().await["error"]["code"], -32601);
    assert!(!peer.has_next(), "nobody is asked");
}
