//! The file is edited again and again while fifty clients call: no call is lost, and what did not change is not touched.

use crate::scene::{File, Scene};
use crate::support::announce;
use crate::support::gateway::Client;
use crate::support::waiting::{PATIENCE, holds_soon, settle};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// How the file is after an edit.
#[derive(Clone, Copy)]
struct Edit {
    version: &'static str,
    is_added: bool,
    is_removed: bool,
}

const EDITS: [Edit; 4] = [
    Edit { version: "one", is_added: false, is_removed: false },
    Edit { version: "two", is_added: false, is_removed: false },
    Edit { version: "three", is_added: true, is_removed: false },
    Edit { version: "four", is_added: true, is_removed: true },
];

impl Edit {
    fn write(self, file: File) -> File {
        let version = format!("env = {{ VERSION = {:?} }}", self.version);
        let mut file = file
            .fixture("changing", &[], &format!("model = \"shared\"\n{version}"))
            .fixture("changing_modern", &["--era", "modern"], &format!("model = \"shared\"\n{version}"))
            .fixture("changing_own", &[], &version)
            .fixture("same", &[], "model = \"shared\"")
            .fixture("same_modern", &["--era", "modern"], "model = \"shared\"")
            .fixture("same_own", &[], "");
        if self.is_added {
            file = file.fixture("added", &[], "model = \"shared\"");
        }
        if !self.is_removed {
            file = file.fixture("leaving", &[], "model = \"shared\"");
        }
        file
    }
}

/// How many clients call what, and where.
const CLIENTS: [(usize, &str, &str); 10] = [
    // Twenty of servers that change ...
    (7, "/servers/changing/mcp", ""),
    (5, "/servers/changing_modern/mcp", ""),
    (3, "/servers/changing_own/mcp", ""),
    (5, "/mcp", "changing__"),
    // ... and thirty of others.
    (8, "/servers/same/mcp", ""),
    (7, "/servers/same_modern/mcp", ""),
    (3, "/servers/same_own/mcp", ""),
    (4, "/mcp", "same__"),
    (4, "/servers/leaving/mcp", ""),
    (4, "/mcp", "leaving__"),
];

/// A client that calls without end.
struct Calling {
    client: Client,
    /// What stands before the names of tools.
    prefix: &'static str,
    answers: u64,
}

impl Calling {
    /// Calls until it is told to stop, or something goes wrong; says what.
    fn go(&mut self, stop: &AtomicBool, total: &AtomicU64) -> Option<String> {
        let tool = format!("{}echo", self.prefix);
        while !stop.load(Ordering::Relaxed) {
            let id = total.fetch_add(1, Ordering::Relaxed);
            let words = format!("call {id}");
            let messages = match self.client.call(id, &tool, json!({ "message": words })) {
                Ok(messages) => messages,
                Err(error) => return Some(error.to_string()),
            };
            let answers: Vec<_> = messages.iter().filter(|message| message.get("method").is_none()).collect();
            assert!(answers.len() == 1 && answers[0]["id"] == id, "call {id} is answered once: {messages:?}");
            if answers[0]["result"]["content"][0]["text"] != words.as_str() {
                return Some(answers[0].to_string());
            }
            self.answers += 1;
        }
        None
    }
}

fn start(scene: &Scene, stop: &Arc<AtomicBool>, total: &Arc<AtomicU64>) -> Vec<JoinHandle<(Calling, Option<String>)>> {
    let all = CLIENTS.iter().flat_map(|(count, path, prefix)| std::iter::repeat_n((*path, *prefix), *count));
    let start = |(path, prefix)| {
        let client = Client::open_at(&scene.address, path, json!({})).unwrap();
        let mut calling = Calling { client, prefix, answers: 0 };
        let (stop, total) = (Arc::clone(stop), Arc::clone(total));
        std::thread::spawn(move || {
            let problem = calling.go(&stop, &total);
            (calling, problem)
        })
    };
    all.map(start).collect()
}

/// Waits until an edit has been taken up, as often as there were such before.
fn taken_up(scene: &mut Scene, edits: usize) -> Value {
    let mut last = Value::Null;
    let missing = settle(PATIENCE, || {
        let said = scene.said();
        let events = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let reloads: Vec<_> = events.filter(|event| event["event"] == "reloaded").collect();
        last = reloads.last().cloned().unwrap_or_default();
        (reloads.len() < edits).then(|| format!("{} edits of {edits} were taken up", reloads.len()))
    });
    missing.unwrap_or_else(|missing| panic!("{missing}"));
    last["changes"].clone()
}

#[test]
fn a_file_that_is_edited_while_fifty_clients_call_loses_no_call_and_touches_nothing_else() {
    let mut scene = Scene::start(|file| EDITS[0].write(file));
    let (stop, total) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let callers = start(&scene, &stop, &total);
    assert_eq!(callers.len(), 50);
    let untouched = |scene: &Scene| [scene.pids("same", 1), scene.pids("same_modern", 1), scene.pids("same_own", 3)];
    let calls_go_on = || {
        let so_far = total.load(Ordering::Relaxed);
        assert!(holds_soon(|| total.load(Ordering::Relaxed) > so_far + 200), "calls go on");
    };
    let before = untouched(&scene);
    let mut changing = scene.pids("changing", 1);
    for (number, edit) in EDITS.iter().enumerate().skip(1) {
        calls_go_on();
        scene.rewrite(|file| edit.write(file));
        let changes = taken_up(&mut scene, number);
        assert_eq!(changes["changed"], json!(["changing", "changing_modern", "changing_own"]), "{changes}");
        calls_go_on();
        // The old process is there until its calls are done, and the new one from the first call for it on.
        let pids = || scene.processes("changing").iter().map(|process| process.pid).collect::<Vec<_>>();
        let is_replaced = || matches!(&*pids(), [now] if !changing.contains(now));
        assert!(holds_soon(is_replaced), "edit {number} is not there: {changing:?} and now {:?}", pids());
        changing = pids();
        assert_eq!(untouched(&scene), before, "others keep their processes");
    }
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        let (mut calling, problem) = caller.join().expect("each call is answered once");
        let (path, prefix) = (calling.client.path.clone(), calling.prefix);
        assert!(calling.answers > 0, "{path} {prefix}");
        if path.contains("leaving") || prefix.contains("leaving") {
            let problem = problem.unwrap_or_else(|| panic!("{path} {prefix}: the server is gone"));
            assert!(problem.contains("leaving"), "{path} {prefix}: {problem}");
            continue;
        }
        assert_eq!(problem, None, "{path} {prefix}");
        if path.contains("changing") || prefix.contains("changing") {
            let version = calling.client.text(&format!("{prefix}environment"), json!({ "name": "VERSION" }));
            assert_eq!(version, "four", "{path} {prefix}");
        }
    }
    assert_eq!(scene.call("added", "echo", &json!({ "message": "hi" }))["result"]["content"][0]["text"], "hi");
    scene.pids("leaving", 0);
    assert!(!scene.said().contains("cut_off"), "no call was cut off");
    announce(&format!("{} calls of 50 clients over three edits, none lost", total.load(Ordering::Relaxed)));
    scene.end(Signal::INT);
}
