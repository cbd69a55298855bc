//! A server that does everything wrong, with many clients; and what is left when the gateway itself is killed.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use support::gateway::{Client, Connection, Gateway};
use support::processes::{processes_with, unique_mark};
use support::programs::fixture;
use support::waiting::{SOON, settle};
use support::{alone, announce, leftovers};

const CLIENTS: usize = 200;
/// Longer than a call may take, a restart, and the wait of a busy machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// How long each storm lasts; longer on demand.
fn duration() -> Duration {
    let seconds = std::env::var("KENNEL_TEST_CHAOS_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(20))
}

/// A small generator of numbers that need not be good.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What a client asks for next: mostly something harmless.
fn next(dice: &mut Dice, calls: usize, mark: &str) -> (&'static str, Value) {
    match dice.roll(600) {
        0 => ("die", json!({ "signal": 9 })),
        1 => ("die", json!({ "code": 3 })),
        2 => ("hang", json!({})),
        3 => ("hang", json!({ "all": true })),
        4 => ("close_stdout", json!({})),
        5 => ("spawn_grandchildren", json!({ "count": 3, "marker": mark })),
        6..30 => ("junk", json!({ "lines": 3 })),
        30..60 => ("sleep", json!({ "ms": 20 })),
        _ => ("echo", json!({ "message": format!("call {calls}") })),
    }
}

#[derive(Default)]
struct Tally {
    outcomes: BTreeMap<String, usize>,
    longest: Duration,
}

/// One client: every request must get exactly one answer under its id, in time.
fn storm(address: &str, mark: &str, number: usize, until: Instant, tally: &Mutex<Tally>) {
    let mut dice = Dice(number as u64 + 1);
    let mut client = None;
    let mut calls = 0;
    while Instant::now() < until {
        calls += 1;
        let count = |what: &str, took: Duration| {
            let mut tally = tally.lock().unwrap();
            *tally.outcomes.entry(what.to_owned()).or_default() += 1;
            tally.longest = tally.longest.max(took);
            assert!(took < DEADLINE, "{what} after {took:?}");
        };
        let start = Instant::now();
        let Some(open) = &mut client else {
            // A connection must never be refused; a session may be, with an error, while nothing can be started.
            let connection = Connection::open(address).expect("the endpoint takes connections");
            drop(connection);
            match Client::open(address, json!({})) {
                Ok(opened) => client = Some(opened),
                Err(error) => count(&format!("no session: {}", code(&error.to_string())), start.elapsed()),
            }
            continue;
        };
        let (tool, arguments) = next(&mut dice, calls, mark);
        let id = json!(calls % 3);
        let messages = open.call(id.clone(), tool, arguments.clone()).unwrap_or_else(|error| panic!("{tool}: {error}"));
        let answers: Vec<_> = messages.iter().filter(|message| message.get("id") == Some(&id)).collect();
        assert_eq!(answers.len(), 1, "{tool}: {messages:?}");
        if answers[0].get("error").is_some() {
            count(&answers[0]["error"]["code"].to_string(), start.elapsed());
        } else {
            if tool == "echo" {
                assert_eq!(answers[0]["result"]["content"][0]["text"], arguments["message"]);
            }
            count(tool, start.elapsed());
        }
        if dice.roll(50) == 0
            && let Some(mut client) = client.take()
        {
            let headers = [("mcp-session-id", client.session.as_str())];
            let deleted = client.connection.request("DELETE", "/mcp", &headers, b"").expect("the session ends");
            assert!((200..300).contains(&deleted.status), "{deleted:?}");
        }
    }
}

fn code(text: &str) -> String {
    let start = text.find("\"code\":").map(|at| at + 7);
    start
        .map(|at| text[at..].chars().take_while(|letter| !matches!(letter, ',' | '}')).collect())
        .unwrap_or(text.to_owned())
}

fn weather(model: &str) -> Tally {
    let _alone = alone();
    let (cgroups, mark) = (leftovers::ownerless_cgroups(), unique_mark());
    let flags = [
        "--model",
        model,
        "--call-timeout",
        "3",
        "--restarts",
        "100000",
        "--restart-delay",
        "0.05",
        "--max-processes",
        "250",
    ];
    let gateway = Gateway::start(&flags, &[fixture().as_os_str(), OsStr::new("--state-dir"), OsStr::new(&mark)]);
    let tally = Mutex::new(Tally::default());
    let until = Instant::now() + duration();
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (address, mark, tally) = (&gateway.address, &mark, &tally);
            scope.spawn(move || storm(address, mark, number, until, tally));
        }
    });
    let tally = tally.into_inner().unwrap();
    announce(&format!("{model}: longest {:?}, {:?}", tally.longest, tally.outcomes));
    let (status, log) = gateway.stop();
    assert!(status.success(), "{status}: {}", &log[log.len().saturating_sub(4000)..]);
    nothing_remains(&mark);
    no_cgroup_remains(&cgroups);
    tally
}

#[track_caller]
fn nothing_remains(mark: &str) {
    let remains = || {
        let processes = processes_with(mark);
        (!processes.is_empty())
            .then(|| format!("{:?}", processes.iter().map(|process| &process.line).collect::<Vec<_>>()))
    };
    settle(SOON * 2, remains).unwrap();
}

/// Of this test, beside those that were there before.
#[track_caller]
fn no_cgroup_remains(before: &BTreeSet<PathBuf>) {
    let remains = || {
        let new: Vec<_> = leftovers::ownerless_cgroups().difference(before).cloned().collect();
        (!new.is_empty()).then(|| format!("{new:?}"))
    };
    settle(SOON * 4, remains).unwrap();
}

#[test]
fn with_a_shared_process_every_request_is_answered_once_and_nothing_remains() {
    let tally = weather("shared");
    for outcome in ["echo", "junk", "-31001", "-31003"] {
        assert!(tally.outcomes.contains_key(outcome), "the storm had no {outcome}: {:?}", tally.outcomes);
    }
}

#[test]
fn with_a_process_per_session_every_request_is_answered_once_and_nothing_remains() {
    let tally = weather("per-session");
    for outcome in ["echo", "junk", "-31001"] {
        assert!(tally.outcomes.contains_key(outcome), "the storm had no {outcome}: {:?}", tally.outcomes);
    }
}

#[test]
fn a_killed_gateway_leaves_nothing_and_the_next_starts_clean() {
    let _alone = alone();
    let (cgroups, mark) = (leftovers::ownerless_cgroups(), unique_mark());
    let command = [fixture().as_os_str(), OsStr::new("--state-dir"), OsStr::new(&mark)];
    let mut gateway = Gateway::start(&[], &command);
    let mut clients: Vec<_> = (0..5).map(|_| gateway.session(json!({}))).collect();
    for client in &mut clients {
        client.text("spawn_grandchildren", json!({ "count": 2, "marker": mark }));
    }
    assert!(processes_with(&mark).len() >= 15, "processes and their descendants run");
    gateway.kept.signal(Signal::KILL);
    gateway.kept.end(&mut []);
    nothing_remains(&mark);
    let next = Gateway::start(&[], &command);
    assert_eq!(next.session(json!({})).text("echo", json!({ "message": "hi" })), "hi");
    let (status, log) = next.stop();
    assert!(status.success(), "{status}: {log}");
    nothing_remains(&mark);
    no_cgroup_remains(&cgroups);
}
