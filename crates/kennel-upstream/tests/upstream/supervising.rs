//! A server elsewhere under the supervisor: its failures are those of a process, and say nothing that is not so.

use crate::peer::Peer;
use crate::support::{SOON, initialize, introduction, launcher, result};
use kennel_supervisor::{
    Backoff, End, EraPlan, Failure, Generation, Instance, Introduction, LifecycleEvent, Link, Next, Noise, Phase,
    Receiver, RestartBudget, Settings, Stage, State,
};
use kennel_upstream::Upstream;
use kennel_wire::{Era, Message, RawJson};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

#[derive(Default)]
struct Recorder(watch::Sender<Heard>);

#[derive(Default, Clone)]
struct Heard {
    ready: Vec<Era>,
    refused: Vec<Era>,
    failures: Vec<(Failure, Next)>,
    parked: bool,
}

impl Recorder {
    async fn until(&self, wanted: impl Fn(&Heard) -> bool) -> Heard {
        let mut heard = self.0.subscribe();
        timeout(SOON, heard.wait_for(|heard| wanted(heard))).await.expect("it is told soon").expect("it lives").clone()
    }
}

impl Receiver for Recorder {
    fn ready(&self, link: &Link) {
        self.0.send_modify(|heard| heard.ready.push(link.handshake.era));
    }

    async fn message(&self, _generation: Generation, _message: Message) {}

    fn noise(&self, _generation: Generation, noise: Noise) {
        panic!("{noise:?}");
    }

    fn diagnostics(&self, _generation: Generation, _line: &[u8]) {}

    fn era_refused(&self, era: Era) {
        self.0.send_modify(|heard| heard.refused.push(era));
    }

    fn gone(&self, _generation: Generation, _end: &End) {}

    fn failed(&self, failure: &Failure, next: Next) {
        self.0.send_modify(|heard| heard.failures.push((failure.clone(), next)));
    }

    fn event(&self, event: &LifecycleEvent) {
        self.0.send_modify(|heard| heard.parked |= event.state == State::Parked);
    }
}

fn instance(url: &str, recorder: &Arc<Recorder>, first: Era) -> Instance {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let raw = |value: &serde_json::Value| RawJson::parse(value.to_string()).expect("JSON");
    let (legacy, modern) = (raw(&initialize()["params"]), raw(&meta));
    let introduction = Introduction { legacy, modern, owner: None, is_stateless: false };
    let moment = Duration::from_millis(1);
    let settings = Settings {
        backoff: Backoff { base: moment, max: moment, jitter_percent: 0 },
        restarts: RestartBudget { count: 2, window: Duration::from_hours(1) },
        ..Settings::default()
    };
    let launcher = Arc::new(launcher(Upstream::new(url).expect("an address")));
    let plan = EraPlan { first, is_fixed: false };
    Instance::new(settings, introduction, plan, launcher, Arc::clone(recorder), Stage::default())
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_within_the_budget_and_refuses_no_era() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    drop(listener);
    let recorder = Arc::new(Recorder::default());
    let instance = instance(&url, &recorder, Era::Modern);
    instance.wake();
    let heard = recorder.until(|heard| heard.parked).await;
    assert_eq!(heard.failures.len(), 3, "the first start and two restarts");
    for (failure, _) in &heard.failures {
        assert_eq!(failure.phase, Phase::StartProcess);
        assert!(failure.to_string().contains("cannot be reached"), "{failure}");
    }
    assert!(heard.refused.is_empty(), "nobody has refused anything");
    instance.shutdown().await;
}

#[tokio::test]
async fn a_server_of_the_older_era_is_found_out_and_opened_in_it() {
    let mut peer = Peer::new().await;
    let recorder = Arc::new(Recorder::default());
    let instance = instance(&peer.url(), &recorder, Era::Modern);
    instance.wake();
    let discover = peer.next().await;
    assert_eq!(discover.header("mcp-method"), Some("server/discover"));
    discover.say(400, &[("content-type", "text/plain")], "no session").await;
    let opening = peer.next().await;
    assert_eq!((&opening.json()["method"], opening.header("mcp-method")), (&json!("initialize"), None));
    let answer = result(opening.json()["id"].clone(), introduction()).to_string();
    opening.say(200, &[("content-type", "application/json"), ("mcp-session-id", "s-1")], &answer).await;
    peer.next().await.accept().await;
    let heard = recorder.until(|heard| !heard.ready.is_empty()).await;
    assert_eq!((heard.ready, heard.refused), (vec![Era::Legacy], vec![Era::Modern]));
    assert!(heard.failures.is_empty());
    // When the server forgets the session, the process ends with the reason, and another one opens a new one.
    peer.next().await.say(405, &[], "").await;
    instance.suspect();
    let probe = peer.next().await;
    assert_eq!((&probe.json()["method"], probe.header("mcp-session-id")), (&json!("ping"), Some("s-1")));
    probe.say(404, &[], "").await;
    let again = peer.next().await;
    assert_eq!((&again.json()["method"], again.header("mcp-session-id")), (&json!("initialize"), None));
    let heard = recorder.until(|heard| !heard.failures.is_empty()).await;
    let (failure, _) = &heard.failures[0];
    assert!(failure.stderr.last().is_some_and(|line| line.contains("no longer knows the session")), "{failure:?}");
    let shutdown = instance.shutdown();
    timeout(SOON, shutdown).await.expect("it ends soon");
}
