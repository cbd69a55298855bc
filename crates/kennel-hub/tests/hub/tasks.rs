//! Tasks and elicitations that outlive their requests: they are their owner's, and so is what is said of them.

use crate::callers::{answer, ask, request, with};
use crate::support::{Guest, Plan, Process, Profile, Scene, calm};
use kennel_hub::{Caller, OutgoingKind, Principal, ProcessModel};
use kennel_wire::Era;
use serde_json::{Value, json};

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Begins a task with this id and progress under this token.
async fn begin(client: &Guest, process: &mut Process, task: &str) -> Value {
    let params = json!({ "name": "echo", "task": { "ttl": 60000 }, "_meta": { "progressToken": "t" } });
    let stream = client.request(1, "tools/call", params);
    let request = process.expect("tools/call").await;
    assert_eq!(request["params"]["task"], json!({ "ttl": 60000 }));
    process.answer(&request, json!({ "task": { "taskId": task, "status": "working" } })).await;
    assert_eq!(stream.response().await["result"]["task"]["taskId"], task);
    request["params"]["_meta"]["progressToken"].clone()
}

/// Asks about a task that is the client's own.
async fn about(client: &Guest, process: &mut Process, method: &str, task: &str, result: Value) {
    let stream = client.request(2, method, json!({ "taskId": task }));
    let request = process.expect(method).await;
    assert_eq!(request["params"], json!({ "taskId": task }));
    process.answer(&request, result.clone()).await;
    assert_eq!(stream.response().await["result"], result);
}

async fn progress(process: &Process, token: &Value, step: i64) {
    process.notify("notifications/progress", json!({ "progressToken": token, "progress": step })).await;
}

#[tokio::test(start_paused = true)]
async fn only_the_owner_gets_at_a_task() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (ann, bob) = (scene.guest("ann", json!({})).await, scene.guest("bob", json!({})).await);
    let mut process = scene.process().await;
    begin(&ann, &mut process, "a").await;
    begin(&bob, &mut process, "b").await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        about(&ann, &mut process, method, "a", json!({ "taskId": "a", "status": "working" })).await;
        for foreign in ["b", "unknown"] {
            let error = ann.request(2, method, json!({ "taskId": foreign })).error(-32602).await;
            assert_eq!(error["id"], 2);
        }
    }
    process.hears_nothing().await;
    // In another session of hers it is hers as well.
    let again = scene.guest("ann", json!({})).await;
    about(&again, &mut process, "tasks/get", "a", json!({ "taskId": "a", "status": "working" })).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_of_tasks_has_the_clients_own() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (ann, bob) = (scene.guest("ann", json!({})).await, scene.guest("bob", json!({})).await);
    let mut process = scene.process().await;
    begin(&ann, &mut process, "a").await;
    begin(&ann, &mut process, "c").await;
    begin(&bob, &mut process, "b").await;
    let all = r#"{ "tasks": [ {"taskId":"a","n":1.0}, {"taskId":"b"},{"x":1, "taskId":"c"}, {} ], "nextCursor":"€", "y":1e5}"#;
    for (client, own) in [(&ann, r#"[{"taskId":"a","n":1.0},{"x":1, "taskId":"c"}]"#), (&bob, r#"[{"taskId":"b"}]"#)] {
        let stream = client.request(2, "tasks/list", json!({}));
        let request = process.expect("tasks/list").await;
        process.say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{all}}}"#, request["id"])).await;
        let expected = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{ "tasks": {own}, "nextCursor":"€", "y":1e5}}}}"#);
        assert_eq!(stream.spelled(OutgoingKind::Response).await, expected);
    }
    // What cannot be read cannot be shown.
    let stream = ann.request(2, "tasks/list", json!({}));
    let request = process.expect("tasks/list").await;
    process.answer(&request, json!({ "tasks": { "a": "b" } })).await;
    stream.error(-32603).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_of_one_client_is_left_alone() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    about(&client, &mut process, "tasks/get", "made elsewhere", json!({ "status": "working" })).await;
    let stream = client.request(2, "tasks/list", json!({}));
    let request = process.expect("tasks/list").await;
    process.answer(&request, json!({ "tasks": [1, {}] })).await;
    assert_eq!(stream.response().await["result"], json!({ "tasks": [1, {}] }));
    process.notify("notifications/tasks/status", json!({ "taskId": "x", "status": "working" })).await;
    client.unsolicited.notification().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn news_of_a_task_reach_its_owner_only() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (ann, bob) = (scene.guest("ann", json!({})).await, scene.guest("bob", json!({})).await);
    let mut process = scene.process().await;
    begin(&ann, &mut process, "a").await;
    process.notify("notifications/tasks/status", json!({ "taskId": "a", "status": "working" })).await;
    assert_eq!(ann.unsolicited.notification().await["params"]["taskId"], "a");
    let related = json!({ "level": "info", "data": "x", "_meta": { RELATED: { "taskId": "a" } } });
    process.notify("notifications/message", related).await;
    assert_eq!(ann.unsolicited.notification().await["params"]["data"], "x");
    process.notify("notifications/tasks/status", json!({ "taskId": "unknown", "status": "working" })).await;
    ann.unsolicited.is_quiet().await;
    bob.unsolicited.is_quiet().await;
    assert_eq!(scene.metric("dropped_notifications_total"), 1);
    // When the session it began in is gone, her others hear.
    let again = scene.guest("ann", json!({})).await;
    ann.session.close();
    process.notify("notifications/tasks/status", json!({ "taskId": "a", "status": "failed" })).await;
    assert_eq!(again.unsolicited.notification().await["params"]["status"], "failed");
    bob.unsolicited.is_quiet().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn questions_of_a_task_reach_its_owner_though_others_are_at_work() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let capable = json!({ "elicitation": {} });
    let (ann, bob) = (scene.guest("ann", capable.clone()).await, scene.guest("bob", capable).await);
    let mut process = scene.process().await;
    begin(&ann, &mut process, "a").await;
    let busy = bob.call(5, "echo");
    process.expect("tools/call").await;
    let related = json!({ "_meta": { RELATED: { "taskId": "a" } } });
    process.ask(json!("q"), "elicitation/create", related.clone()).await;
    let asked = ann.unsolicited.request().await;
    assert_eq!(asked["params"], related);
    ann.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} }).to_string());
    assert_eq!(process.line().await.unwrap(), r#"{"id":"q","jsonrpc":"2.0","result":{}}"#);
    // While she waits for the result, on that stream.
    let waiting = ann.request(3, "tasks/result", json!({ "taskId": "a" }));
    process.expect("tasks/result").await;
    process.ask(json!("q"), "elicitation/create", related.clone()).await;
    waiting.request().await;
    // When she has gone, nobody is asked.
    ann.session.close();
    process.expect("notifications/cancelled").await;
    process.line().await;
    process.ask(json!("q"), "elicitation/create", related).await;
    let refusal: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
    assert_eq!(refusal["error"]["code"], -32603);
    busy.is_quiet().await;
    bob.unsolicited.is_quiet().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_reports_progress_until_it_has_ended() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession] {
        let scene = Scene::new(calm(model));
        let client = scene.client().await;
        let mut process = scene.process().await;
        // A task that ends by what it says, by what it is asked, and by its result.
        for task in ["says", "is asked", "has a result"] {
            let token = begin(&client, &mut process, task).await;
            progress(&process, &token, 1).await;
            let heard = client.unsolicited.notification().await;
            assert_eq!(heard["params"], json!({ "progressToken": "t", "progress": 1 }));
            about(&client, &mut process, "tasks/get", task, json!({ "taskId": task, "status": "input_required" }))
                .await;
            progress(&process, &token, 2).await;
            client.unsolicited.notification().await;
            match task {
                "says" => {
                    process
                        .notify("notifications/tasks/status", json!({ "taskId": task, "status": "completed" }))
                        .await;
                    client.unsolicited.notification().await;
                }
                "is asked" => {
                    let result = json!({ "taskId": task, "status": "cancelled" });
                    about(&client, &mut process, "tasks/cancel", task, result).await;
                }
                _ => about(&client, &mut process, "tasks/result", task, json!({ "content": [] })).await,
            }
            progress(&process, &token, 3).await;
            client.unsolicited.is_quiet().await;
        }
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_elicitation_is_told_to_whom_was_asked() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let capable = json!({ "elicitation": { "url": {} } });
    let (ann, bob) = (scene.guest("ann", capable.clone()).await, scene.guest("bob", capable).await);
    let mut process = scene.process().await;
    // By a question, and by an error that asks for it first.
    let stream = ann.call(1, "echo");
    let request = process.expect("tools/call").await;
    process.ask(json!(0), "elicitation/create", json!({ "mode": "url", "elicitationId": "e" })).await;
    stream.request().await;
    let error = json!({ "code": -32042, "message": "first", "data": { "elicitations": [{ "elicitationId": "f" }] } });
    process.say(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string()).await;
    assert_eq!(stream.response().await["error"], error);
    for elicitation in ["e", "f"] {
        process.notify("notifications/elicitation/complete", json!({ "elicitationId": elicitation })).await;
        assert_eq!(ann.unsolicited.notification().await["params"]["elicitationId"], elicitation);
    }
    process.notify("notifications/elicitation/complete", json!({ "elicitationId": "unknown" })).await;
    ann.unsolicited.is_quiet().await;
    bob.unsolicited.is_quiet().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_client_without_a_session_is_its_principals() {
    let plan = Plan { era: Some(Era::Modern), ..calm(ProcessModel::Shared) };
    let scene = Scene::with(plan, |_| Profile::modern(json!({ "tools": {} })));
    let (ann, bob) = (Caller::new(Principal::new("ann")), Caller::new(Principal::new("bob")));
    let able = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let (asked, mailbox) = ask(&scene, &ann, request(1, "tools/call", &able));
    let (mut process, call) = scene.process_that_hears("tools/call").await;
    process.answer(&call, json!({ "resultType": "task", "taskId": "t", "status": "working" })).await;
    assert_eq!(answer(&mailbox).await["result"]["taskId"], "t");
    asked.answered();
    for (caller, method) in [(&bob, "tasks/get"), (&bob, "tasks/update"), (&bob, "tasks/cancel")] {
        let (asked, mailbox) = ask(&scene, caller, with(request(2, method, &able), &json!({ "taskId": "t" })));
        assert_eq!(answer(&mailbox).await["error"]["code"], -32602, "{method}");
        asked.answered();
    }
    let (asked, mailbox) = ask(&scene, &ann, with(request(2, "tasks/get", &json!({})), &json!({ "taskId": "t" })));
    let refused = answer(&mailbox).await;
    assert_eq!((&refused["error"]["code"], &refused["error"]["data"]["requiredCapabilities"]), (&json!(-32021), &able));
    asked.answered();
    let filter = json!({ "notifications": { "taskIds": ["t"] } });
    let (_refused, mailbox) = ask(&scene, &bob, with(request(3, "subscriptions/listen", &able), &filter));
    assert_eq!(answer(&mailbox).await["error"]["code"], -32602);
    let (_stream, _) = ask(&scene, &ann, with(request(3, "subscriptions/listen", &able), &filter));
    let listen = process.expect("subscriptions/listen").await;
    assert_eq!(listen["params"]["notifications"], filter["notifications"]);
    let (asked, mailbox) = ask(&scene, &ann, with(request(4, "tasks/get", &able), &json!({ "taskId": "t" })));
    let get = process.expect("tasks/get").await;
    process.answer(&get, json!({ "resultType": "complete", "taskId": "t", "status": "completed" })).await;
    assert_eq!(answer(&mailbox).await["result"]["status"], "completed");
    asked.answered();
    scene.end().await;
}
