//! Owns the tasks of 2025-11-25: a call that asks for it is answered at once by a task, under which the client finds the
//! result later.

use std::sync::Arc;
use std::thread;

use serde::Deserialize;

use super::read;
use crate::calls::{self, Order, Reply};
use crate::incoming::Failure;
use crate::modern::tasks::Task;
use crate::server::Server;
use crate::tools::{TaskSupport, Tool};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    task_id: String,
}

/// Starts a call as a task, and answers with that.
pub(super) fn begin(server: &Arc<Server>, id: &str, tool: &Tool, arguments: &str) -> Result<(), Failure> {
    if !matches!(tool.task, TaskSupport::Optional | TaskSupport::Required) {
        return Err(Failure::method_not_found(&format!("tools/call as a task for {}", tool.name)));
    }
    let task = server.tasks.begin()?;
    let answer = format!(r#"{{"task":{}}}"#, task.to_legacy_json());
    let reply = Reply::Task(Arc::clone(&task));
    calls::start(server, tool.run, &Order { id: &task.call_id(), arguments, progress_token: None, reply }, None)?;
    server.output.result(id, &answer);
    Ok(())
}

/// Answers a request about tasks; one that has to wait for the end of a task does so in a thread of its own.
pub(super) fn request(server: &Arc<Server>, id: &str, method: &str, params: &str) -> Result<(), Failure> {
    if method == "tasks/list" {
        let tasks: Vec<String> = server.tasks.all().iter().map(|task| task.to_legacy_json()).collect();
        server.output.result(id, &format!(r#"{{"tasks":[{}]}}"#, tasks.join(",")));
        return Ok(());
    }
    let task = server.tasks.find(&read::<About>(params)?.task_id)?;
    match method {
        "tasks/get" => server.output.result(id, &task.to_legacy_json()),
        "tasks/cancel" => {
            server.calls.cancel(&task.call_id());
            at_end(server, id, task, |server, id, task| server.output.result(id, &task.to_legacy_json()))?;
        }
        _ => at_end(server, id, task, |server, id, task| match task.wait_for_end() {
            Ok(result) => {
                let about =
                    format!(r#""_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{}"}}}},"#, task.id);
                server.output.result_with(id, &about, &result);
            }
            Err(failure) => server.output.error(id, &failure),
        })?,
    }
    Ok(())
}

/// Answers when a task has ended. The thread ends with the task or with the process.
fn at_end(server: &Arc<Server>, id: &str, task: Arc<Task>, answer: fn(&Server, &str, &Task)) -> Result<(), Failure> {
    let (server, id) = (Arc::clone(server), id.to_owned());
    let wait = move || {
        // What became of it is for the answer to say.
        let _ = task.wait_for_end();
        answer(&server, &id, &task);
    };
    thread::Builder::new().spawn(wait).map(drop).map_err(|_| Failure::overloaded())
}
