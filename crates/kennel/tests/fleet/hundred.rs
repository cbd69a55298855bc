//! A hundred servers at once, on whatever machine this is: the good ones answer, and the broken ones disturb nobody.

use crate::broken::{self, Broken};
use crate::good::{self, Good};
use crate::scene::{File, Scene};
use crate::support::announce;
use crate::support::gateway::{Client, Connection, HEADERS};
use crate::support::processes::{proc_text, processes_with, unique_mark};
use crate::support::waiting::{PATIENCE, holds_soon, settle};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Instant;

/// How many clients call at once.
const CLIENTS: usize = 6;
/// Far more than Kennel needs without optimization; what it needs is announced.
const MOST_MEMORY_KIB: u64 = 120 * 1024;

/// Does something with each, a few at a time, each worker with something of its own.
fn with_each<T: Send, W>(all: Vec<T>, worker: impl Fn() -> W + Sync, act: impl Fn(&mut W, T) + Sync) {
    let queue = Mutex::new(all.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut own = worker();
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some(next) = next else { return };
                    act(&mut own, next);
                }
            });
        }
    });
}

/// All tools that are listed at `/mcp`.
fn listed(client: &mut Client) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        let answer = client.post(&request).unwrap().messages().pop().expect("the list is answered");
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {answer}"));
        for tool in tools {
            let name = tool["name"].as_str().unwrap();
            assert!(name.len() <= 64 && names.insert(name.to_owned()), "too long, or there twice: {name}");
        }
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            return names;
        }
    }
}

/// The text of an error, or of a result that says that it is one.
fn complaint(answer: &Value) -> String {
    let error = answer["error"]["message"].as_str();
    let failed = answer["result"]["content"][0]["text"].as_str().filter(|_| answer["result"]["isError"] == true);
    error.or(failed).unwrap_or_else(|| panic!("no complaint: {answer}")).to_owned()
}

/// A client of a broken server: at its own address, and among all.
fn complains(address: &str, broken: Broken) {
    let Broken { name, told, .. } = broken;
    let arguments = json!({ "message": "hi" });
    let own = json!({ "name": "echo", "arguments": arguments });
    let joined = json!({ "name": format!("{name}__echo"), "arguments": arguments });
    for (path, params) in [(format!("/servers/{name}/rpc"), own), ("/rpc".to_owned(), joined)] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let mut connection = Connection::open(address).unwrap();
        let response = connection.request("POST", &path, &HEADERS, body.as_bytes()).unwrap();
        let answer = response.messages().pop().unwrap_or_else(|| panic!("{}: {}", response.status, response.text()));
        let text = complaint(&answer);
        announce(&format!("  {name} at {path}: {text}"));
        assert!(text.starts_with(name) && text.contains(told), "{name} at {path} says `{text}`, and not `{told}`");
    }
}

/// The memory of a process, in KiB.
fn memory(pid: u32) -> u64 {
    let status = proc_text(pid, "status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it runs");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn is_alive(scene: &Scene) {
    let mut connection = Connection::open(&scene.address).unwrap();
    assert_eq!(connection.request("GET", "/healthz", &[], b"").unwrap().status, 200);
}

#[test]
fn a_hundred_servers_answer_as_one_and_by_themselves_and_ten_broken_ones_disturb_nobody() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().to_owned();
    let mut all: Vec<Good> = Vec::new();
    let write = |file: File, all: &mut Vec<Good>| {
        let (file, fixtures) = good::fixtures(file, 85);
        let (file, real) = good::real(file, &base);
        *all = [fixtures, real].concat();
        broken::broken(file, &base)
    };
    let start = Instant::now();
    let scene = Scene::start_in(place, unique_mark(), |file| write(file, &mut all));
    is_alive(&scene);
    announce(&format!("a fleet of {} serves after {:?}", all.len() + broken::ALL.len(), start.elapsed()));
    std::thread::scope(|scope| {
        // Broken ones are called all the time that good ones are.
        for broken in broken::ALL {
            let address = scene.address.as_str();
            scope.spawn(move || complains(address, broken));
        }
        by_themselves(&scene.address, &all);
        as_one(&scene.address, &all);
    });
    is_alive(&scene);
    for Broken { name, logged, .. } in broken::ALL {
        let log = scene.kennel(&["logs", name]).fine();
        assert!(log.contains(logged), "no `{logged}` in the log of {name}: {log}");
    }
    let known = all_are_listed(&scene, &all);
    announce(&format!("{} tools are listed {:?} after the start", known.len(), start.elapsed()));
    let status = scene.json(&["ps"]);
    assert_eq!(status["servers"].as_array().unwrap().len(), 100);
    let used = memory(scene.kept.pid());
    announce(&format!("Kennel itself uses {} KiB with {} processes", used, scene.processes("").len()));
    assert!(used < MOST_MEMORY_KIB, "{used} KiB");
    let (status, place, mark) = scene.end(Signal::TERM);
    assert!(status.success(), "{status}");
    assert_eq!(processes_with(&mark).len(), 0, "{:?}", processes_with(&mark));
    announce(&format!("ended {:?} after the start", start.elapsed()));

    let text = std::fs::read_to_string(base.join("kennel.toml")).unwrap();
    let start = Instant::now();
    let scene = Scene::start_in(place, mark, |file| file.text(&text));
    let serving = start.elapsed();
    let mut client = Client::open(&scene.address, json!({})).unwrap();
    let again = listed(&mut client);
    let remembering = start.elapsed();
    announce(&format!("after a restart it serves after {serving:?}, and has listed all after {remembering:?}"));
    assert_eq!(again, known, "all is remembered");
    for Good { name, .. } in &all {
        assert_eq!(scene.processes(name).len(), 0, "nothing was started for {name}");
    }
    announce(&format!("Kennel itself uses {} KiB after a restart", memory(scene.kept.pid())));
    let (_, _place, mark) = scene.end(Signal::KILL);
    assert!(holds_soon(|| processes_with(&mark).is_empty()), "{:?}", processes_with(&mark));
}

/// Each good server answers at its own address.
fn by_themselves(address: &str, all: &[Good]) {
    let start = Instant::now();
    with_each(
        all.to_vec(),
        || (),
        |(), Good { name, tool, arguments, says }| {
            let path = format!("/servers/{name}/mcp");
            let mut client = Client::open_at(address, &path, json!({})).unwrap();
            let text = client.text(tool, arguments);
            assert!(text.contains(&says), "{name}: {text}");
            let headers = [HEADERS[0], HEADERS[1], ("mcp-session-id", client.session.as_str())];
            let ended = client.connection.request("DELETE", &client.path, &headers, b"").unwrap();
            assert!(ended.status < 300, "{name}: {}", ended.status);
        },
    );
    announce(&format!("{} servers have answered by themselves in {:?}", all.len(), start.elapsed()));
}

/// Each good server answers where all are one.
fn as_one(address: &str, all: &[Good]) {
    let start = Instant::now();
    with_each(
        all.to_vec(),
        || Client::open(address, json!({})).unwrap(),
        |client, Good { name, tool, arguments, says }| {
            let text = client.text(&format!("{name}__{tool}"), arguments);
            assert!(text.contains(&says), "{name}: {text}");
        },
    );
    announce(&format!("{} servers have answered as one in {:?}", all.len(), start.elapsed()));
}

/// The tools of all, when those of all good servers are there.
fn all_are_listed(scene: &Scene, all: &[Good]) -> BTreeSet<String> {
    let mut client = Client::open(&scene.address, json!({})).unwrap();
    let mut names = BTreeSet::new();
    let missing = settle(PATIENCE, || {
        names = listed(&mut client);
        let wanted = all.iter().map(|Good { name, tool, .. }| format!("{name}__{tool}"));
        let slow = ["slow__echo".to_owned()];
        let missing: Vec<_> = wanted.chain(slow).filter(|name| !names.contains(name)).collect();
        (!missing.is_empty()).then(|| format!("not listed: {missing:?}"))
    });
    missing.unwrap_or_else(|missing| panic!("{missing}"));
    names
}
