//! What is left when a gateway has ended, however it did.

use crate::scene::{File, Scene};
use crate::support::gateway::{Client, Connection};
use crate::support::processes::processes_with;
use crate::support::waiting::holds_soon;
use rustix::process::Signal;
use serde_json::json;

fn two(file: File) -> File {
    file.fixture("one", &[], "model = \"shared\"").fixture("two", &["--ignore-eof"], "")
}

fn used(scene: &Scene) {
    let mut session = scene.session("two");
    assert_eq!(session.text("echo", json!({ "message": "hi" })), "hi");
    scene.call("one", "echo", &json!({ "message": "hi" }));
    assert_eq!(scene.processes("").len(), 2);
}

#[test]
fn a_gateway_that_is_asked_to_stop_leaves_nothing_running() {
    let scene = Scene::start(two);
    used(&scene);
    let socket = scene.socket();
    let (status, _place, mark) = scene.end(Signal::TERM);
    assert!(status.success(), "{status}");
    assert_eq!(processes_with(&mark).len(), 0);
    assert!(!socket.exists(), "the socket is gone");
}

#[test]
fn a_gateway_that_is_killed_leaves_nothing_running_and_another_takes_its_place() {
    let scene = Scene::start(two);
    used(&scene);
    let mut own = scene.session("one");
    own.text("echo", json!({ "message": "hi" }));
    let mut joined = Client::open_at(&scene.address, "/mcp", json!({})).unwrap();
    joined.text("one__echo", json!({ "message": "hi" }));
    // What is kept of sessions is written soon, not at once.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let socket = scene.socket();
    let (_, place, mark) = scene.end(Signal::KILL);
    assert!(holds_soon(|| processes_with(&mark).is_empty()), "{:?}", processes_with(&mark));
    assert!(socket.exists(), "nobody could take it away");
    let next = Scene::start_in(place, mark, two);
    used(&next);
    assert_eq!(next.report("one")["state"], "ready");
    // A session of before the end goes on by its id, here and where all servers are one.
    for (mut former, tool) in [(own, "echo"), (joined, "one__echo")] {
        former.connection = Connection::open(&next.address).unwrap();
        assert_eq!(former.text(tool, json!({ "message": "again" })), "again", "{}", former.path);
    }
    next.end(Signal::INT);
}
