//! What a server offers, remembered: while its process sleeps or starts, and from one hub to the next.

use crate::support::{Guest, Plan, Process, Profile, Scene, calm, settle, tools};
use kennel_hub::{CatalogPlace, ProcessModel};
use kennel_state::Store;
use kennel_supervisor::{Settings, State};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const IDLE: Duration = Duration::from_mins(1);

fn sleepy(model: ProcessModel) -> Plan {
    let supervision = Settings { idle_stop: Some(IDLE), ..calm(model).supervision };
    Plan { supervision, ..calm(model) }
}

/// A server with lists of all kinds, and its tools on two pages.
fn rich(second_page: &[&str]) -> Profile {
    let mut page = tools(&["echo"]);
    page["nextCursor"] = json!("1");
    page["x"] = json!(1.0);
    Profile {
        capabilities: json!({ "tools": {}, "prompts": {}, "resources": {} }),
        tools: vec![page, tools(second_page)],
        ..Profile::default()
    }
}

/// Answers the hub's own look at the lists.
async fn surveyed(process: &mut Process, prompts: &str) {
    for (method, result) in [
        ("prompts/list", json!({ "prompts": [{ "name": prompts }] })),
        ("resources/list", json!({ "resources": [], "nextCursor": "more" })),
        ("resources/templates/list", json!({ "resourceTemplates": [] })),
    ] {
        let request = process.expect(method).await;
        process.answer(&request, result).await;
    }
    let more = process.expect("resources/list").await;
    assert_eq!(more["params"], json!({ "cursor": "more" }));
    process.answer(&more, json!({ "resources": [{ "uri": "test://a" }] })).await;
    settle().await;
}

async fn list(client: &Guest, method: &str, params: Value) -> Value {
    client.request(1, method, params).response().await["result"].clone()
}

/// Checks that all lists are there, page by page.
async fn lists_are_known(client: &Guest, prompts: &str) {
    assert_eq!(list(client, "tools/list", json!({})).await["tools"][0]["name"], "echo");
    assert_eq!(list(client, "tools/list", json!({ "cursor": "1" })).await, tools(&["second"]));
    assert_eq!(list(client, "prompts/list", json!({})).await, json!({ "prompts": [{ "name": prompts }] }));
    assert_eq!(list(client, "resources/list", json!({})).await["nextCursor"], "more");
    assert_eq!(list(client, "resources/list", json!({ "cursor": "more" })).await["resources"][0]["uri"], "test://a");
    assert_eq!(list(client, "resources/templates/list", json!({})).await, json!({ "resourceTemplates": [] }));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_nobody_needs_is_stopped_and_its_lists_stay() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared] {
        let profile = |number| Profile { held: number > 1, ..rich(&["second"]) };
        let scene = Scene::with(sleepy(model), profile);
        let client = scene.client().await;
        let mut process = scene.process().await;
        surveyed(&mut process, "p").await;
        process.ended().await;
        settle().await;
        assert_eq!(scene.hub.status().instances[0].status.state, State::Asleep);
        scene.starts_nothing().await;
        // The lists are answered at once, and the process is woken for what may follow.
        let before = Instant::now();
        lists_are_known(&client, "p").await;
        assert_eq!(before, Instant::now());
        let stream = client.call(1, "echo");
        let mut process = scene.process().await;
        stream.is_quiet().await;
        process.open().await;
        let request = process.expect("tools/call").await;
        process.answer(&request, json!({})).await;
        stream.response().await;
        surveyed(&mut process, "p").await;
        client.unsolicited.is_quiet().await;
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_at_work_is_not_idle() {
    let scene = Scene::new(sleepy(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.call(1, "echo");
    let request = process.expect("tools/call").await;
    sleep(IDLE * 4).await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    process.ended().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_another_after_waking_is_announced() {
    let profile = |number| rich(if number == 1 { &["second"] } else { &["third"] });
    let scene = Scene::with(sleepy(ProcessModel::Shared), profile);
    let clients = [scene.guest("one", json!({})).await, scene.guest("two", json!({})).await];
    let mut process = scene.process().await;
    surveyed(&mut process, "p").await;
    process.ended().await;
    settle().await;
    let stream = clients[0].call(1, "echo");
    let mut process = scene.process().await;
    let request = process.expect("tools/call").await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    surveyed(&mut process, "q").await;
    for client in &clients {
        for method in ["notifications/tools/list_changed", "notifications/prompts/list_changed"] {
            assert_eq!(client.unsolicited.notification().await["method"], method);
        }
        // Resources are the same as before.
        client.unsolicited.is_quiet().await;
    }
    process.ended().await;
    assert_eq!(list(&clients[1], "tools/list", json!({ "cursor": "1" })).await, tools(&["third"]));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_changes_in_the_process_is_looked_at_again() {
    let scene = Scene::with(sleepy(ProcessModel::PerSession), |_| rich(&["second"]));
    let client = scene.client().await;
    let mut process = scene.process().await;
    surveyed(&mut process, "p").await;
    process.notify("notifications/tools/list_changed", json!({})).await;
    let request = process.expect("tools/list").await;
    process.answer(&request, tools(&["new"])).await;
    assert_eq!(client.unsolicited.notification().await["method"], "notifications/tools/list_changed");
    process.ended().await;
    settle().await;
    // Told once, and remembered.
    client.unsolicited.is_quiet().await;
    assert_eq!(list(&client, "tools/list", json!({})).await, tools(&["new"]));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_without_end_is_given_up() {
    let profile = Profile { capabilities: json!({ "prompts": {} }), ..Profile::default() };
    let scene = Scene::with(sleepy(ProcessModel::PerSession), move |_| profile.clone());
    let client = scene.client().await;
    let mut process = scene.process().await;
    let mut pages = 0;
    loop {
        settle().await;
        let Some(line) = process.try_line() else { break };
        let request: Value = serde_json::from_str(&line).unwrap();
        process.answer(&request, json!({ "prompts": [], "nextCursor": "again" })).await;
        pages += 1;
        assert!(pages < 1000, "it would go on for ever");
    }
    // Nor is it remembered: the process is asked.
    process.ended().await;
    settle().await;
    let stream = client.request(1, "prompts/list", json!({}));
    let mut process = scene.process().await;
    let request = process.expect("prompts/list").await;
    process.answer(&request, json!({ "prompts": [] })).await;
    stream.response().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn while_a_process_is_there_it_is_asked_itself() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.request(1, "tools/list", json!({ "cursor": "opaque" }));
    let request = process.expect("tools/list").await;
    assert_eq!(request["params"], json!({ "cursor": "opaque" }));
    process.answer(&request, json!({ "tools": [], "nextCursor": "€" })).await;
    assert_eq!(stream.response().await["result"]["nextCursor"], "€");
    scene.end().await;
}

fn place(store: &Store, fingerprint: &str) -> CatalogPlace {
    CatalogPlace { store: store.clone(), fingerprint: fingerprint.to_owned() }
}

fn open(directory: &Path) -> Store {
    Store::open(directory.join("kennel.db"), kennel_state::Limits::default(), |_| {})
}

#[tokio::test(start_paused = true)]
async fn the_next_hub_knows_what_the_last_one_learned() {
    let store = Store::in_memory();
    let plan = |print: &str| Plan { catalog: Some(place(&store, print)), ..calm(ProcessModel::PerSession) };
    let scene = Scene::with(plan("a"), |_| rich(&["second"]));
    assert!(!scene.hub.is_known());
    let first = scene.client().await;
    surveyed(&mut scene.process().await, "p").await;
    scene.end().await;

    let scene = Scene::with(plan("a"), |_| Profile { held: true, ..rich(&["second"]) });
    assert!(scene.hub.is_known());
    let before = Instant::now();
    let client = scene.client().await;
    assert_eq!(client.introduction, first.introduction);
    lists_are_known(&client, "p").await;
    assert_eq!(before, Instant::now(), "all of it before the process is ready");
    let stream = client.call(1, "echo");
    let mut process = scene.process().await;
    stream.is_quiet().await;
    process.open().await;
    let request = process.expect("tools/call").await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    surveyed(&mut process, "p").await;
    client.unsolicited.is_quiet().await;
    scene.end().await;

    // Another server, and another kind of client, are other catalogs.
    let scene = Scene::with(plan("b"), |_| rich(&["second"]));
    assert!(!scene.hub.is_known());
    scene.end().await;
    let scene = Scene::with(plan("a"), |_| Profile { held: true, ..rich(&["second"]) });
    let other = tokio::time::timeout(Duration::from_secs(1), scene.guest("local", json!({ "roots": {} }))).await;
    assert!(other.is_err(), "a server may offer something else to a client that can do more");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_known_server_that_cannot_be_started_refuses_calls() {
    let store = Store::in_memory();
    let plan = || Plan { catalog: Some(place(&store, "a")), ..calm(ProcessModel::Shared) };
    let scene = Scene::new(plan());
    scene.client().await;
    scene.end().await;
    let scene = Scene::new(plan());
    scene.engine.refuse(Some("no"));
    let client = scene.client().await;
    let error = client.call(1, "echo").error(-31002).await;
    assert_eq!(error["error"]["data"]["phase"], "create_box");
    scene.end().await;
}

/// Learns what the server offers, in a hub of its own.
async fn learn(store: Store, expected: Known) {
    let scene = Scene::new(Plan { catalog: Some(place(&store, "a")), ..calm(ProcessModel::PerSession) });
    assert_eq!(scene.hub.is_known(), expected == Known::Before);
    scene.client().await;
    scene.end().await;
    let _ = store.close().await;
}

#[derive(PartialEq)]
enum Known {
    Before,
    NotBefore,
}

#[tokio::test]
async fn a_state_that_cannot_be_read_is_as_good_as_none() {
    let directory = tempfile::tempdir().unwrap();
    learn(open(directory.path()), Known::NotBefore).await;
    learn(open(directory.path()), Known::Before).await;
    std::fs::write(directory.path().join("kennel.db"), [0xff; 9999]).unwrap();
    learn(open(directory.path()), Known::NotBefore).await;
    learn(open(directory.path()), Known::Before).await;
    // Nor does a hub need one at all.
    learn(open(Path::new("/sys/kennel")), Known::NotBefore).await;
}
