use super::super::patience::Patience;
use super::*;
use crate::channel::{Channel, ChannelLimits, HEADER_BYTES};
use crate::notebook::{CallTool, DescribeTools, HostFuture};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};
use serde_json::{Value, json};
use std::os::fd::OwnedFd;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(1);

/// Answers with the name of the tool, panics at `panic`, and never answers `hold`.
struct Fixture;

impl Host for Fixture {
    fn ask<'a>(&'a self, _: &'a CellContext, ask: Ask) -> HostFuture<'a, Result<Box<RawValue>, AskError>> {
        Box::pin(async move {
            let Ask::CallTool(call) = ask else { return Ok(RawValue::from_string("null".to_owned()).unwrap()) };
            match call.tool.as_str() {
                "panic" => panic!("as asked"),
                "hold" => std::future::pending().await,
                tool => Ok(serde_json::value::to_raw_value(tool).unwrap()),
            }
        })
    }
}

struct Bench {
    asks: Asks,
    inner: OwnedFd,
    _channel: Channel,
}

impl Bench {
    fn new(limits: NotebookLimits) -> Self {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (outer, inner) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        let channel = Channel::new(outer, ChannelLimits::default()).unwrap();
        let context = CellContext {
            holder: crate::owner::Holder::stateless(crate::owner::Owner::new("alice", None)),
            session: "main".into(),
            cell: "c1".into(),
            servers: Some(vec!["fix".to_owned()].into()),
            patience: Patience::default(),
        };
        let token = Token::random().unwrap();
        let sender = channel.sender.clone();
        let asks = Asks::new(Arc::new(Fixture), Arc::new(context), sender, token, Arc::new(limits));
        Self { asks, inner, _channel: channel }
    }

    fn call(&mut self, number: u64, alias: &str, tool: &str) {
        let call = CallTool { alias: alias.to_owned(), tool: tool.to_owned(), arguments: None };
        self.asks.take(number, Ok(Ask::CallTool(call)), 10);
    }

    /// The next reply.
    async fn reply(&mut self) -> Value {
        let mut packet = vec![0; 70_000];
        let received = async {
            loop {
                if let Ok((length, _)) = recv(&self.inner, &mut packet[..], RecvFlags::DONTWAIT) {
                    return serde_json::from_slice(&packet[HEADER_BYTES..length]).unwrap();
                }
                // What ends meanwhile makes room for others.
                let _ = tokio::time::timeout(Duration::from_millis(1), self.asks.over()).await;
            }
        };
        tokio::time::timeout(PATIENCE, received).await.unwrap()
    }
}

#[tokio::test]
async fn servers_that_the_cell_may_not_use_are_refused() {
    let mut bench = Bench::new(NotebookLimits::default());
    bench.call(1, "other", "echo");
    let reply = bench.reply().await;
    assert_eq!((&reply["n"], &reply["error"]["kind"]), (&json!(1), &json!("refused")), "{reply}");
    let describe = DescribeTools { alias: "other".to_owned(), tools: None };
    bench.asks.take(2, Ok(Ask::DescribeTools(describe)), 10);
    assert_eq!(bench.reply().await["error"]["kind"], "refused");
    bench.call(3, "fix", "echo");
    assert_eq!(bench.reply().await, json!({ "t": "reply", "n": 3, "ok": "echo" }));
    assert_eq!(bench.asks.calls(), 1);
}

#[tokio::test]
async fn requests_are_bounded_in_number_and_bytes() {
    let mut bench = Bench::new(NotebookLimits { asks: 3, ask_bytes: 25, ..NotebookLimits::default() });
    bench.call(1, "fix", "hold");
    bench.call(2, "fix", "hold");
    bench.call(3, "fix", "echo");
    let reply = bench.reply().await;
    assert_eq!((&reply["n"], &reply["error"]["kind"]), (&json!(3), &json!("limit")), "{reply}");
    bench.asks.cancel(1);
    bench.call(4, "fix", "echo");
    assert_eq!(bench.reply().await["ok"], "echo");
    bench.call(5, "fix", "echo");
    let reply = bench.reply().await;
    assert!(reply["error"]["message"].as_str().unwrap().contains("a cell may make 3 requests"), "{reply}");
}

#[tokio::test]
async fn one_that_waits_for_its_turn_gets_it() {
    let mut bench = Bench::new(NotebookLimits { asks_at_once: 1, ..NotebookLimits::default() });
    bench.call(1, "fix", "hold");
    bench.call(2, "fix", "echo");
    tokio::task::yield_now().await;
    bench.asks.cancel(1);
    assert_eq!(bench.reply().await["n"], 2);
}

#[tokio::test]
async fn a_number_that_is_in_use_is_not_taken_again() {
    let mut bench = Bench::new(NotebookLimits::default());
    bench.call(1, "fix", "hold");
    bench.call(1, "fix", "echo");
    bench.call(2, "fix", "echo");
    assert_eq!(bench.reply().await["n"], 2);
    assert_eq!(bench.asks.calls(), 2);
}

#[tokio::test]
async fn a_host_that_panics_is_an_error_of_the_call() {
    let mut bench = Bench::new(NotebookLimits::default());
    bench.call(1, "fix", "panic");
    let reply = bench.reply().await;
    assert_eq!((&reply["n"], &reply["error"]["kind"]), (&json!(1), &json!("protocol")), "{reply}");
}

#[tokio::test]
async fn nothing_is_begun_for_a_cell_that_is_to_stop() {
    let mut bench = Bench::new(NotebookLimits::default());
    bench.call(1, "fix", "hold");
    bench.asks.interrupt();
    bench.call(2, "fix", "echo");
    let reply = bench.reply().await;
    assert_eq!((&reply["n"], &reply["error"]["kind"]), (&json!(2), &json!("refused")), "{reply}");
}
