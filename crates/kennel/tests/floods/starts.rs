//! Processes that start are bounded over all servers of a gateway.

use crate::gateway::settled;
use crate::support;
use crate::support::caller::myself;
use crate::support::gateway::Client;
use crate::support::ground::Ground;
use crate::support::processes::processes_with;
use crate::support::running::{Collected, Kept};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The rows of the page that are driven here.
pub(crate) const ROWS: [&str; 1] = ["starts"];

/// A server that takes half a second to answer its first request.
const SLOW: &str = r#"
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        time.sleep(0.5)
        # Seen before anybody can take its turn.
        print("ready", file=sys.stderr, flush=True)
        time.sleep(0.2)
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {},
                  "serverInfo": {"name": "slow", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn processes_that_start_at_once_are_bounded_over_all_servers() {
    let _alone = support::alone();
    let ground = Ground::new(myself());
    let script = ground.make_file("work/slow.py", SLOW, 0o644);
    let mut file = "[gateway]\nstarts = 2\n\n".to_owned();
    for name in ["one", "two", "three"] {
        writeln!(file, "[servers.{name}]\ncommand = \"python3\"\nargs = [{script:?}]\nera = \"legacy\"\n").unwrap();
    }
    let file = ground.make_file("work/kennel.toml", file, 0o600);
    let mut serve = ground.kennel(["serve", "--json", "--listen", "127.0.0.1:0", "-c"]);
    serve.arg(file).arg("--data").arg(ground.path("work/data")).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut kept = Kept::start(serve);
    let log = Mutex::new(Collected::from(kept.stderr()));
    let lines = |wanted: &str| {
        let mut log = log.lock().unwrap();
        log.take_all();
        let events: Vec<Value> = log.text().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        events.into_iter().filter(|event| event["event"] == wanted).collect::<Vec<_>>()
    };
    let serving = settled(|| lines("serving").pop());
    let address = serving["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
    let most = std::thread::scope(|scope| {
        let sessions: Vec<_> = ["one", "two", "three", "one", "two", "three"]
            .map(|name| {
                let address = &address;
                scope.spawn(move || Client::open_at(address, &format!("/servers/{name}/mcp"), json!({})).unwrap())
            })
            .into();
        let (start, mut most) = (Instant::now(), 0);
        while sessions.iter().any(|session| !session.is_finished()) {
            // In this order: what has become ready in between is not counted as starting.
            let running = processes_with(script.to_str().unwrap()).len();
            let ready = lines("diagnostics").iter().filter(|event| event["text"] == "ready").count();
            most = most.max(running.saturating_sub(ready));
            assert!(start.elapsed() < Duration::from_secs(90), "{running} run, {ready} are ready");
            std::thread::sleep(Duration::from_millis(5));
        }
        for session in sessions {
            session.join().unwrap();
        }
        most
    });
    assert!((1..=2).contains(&most), "{most} were starting at once");
    kept.signal(Signal::INT);
    kept.end(&mut [&mut *log.lock().unwrap()]);
    ground.assert_clean();
}
