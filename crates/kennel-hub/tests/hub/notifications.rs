//! What clients send without waiting for an answer: only what the protocol knows is passed on, and only to whom it is for.

use crate::support::{Guest, Process, Scene, calm, settle};
use crate::union_support::House;
use kennel_hub::ProcessModel;
use serde_json::{Value, json};

/// Everything that does something when it is a request, and what nobody knows.
const OTHERS: &[&str] = &[
    "tools/call",
    "tools/list",
    "prompts/get",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "logging/setLevel",
    "completion/complete",
    "tasks/cancel",
    "initialize",
    "ping",
    "server/discover",
    "sampling/createMessage",
    "notifications/message",
    "notifications/tools/list_changed",
    "notifications/resources/updated",
    "notifications/acme/anything",
    "notifications/",
    "acme/anything",
    "",
];

/// A client that has called a tool, and the process that has answered.
async fn used(scene: &Scene) -> (Guest, Process) {
    let client = scene.guest("local", json!({ "roots": { "listChanged": true } })).await;
    let stream = client.call(1, "echo");
    let (process, request) = scene.process_that_hears("tools/call").await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    (client, process)
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_id_reaches_no_process() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared, ProcessModel::PerUser] {
        let scene = Scene::new(calm(model));
        let (client, mut process) = used(&scene).await;
        settle().await;
        while process.try_line().is_some() {}
        for method in OTHERS {
            client.notify(
                method,
                json!({ "name": "danger", "uri": "x", "taskId": "x", "requestId": 1, "level": "debug" }),
            );
        }
        process.hears_nothing().await;
        assert_eq!(scene.metric("refused_notifications_total"), OTHERS.len() as u64, "{model:?}");
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_id_is_not_kept_for_a_process_that_starts() {
    for model in [ProcessModel::PerSession, ProcessModel::PerCall] {
        let scene = Scene::new(calm(model));
        let client = scene.client().await;
        let mut first = scene.process().await;
        settle().await;
        while first.try_line().is_some() {}
        first.die().await;
        settle().await;
        for method in OTHERS {
            client.notify(method, json!({ "name": "danger" }));
        }
        let stream = client.call(2, "echo");
        let (mut process, request) = scene.process_that_hears("tools/call").await;
        assert_eq!(request["params"]["name"], "echo");
        process.answer(&request, json!({})).await;
        stream.response().await;
        settle().await;
        while let Some(line) = process.try_line() {
            assert!(!line.contains("danger"), "{line}");
        }
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn in_a_union_a_call_without_an_id_reaches_nobody() {
    let house = House::pair(ProcessModel::PerSession);
    let client = house.client().await;
    let mut processes = Vec::new();
    for (server, tool) in [("a", "a__x"), ("b", "b__y")] {
        let stream = client.call(1, tool);
        let (process, request) = house.scene(server).process_that_hears("tools/call").await;
        process.answer(&request, json!({})).await;
        stream.response().await;
        processes.push(process);
    }
    settle().await;
    for process in &mut processes {
        while process.try_line().is_some() {}
    }
    for method in OTHERS {
        client.notify(method, json!({ "name": "danger" }));
    }
    for process in &mut processes {
        process.hears_nothing().await;
    }
    // What concerns all who use the client's roots does reach them.
    client.notify("notifications/roots/list_changed", json!({}));
    for process in &mut processes {
        process.expect("notifications/roots/list_changed").await;
    }
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_a_notification_is_no_request() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (client, mut process) = used(&scene).await;
    settle().await;
    while process.try_line().is_some() {}
    // A process that goes by the method alone would take it for the cancellation of somebody else's call.
    for method in ["notifications/cancelled", "notifications/progress", "notifications/acme"] {
        client.request(7, method, json!({ "requestId": 3, "progressToken": 3, "progress": 1 })).error(-32601).await;
    }
    process.hears_nothing().await;
    scene.end().await;
}

/// Has a process ask a client for something that the client does as a task.
async fn promises_task(process: &mut Process, client: &Guest, task: &str) {
    process.ask(json!("q"), "sampling/createMessage", json!({ "task": {} })).await;
    let asked = client.unsolicited.request().await;
    let result = json!({ "task": { "taskId": task, "status": "working" } });
    client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string());
    loop {
        let line: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
        if line["id"] == "q" {
            return assert_eq!(line["result"]["task"]["taskId"], task);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn news_of_a_clients_task_go_to_the_process_that_it_is_for() {
    let house = House::pair(ProcessModel::PerSession);
    let client = house.guest(json!({ "sampling": {}, "tasks": {} })).await;
    let mut processes = Vec::new();
    for (server, tool) in [("a", "a__x"), ("b", "b__y")] {
        let stream = client.call(1, tool);
        let (process, request) = house.scene(server).process_that_hears("tools/call").await;
        process.answer(&request, json!({})).await;
        stream.response().await;
        processes.push(process);
    }
    crate::union_support::hear_out(&client).await;
    let (mut b, mut a) = (processes.pop().unwrap(), processes.pop().unwrap());
    promises_task(&mut a, &client, "of-a").await;
    let status = |task: &str| json!({ "taskId": task, "status": "completed" });
    client.notify("notifications/tasks/status", status("nobodys"));
    client.notify("notifications/tasks/status", status("of-a"));
    assert_eq!(a.expect("notifications/tasks/status").await["params"]["taskId"], "of-a");
    a.hears_nothing().await;
    b.hears_nothing().await;
    house.end().await;
}
