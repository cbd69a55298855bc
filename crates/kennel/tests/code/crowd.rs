//! A hundred notebooks at once, and what becomes of them when nobody uses them.

use crate::scene::Scene;
use crate::support::gateway::Client;
use crate::support::processes::children_of;
use crate::support::waiting::{PATIENCE, settle};
use serde_json::json;

const NOTEBOOKS: usize = 100;

/// All processes below one.
fn below(pid: u32) -> usize {
    children_of(pid).into_iter().map(|child| 1 + below(child)).sum()
}

#[test]
fn a_hundred_notebooks_run_at_once_and_idle_ones_are_stopped() {
    let scene =
        Scene::start(|file| file.text("[code]\nidle-stop = 0.05\nwarm = 0\nyield-after = 120\ntimeout = 100\n"));
    let run = |client: &mut Client, code: &str| {
        let messages = client.call(json!(1), "run_python", json!({ "code": code })).unwrap();
        messages.last().unwrap()["result"]["structuredContent"].clone()
    };
    let mut clients: Vec<Client> = std::thread::scope(|scope| {
        let open = |number: usize| {
            let address = scene.address.clone();
            scope.spawn(move || {
                let mut client = Client::open_at(&address, "/servers/code/mcp", json!({})).unwrap();
                client.connection.set_timeout(2 * PATIENCE);
                let result = run(&mut client, &format!("mine = {number}\nmine * 2"));
                assert_eq!(result["value"], (number * 2).to_string(), "{result}");
                client
            })
        };
        let opened: Vec<_> = (0..NOTEBOOKS).map(open).collect();
        opened.into_iter().map(|opened| opened.join().unwrap()).collect()
    });
    // Kennel's helper stays; interpreters and the inits of their boxes go.
    let pid = scene.kept.pid();
    settle(PATIENCE, || {
        let left = below(pid);
        (left > 4).then(|| format!("{left} processes are left"))
    })
    .unwrap();
    let result = run(&mut clients[7], "'mine' in globals()");
    assert_eq!(result["value"], "False", "{result}");
    assert!(result["notes"][0].as_str().unwrap().contains("state lost: idle"), "{result}");
}
