//! Many servers as one, for real: many clients call while servers are replaced, and no call is lost or mixed up.

use crate::support::{Scene, Stream, calm};
use crate::union_support::{House, member};
use kennel_box::ExitReport;
use kennel_hub::{ProcessModel, UnionSettings};
use kennel_testkit::fake::Child;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const CLIENTS: usize = 20;
const CALLS: i64 = 30;

/// A server whose tool `echo` answers with what it was given.
async fn echoing(mut child: Child) -> ExitReport {
    loop {
        let Some(line) = child.line().await else { return Child::exit(0) };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "echoing", "version": "1" },
            }),
            Some("tools/list") => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
            Some("tools/call") => json!({ "content": [], "said": message["params"]["arguments"] }),
            Some("ping") => json!({}),
            _ => continue,
        };
        child.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()).await;
    }
}

async fn is_answered(stream: &Stream, said: &Value) {
    let response = stream.response().await;
    assert_eq!((&response["id"], &response["result"]["said"]), (&said["call"], said), "{response}");
}

async fn replaced_while_clients_call(model: ProcessModel) {
    let scene = || Scene::scripted(calm(model), echoing);
    let house = House::with(UnionSettings::default(), vec![("a", scene()), ("b", scene()), ("spare", scene())]);
    let house = Arc::new(house);
    house.union.replace(vec![member("a", house.scene("a")), member("b", house.scene("b"))]);
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let house = Arc::clone(&house);
        clients.spawn(async move {
            let client = house.client().await;
            let mut open = None;
            for call in 0..CALLS {
                let server = if (call + i64::try_from(number).unwrap()) % 3 == 0 { "b" } else { "a" };
                let said = json!({ "client": number, "call": call });
                // The same ids at all clients.
                let params = json!({ "name": format!("{server}__echo"), "arguments": said });
                let stream = client.request(call, "tools/call", params);
                // One is always open when the next one is made.
                if let Some((stream, said)) = open.replace((stream, said)) {
                    is_answered(&stream, &said).await;
                }
            }
            let (stream, said) = open.expect("the last");
            is_answered(&stream, &said).await;
        });
    }
    let mut is_spare = false;
    let all = async {
        loop {
            tokio::select! {
                ended = clients.join_next() => match ended {
                    Some(ended) => ended.expect("a client has all its answers"),
                    None => break,
                },
                () = sleep(Duration::from_millis(1)) => {
                    is_spare = !is_spare;
                    let a = house.scene(if is_spare { "spare" } else { "a" });
                    house.union.replace(vec![member("a", a), member("b", house.scene("b"))]);
                }
            }
        }
    };
    timeout(Duration::from_mins(2), all).await.expect("all calls are answered");
    Arc::into_inner(house).expect("nobody else has it").end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_is_lost_while_servers_are_replaced() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession] {
        replaced_while_clients_call(model).await;
    }
}
