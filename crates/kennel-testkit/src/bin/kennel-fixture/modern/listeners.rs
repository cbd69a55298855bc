//! Owns the streams of changes that a client has open by `subscriptions/listen`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::results::SERVER_INFO;
use super::tasks::Task;
use crate::incoming::Failure;
use crate::output::Output;

/// More streams at once than this are refused.
const MOST_LISTENERS: usize = 1024;

const SUBSCRIPTION_ID: &str = r#""io.modelcontextprotocol/subscriptionId""#;

/// All open streams. What a stream carries is written under the lock, so that nothing comes before its
/// acknowledgement or after its end.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<Vec<Listener>>);

struct Listener {
    /// The id of the request, as JSON.
    id: String,
    filter: Filter,
}

/// What a client wants to hear of; what is absent it does not.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    #[serde(default, skip_serializing_if = "is_false")]
    tools_list_changed: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    prompts_list_changed: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    resources_list_changed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resource_subscriptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    task_ids: Vec<String>,
}

impl Filter {
    /// What a server without tools agrees to.
    pub(super) fn without_tools(self) -> Self {
        Self { tools_list_changed: false, ..self }
    }

    /// Whether it wants to hear of tasks.
    pub(super) fn has_tasks(&self) -> bool {
        !self.task_ids.is_empty()
    }

    /// What a server without such tasks agrees to.
    pub(super) fn with_tasks(mut self, exists: impl Fn(&str) -> bool) -> Self {
        self.task_ids.retain(|id| exists(id));
        self
    }

    fn wants_list(&self, what: &str) -> bool {
        match what {
            "tools" => self.tools_list_changed,
            "prompts" => self.prompts_list_changed,
            "resources" => self.resources_list_changed,
            _ => false,
        }
    }
}

impl Listeners {
    /// Opens a stream.
    pub(super) fn listen(&self, output: &Output, id: &str, filter: Filter) -> Result<(), Failure> {
        let mut open = self.open();
        if open.len() >= MOST_LISTENERS {
            return Err(Failure::overloaded());
        }
        if open.iter().any(|listener| listener.id == id) {
            return Err(Failure::invalid_request("a request with this id is still in flight"));
        }
        let agreed = serde_json::to_string(&filter).map_err(Failure::invalid_params)?;
        let params = format!(r#"{{"_meta":{{{SUBSCRIPTION_ID}:{id}}},"notifications":{agreed}}}"#);
        output.notification("notifications/subscriptions/acknowledged", &params);
        open.push(Listener { id: id.to_owned(), filter });
        Ok(())
    }

    /// Closes a stream without an answer; false if there is none with that id.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let mut open = self.open();
        let before = open.len();
        open.retain(|listener| listener.id != id);
        open.len() < before
    }

    /// Tells all who want to hear it that a list has changed.
    pub(crate) fn list_changed(&self, output: &Output, what: &str) {
        let method = format!("notifications/{what}/list_changed");
        for listener in self.open().iter().filter(|listener| listener.filter.wants_list(what)) {
            output.notification(&method, &format!(r#"{{"_meta":{{{SUBSCRIPTION_ID}:{}}}}}"#, listener.id));
        }
    }

    /// Tells all who want to hear it that a resource has changed; false if nobody does.
    pub(crate) fn resource_updated(&self, output: &Output, uri: &str) -> bool {
        let open = self.open();
        let mut told = false;
        let wants = |listener: &&Listener| listener.filter.resource_subscriptions.iter().any(|wanted| wanted == uri);
        for listener in open.iter().filter(wants) {
            let uri = Value::from(uri);
            let params = format!(r#"{{"_meta":{{{SUBSCRIPTION_ID}:{}}},"uri":{uri}}}"#, listener.id);
            output.notification("notifications/resources/updated", &params);
            told = true;
        }
        told
    }

    /// Tells all who want to hear it what became of a task.
    pub(crate) fn task_changed(&self, output: &Output, task: &Task) {
        let open = self.open();
        for listener in open.iter().filter(|listener| listener.filter.task_ids.contains(&task.id)) {
            let task = task.to_json();
            let members = task.strip_prefix('{').unwrap_or(&task);
            let params = format!(r#"{{"_meta":{{{SUBSCRIPTION_ID}:{}}},{members}"#, listener.id);
            output.notification("notifications/tasks", &params);
        }
    }

    /// Ends all streams in good order; says how many there were.
    pub(crate) fn end(&self, output: &Output) -> usize {
        let mut open = self.open();
        for listener in open.iter() {
            let meta =
                format!(r#""resultType":"complete","_meta":{{{SUBSCRIPTION_ID}:{},{SERVER_INFO}}},"#, listener.id);
            output.result_with(&listener.id, &meta, "{}");
        }
        let ended = open.len();
        open.clear();
        ended
    }

    fn open(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
