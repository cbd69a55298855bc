//! Owns the cells of tasks: calls that are answered at once by a handle, in the way of either era.

use crate::client::{Client, Looked, text_of};
use crate::news::of_stream;
use crate::place::Place;
use crate::seen::Seen;
use crate::support::waiting::PATIENCE;
use crate::wire::{Door, Era, Heard};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// One task that comes to its end, and one that is called off; a modern one also asks, and tells on a stream of its end.
pub(crate) fn tasks(client: &mut Client, _: &Place) -> Looked<Seen> {
    let answer = begin(client, "slow_compute", &json!({"seconds": 0}))?;
    if let Some(refused) = Seen::refusal(&answer) {
        return Ok(refused);
    }
    if text_of(&answer.json["result"]) == "computed for 0 s" && !client.is_offered_tasks() {
        return Ok(Seen::NotOffered);
    }
    let task = handle(client.era, &answer)?;
    if let Err(refused) = ends(client, &task)? {
        return Ok(refused);
    }
    let endless = begin(client, "slow_compute", &json!({"seconds": 600}))?;
    let endless = handle(client.era, &endless)?;
    let answer = client.request("tasks/cancel", json!({ "taskId": endless }))?;
    if let Some(refused) = Seen::refusal(&answer) {
        return Err(format!("{refused:?}"));
    }
    let ended = status(client, &endless, "working")?;
    if ended["status"] != "cancelled" {
        return Err(format!("a task that was called off is {ended}"));
    }
    if client.era == Era::Modern {
        return asks(client);
    }
    Ok(Seen::Carried)
}

fn begin(client: &mut Client, tool: &str, arguments: &Value) -> Looked<Heard> {
    let mut params = json!({"name": tool, "arguments": arguments});
    if client.era == Era::Legacy {
        params["task"] = json!({"ttl": 600_000});
    }
    client.request("tools/call", params)
}

/// The id of the task that a call has become.
fn handle(era: Era, answer: &Heard) -> Looked<String> {
    let result = &answer.json["result"];
    let task = match era {
        Era::Legacy => &result["task"],
        Era::Modern if result["resultType"] == "task" => result,
        Era::Modern => &Value::Null,
    };
    task["taskId"].as_str().map(str::to_owned).ok_or_else(|| format!("no task: {}", answer.text))
}

/// The task once it is no longer in this status.
fn status(client: &mut Client, task: &str, before: &str) -> Looked<Value> {
    let start = Instant::now();
    loop {
        let answer = client.request("tasks/get", json!({ "taskId": task }))?;
        let result = &answer.json["result"];
        if result["taskId"] != *task {
            return Err(answer.text);
        }
        if result["status"] != before {
            return Ok(result.clone());
        }
        if start.elapsed() > PATIENCE / 4 {
            return Err(format!("the task stays {before}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Follows a task to its end; the inner error is how Kennel refuses to tell of it.
fn ends(client: &mut Client, task: &str) -> Looked<Result<(), Seen>> {
    let answer = client.request("tasks/get", json!({ "taskId": task }))?;
    if let Some(refused) = Seen::refusal(&answer) {
        return Ok(Err(refused));
    }
    let ended = status(client, task, "working")?;
    let result = match client.era {
        Era::Modern => ended["result"].clone(),
        Era::Legacy => {
            let all = client.request("tasks/list", json!({}))?;
            let listed = all.json["result"]["tasks"].as_array().cloned().unwrap_or_default();
            if listed.iter().all(|listed| listed["taskId"] != *task) {
                return Err(format!("{task} is not among {}", all.text));
            }
            client.request("tasks/result", json!({ "taskId": task }))?.json["result"].clone()
        }
    };
    if ended["status"] == "completed" && text_of(&result) == "computed for 0 s" {
        return Ok(Ok(()));
    }
    Err(format!("{ended} with {result}"))
}

/// A task that asks goes on with what the client says.
fn asks(client: &mut Client) -> Looked<Seen> {
    let task = begin(client, "confirm_delete", &json!({}))?;
    let task = handle(client.era, &task)?;
    let asking = status(client, &task, "working")?;
    if asking["status"] != "input_required" || asking["inputRequests"]["confirm"]["method"] != "elicitation/create" {
        return Err(format!("no question: {asking}"));
    }
    let stream = (client.door != Door::Rpc).then(|| listen(client, &task)).transpose()?;
    let said = json!({"action": "accept", "content": {"confirm": Place::mark()}});
    let answer = client.request("tasks/update", json!({"taskId": task, "inputResponses": {"confirm": said}}))?;
    if let Some(refused) = Seen::refusal(&answer) {
        return Err(format!("{refused:?}"));
    }
    if let Some(stream) = stream {
        let is_end = |heard: &Heard| heard.json["params"]["status"] == "completed" && of_stream(heard, &stream);
        client.expect("notifications/tasks", |heard| heard.is("notifications/tasks") && is_end(heard))?;
        client.call_off(&stream);
    }
    // It works again before it is done.
    let mut ended = status(client, &task, "input_required")?;
    if ended["status"] == "working" {
        ended = status(client, &task, "working")?;
    }
    if text_of(&ended["result"]) == format!("confirmed by {said}") { Ok(Seen::Carried) } else { Err(ended.to_string()) }
}

/// Listens for what becomes of a task.
fn listen(client: &mut Client, task: &str) -> Looked<Value> {
    let stream = client.start("subscriptions/listen", json!({"notifications": {"taskIds": [task]}}));
    let first = client.expect("the acknowledgement", |heard| of_stream(heard, &stream) || heard.answers(&stream))?;
    let agreed = &first.json["params"]["notifications"]["taskIds"];
    if *agreed == json!([task]) { Ok(stream) } else { Err(format!("the stream begins with {}", first.text)) }
}
