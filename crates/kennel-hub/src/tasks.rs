//! Tasks, elicitations that end elsewhere, and states that a modern process gives its clients: remembers whose they are,
//! lets only their owners at them, and sends what a process says of them to those.

use crate::client::Client;
use crate::dialect::REQUEST_STATE;
use crate::exchange::{Delivery, Exchange, Sharing, State};
use crate::owners::{Owner, Progress};
use crate::pending::{Number, Purpose};
use crate::principal::hexadecimal;
use crate::retries::is_question;
use bytes::Bytes;
use kennel_supervisor::Generation;
use kennel_wire::{Id, Message, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::Arc;

/// Where a message says which task it belongs to.
const RELATED: &[&str] = &["params", "_meta", "io.modelcontextprotocol/related-task", "taskId"];
const TASK: &[&str] = &["params", "taskId"];
const CREATED: &[&str] = &["result", "task", "taskId"];
/// The largest answer that is looked at for a question.
const LONGEST_QUESTION: usize = 1 << 20;
/// How the tasks of 2026-07-28 are called among the extensions.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const ELICITATION: &[&str] = &["params", "elicitationId"];

impl Exchange {
    /// What a call, or a request about one that became a task, is for; an error for one about a task of somebody else.
    pub(crate) fn task_purpose(
        &self,
        client: &Client,
        message: &Message,
        method: &str,
    ) -> Result<Purpose, &'static str> {
        match method {
            "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel" => {
                let Some(task) = text(message, TASK) else { return Ok(Purpose::Other) };
                if !self.is_task_of(client, &task) {
                    return Err("there is no such task");
                }
                Ok(if method == "tasks/update" { Purpose::Other } else { Purpose::AboutTask(task) })
            }
            "tasks/list" if self.sharing == Sharing::Shared => Ok(Purpose::TaskList),
            "tools/call" if message.has(&["params", "task"]) => match self.sharing {
                Sharing::OneCall => Err("each call has its own process here, so a task would end with it"),
                Sharing::Solitary | Sharing::Shared => Ok(Purpose::Task),
            },
            "tools/call" => Ok(Purpose::Tool),
            _ => Ok(Purpose::Other),
        }
    }

    /// Whether a client may hear of a task. A process of one client has no tasks of others; where there are several, what
    /// is nobody's is no one's to hear of.
    pub(crate) fn is_task_of(&self, client: &Client, task: &str) -> bool {
        self.sharing != Sharing::Shared || self.state().tasks.is_of(task, client)
    }

    /// A request for a task was answered: remembers whose the task is, and where its progress goes.
    pub(crate) fn task_began(
        &self,
        client: &Client,
        generation: Generation,
        number: Number,
        token: Option<&Id>,
        answer: &Message,
    ) {
        let Some(task) = text(answer, CREATED) else { return };
        let progress = token.map(|token| Progress { generation, number, token: token.clone() });
        self.state().tasks.note(task, Owner { progress, ..Owner::new(client) });
    }

    /// A call was answered with a task, if it was: remembers whose that is.
    pub(crate) fn became_task(&self, client: &Client, answer: &Message) {
        if text(answer, &["result", "resultType"]).as_deref() == Some("task")
            && let Some(task) = text(answer, &["result", "taskId"])
        {
            self.state().tasks.note(task, Owner::new(client));
        }
    }

    /// A modern process has answered a client without a session with a question, if it has: remembers whose its state is.
    pub(crate) fn state_issued(&self, client: &Client, answer: &Message) {
        if self.sharing == Sharing::Shared
            && answer.bytes().len() <= LONGEST_QUESTION
            && is_question(answer)
            && let Some(state) = text(answer, &["result", REQUEST_STATE])
        {
            self.state().states.note(digest(&state), Owner::new(client));
        }
    }

    /// Whether a request brings a state that a modern process has given to somebody else.
    pub(crate) fn has_foreign_state(&self, client: &Client, request: &Message) -> bool {
        if self.sharing != Sharing::Shared {
            return false;
        }
        let Some(state) = text(request, &["params", REQUEST_STATE]) else { return false };
        self.state().states.get(&digest(&state)).is_some_and(|owner| owner.principal != client.principal)
    }

    /// A request about a task was answered: one that has ended reports nothing more.
    pub(crate) fn task_answered(&self, task: &str, answer: &Message) {
        // Only the answer to `tasks/result` has no status, and it comes at the end.
        if text(answer, &["result", "status"]).is_none_or(|status| is_final(&status)) {
            self.state().tasks.settle(task);
        }
    }

    /// The answer to `tasks/list` with nothing in it that is somebody else's.
    pub(crate) fn own_tasks(&self, client: &Client, answer: &Message, id: &Id) -> Option<Bytes> {
        #[derive(Deserialize)]
        struct List<'a> {
            #[serde(borrow)]
            tasks: Vec<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Task {
            #[serde(rename = "taskId")]
            id: String,
        }
        let result = answer.result()?;
        let list: List<'_> = serde_json::from_slice(result.as_bytes()).ok()?;
        let state = self.state();
        let is_own = |task: &&&RawValue| {
            serde_json::from_str::<Task>(task.get()).is_ok_and(|task| state.tasks.is_of(&task.id, client))
        };
        let own: Vec<&str> = list.tasks.iter().filter(is_own).map(|task| task.get()).collect();
        let rewrite = answer.rewrite().id(id).ok()?;
        if own.len() == list.tasks.len() {
            return Some(rewrite.finish());
        }
        let own = RawJson::parse(format!("[{}]", own.join(","))).ok()?;
        Some(rewrite.replace(&["result", "tasks"], &own).ok()?.finish())
    }

    /// The owner of the task that a message of the process belongs to, where it says so.
    pub(crate) fn related_owner(state: &State, message: &Message) -> Option<Owner> {
        state.tasks.get(&text(message, RELATED)?).cloned()
    }

    /// Who hears news of a task or an elicitation; `None` if a notification is no such news.
    pub(crate) fn owners_of_news(state: &mut State, message: &Message, method: &str) -> Option<Vec<Arc<Client>>> {
        let owner = match method {
            "notifications/tasks/status" => {
                let task = text(message, TASK).unwrap_or_default();
                if text(message, &["params", "status"]).is_some_and(|status| is_final(&status)) {
                    state.tasks.settle(&task);
                }
                state.tasks.get(&task)
            }
            "notifications/elicitation/complete" => {
                state.elicitations.get(&text(message, ELICITATION).unwrap_or_default())
            }
            _ => return None,
        };
        Some(owner.map(|owner| owner.sessions(state)).unwrap_or_default())
    }

    /// Progress of a task whose request has been answered.
    pub(crate) fn task_progress(
        state: &State,
        generation: Generation,
        number: Number,
        message: &Message,
    ) -> Option<Delivery> {
        let (owner, progress) = state.tasks.reporting(generation, number)?;
        let client = state.members.get(&owner.client)?;
        let rewritten = message.rewrite().reported_token(&progress.token).ok()?.finish();
        Some(Delivery::notification(&client.unsolicited, rewritten))
    }

    /// Remembers whom a process asks to do something elsewhere.
    pub(crate) fn elicitation_began(state: &mut State, client: &Client, message: &Message) {
        if let Some(elicitation) = text(message, ELICITATION) {
            state.elicitations.note(elicitation, Owner::new(client));
        }
    }

    /// Remembers whom an error asks to do something elsewhere before the request can be made.
    pub(crate) fn elicitations_required(&self, client: &Client, answer: &Message) {
        #[derive(Deserialize)]
        struct Data {
            elicitations: Vec<Elicitation>,
        }
        #[derive(Deserialize)]
        struct Elicitation {
            #[serde(rename = "elicitationId")]
            id: String,
        }
        let Ok(Some(data)) = answer.field(&["error", "data"]) else { return };
        let Ok(data) = serde_json::from_slice::<Data>(data.as_bytes()) else { return };
        let mut state = self.state();
        for elicitation in data.elicitations {
            state.elicitations.note(elicitation.id, Owner::new(client));
        }
    }
}

/// The extensions at this place without tasks, if those are among them.
pub(crate) fn without_tasks(message: &Message, extensions: &[&str]) -> Option<RawJson> {
    let mut members = message.field(extensions).ok()??.members();
    let all = members.len();
    members.retain(|(name, _)| name != EXTENSION);
    (members.len() < all).then(|| RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value))))
}

fn text(message: &Message, path: &[&str]) -> Option<String> {
    message.text_at(path).ok().flatten().map(Cow::into_owned)
}

fn digest(state: &str) -> String {
    hexadecimal(&Sha256::digest(state.as_bytes())[..16])
}

fn is_final(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}
