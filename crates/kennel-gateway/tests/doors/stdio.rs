//! The stdio door.

use crate::support::{SOON, call, echo, hub, initialize, request, text_of};
use kennel_gateway::{Limits, serve_stdio};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// A client of the door.
pub(crate) struct Pipe {
    pub(crate) input: DuplexStream,
    output: BufReader<DuplexStream>,
}

impl Pipe {
    async fn write(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).await.expect("it is taken");
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n")).await;
    }

    pub(crate) async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        timeout(SOON, self.output.read_line(&mut line)).await.expect("something comes soon").expect("text");
        if line.is_empty() { None } else { Some(serde_json::from_str(&line).expect("JSON")) }
    }

    pub(crate) async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.read().await.expect("an answer")
    }
}

/// Runs a test against the door and checks that it ends with its input, and everything with it.
pub(crate) async fn with_door(limits: Limits, test: impl AsyncFnOnce(Pipe, crate::support::Gate) -> Option<Pipe>) {
    let (hub, engine, gate, _executor) = hub();
    let (input, door_input) = duplex(1024);
    let (door_output, output) = duplex(1024);
    let shutdown = CancellationToken::new();
    let door = serve_stdio(kennel_hub::Endpoint::Server(hub.clone()), door_input, door_output, &limits, &shutdown);
    let testing = test(Pipe { input, output: BufReader::new(output) }, gate);
    let (rest, ()) = timeout(SOON * 2, async { tokio::join!(testing, door) }).await.expect("it ends");
    drop(rest);
    hub.shutdown().await;
    assert_eq!(engine.live(), 0, "a process is left");
}

#[tokio::test]
async fn a_client_talks_line_by_line() {
    with_door(Limits::default(), async |mut pipe, gate| {
        let answer = pipe.ask(&initialize("2025-11-25")).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
        pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!(text_of(&pipe.ask(&echo("a", "hello")).await), "hello");
        // Two at once, and notes before the answer.
        pipe.send(&call(7, "steps", &json!({"count": 2}))).await;
        for number in 1..=2 {
            let note = pipe.read().await.unwrap();
            assert_eq!(note["params"], json!({"progressToken": 7, "progress": number}));
        }
        assert_eq!(pipe.ask(&echo(8, "in between")).await["id"], 8);
        gate.open(1);
        assert_eq!(pipe.read().await.unwrap()["id"], 7);
        pipe.send(&call(9, "announce", &json!({}))).await;
        let mut both = [pipe.read().await.unwrap(), pipe.read().await.unwrap()];
        both.sort_by_key(|message| message["id"].is_null());
        assert_eq!((&both[0]["id"], &both[1]["method"]), (&json!(9), &json!("notifications/tools/list_changed")));
        None
    })
    .await;
}

#[tokio::test]
async fn a_script_may_write_everything_first_and_then_read() {
    with_door(Limits::default(), async |mut pipe, gate| {
        let messages = [
            initialize("2025-11-25"),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            echo(1, "one"),
            call(2, "hold", &json!({})),
        ];
        pipe.write(&messages.map(|message| message.to_string()).join("\n")).await;
        pipe.input.shutdown().await.unwrap();
        assert_eq!(pipe.read().await.unwrap()["id"], 0);
        assert_eq!(pipe.read().await.unwrap()["id"], 1);
        gate.open(1);
        assert_eq!(pipe.read().await.unwrap()["id"], 2);
        assert_eq!(pipe.read().await, None);
        None
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_not_waited_for_after_the_end() {
    with_door(Limits { drain: Duration::from_millis(50), ..Limits::default() }, async |mut pipe, _gate| {
        pipe.ask(&initialize("2025-11-25")).await;
        pipe.send(&call(2, "hold", &json!({}))).await;
        pipe.input.shutdown().await.unwrap();
        assert_eq!(pipe.read().await, None);
        None
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_passed_over() {
    with_door(Limits { message_bytes: 1000, ..Limits::default() }, async |mut pipe, _gate| {
        assert_eq!(pipe.ask(&request(1, "tools/list", &json!({}))).await["error"]["code"], -32600);
        assert_eq!(
            pipe.ask(&request("p", "ping", &json!({}))).await,
            json!({"jsonrpc": "2.0", "id": "p", "result": {}})
        );
        pipe.ask(&initialize("2025-11-25")).await;
        pipe.write("not json\n").await;
        assert_eq!(pipe.read().await.unwrap()["error"]["code"], -32700);
        pipe.write(&format!("{}\n", echo(1, &"x".repeat(1000)))).await;
        let error = pipe.read().await.unwrap();
        assert!(error["error"]["message"].as_str().unwrap().contains("1000"), "{error}");
        assert_eq!(pipe.ask(&json!([echo(2, "batch")])).await["error"]["code"], -32600);
        assert_eq!(text_of(&pipe.ask(&echo(3, "fine")).await), "fine");
        None
    })
    .await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_for_a_while_loses_nothing() {
    with_door(Limits::default(), async |mut pipe, gate| {
        pipe.ask(&initialize("2025-11-25")).await;
        gate.open(50);
        // Neither the requests nor the answers fit into the pipes.
        for id in 0..50 {
            pipe.send(&call(id, "large", &json!({"bytes": 50_000}))).await;
        }
        let mut ids = Vec::new();
        for _ in 0..50 {
            let answer = pipe.read().await.unwrap();
            assert_eq!(text_of(&answer).len(), 50_000);
            ids.push(answer["id"].as_i64().unwrap());
        }
        ids.sort_unstable();
        assert_eq!(ids, (0..50).collect::<Vec<_>>());
        None
    })
    .await;
}

#[tokio::test]
async fn a_script_may_write_all_that_it_has_before_it_reads() {
    let limits = Limits { drain: Duration::from_millis(100), ..Limits::default() };
    with_door(limits, async |mut pipe, _gate| {
        pipe.ask(&initialize("2025-11-25")).await;
        // All but the first of them are refused at once, because so many are not answered.
        for number in 0..3000 {
            pipe.send(&call(number, "hold", &json!({}))).await;
        }
        for _ in 1024..3000 {
            assert_eq!(pipe.read().await.expect("an answer")["error"]["code"], -31004);
        }
        None
    })
    .await;
}
