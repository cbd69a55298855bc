//! Owns the tasks extension (`io.modelcontextprotocol/tasks`): calls that are answered at once by a handle, under which
//! the client finds later what became of them. What a task is serves the legacy protocol as well.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use super::clock;
use super::exchange::requests;
use super::state::Answers;
use crate::calls::{Answer, NoResult, Outcome};
use crate::dialogue::Question;
use crate::incoming::Failure;

/// The extension's name among the extensions of clients and servers.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// More tasks than this are refused; each is kept to the end of the process, which is within its time.
const MOST_TASKS: usize = 1024;

const TTL_MS: u64 = 3_600_000;
const POLL_INTERVAL_MS: u64 = 100;

/// All tasks.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<HashMap<String, Arc<Task>>>);

/// One task.
pub(crate) struct Task {
    pub(crate) id: String,
    created: String,
    state: Mutex<State>,
    ended: Condvar,
}

struct State {
    updated: String,
    phase: Phase,
    /// What the client has answered so far.
    answers: Answers,
}

enum Phase {
    Working,
    /// What the client must still answer, each as a request of the server.
    InputRequired(Map<String, Value>),
    /// The result, as JSON.
    Completed(String),
    Failed(Failure),
    Cancelled,
}

impl Phase {
    fn status(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired(_) => "input_required",
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a client must declare to use tasks.
pub(super) fn required() -> Value {
    json!({"extensions": {EXTENSION: {}}})
}

impl Tasks {
    /// Begins a task.
    pub(crate) fn begin(&self) -> Result<Arc<Task>, Failure> {
        let mut tasks = lock(&self.0);
        if tasks.len() >= MOST_TASKS {
            return Err(Failure::overloaded());
        }
        let now = clock::now();
        let state = State { updated: now.clone(), phase: Phase::Working, answers: Answers::new() };
        let task = Arc::new(Task { id: random_id()?, created: now, state: Mutex::new(state), ended: Condvar::new() });
        tasks.insert(task.id.clone(), Arc::clone(&task));
        Ok(task)
    }

    /// The task of that id.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<Task>, Failure> {
        let found = lock(&self.0).get(id).cloned();
        found.ok_or_else(|| Failure::invalid_params(format_args!("there is no task `{id}`")))
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<Task>> {
        lock(&self.0).values().cloned().collect()
    }
}

impl Task {
    /// Under what its call is registered; no id of a request, because it is no JSON.
    pub(crate) fn call_id(&self) -> String {
        format!("task {}", self.id)
    }

    /// It as JSON, with what its status says.
    pub(crate) fn to_json(&self) -> String {
        let state = lock(&self.state);
        let status = state.phase.status();
        let more = match &state.phase {
            Phase::Working | Phase::Cancelled => String::new(),
            Phase::InputRequired(requests) => format!(r#","inputRequests":{}"#, Value::Object(requests.clone())),
            Phase::Completed(result) => format!(r#","result":{result}"#),
            Phase::Failed(failure) => format!(r#","error":{}"#, failure.to_json()),
        };
        format!(
            r#"{{"taskId":"{}","status":"{status}","createdAt":"{}","lastUpdatedAt":"{}","ttlMs":{TTL_MS},"pollIntervalMs":{POLL_INTERVAL_MS}{more}}}"#,
            self.id, self.created, state.updated
        )
    }

    /// It as JSON, as 2025-11-25 has it.
    pub(crate) fn to_legacy_json(&self) -> String {
        let state = lock(&self.state);
        let (id, created, updated, status) = (&self.id, &self.created, &state.updated, state.phase.status());
        format!(
            r#"{{"taskId":"{id}","status":"{status}","createdAt":"{created}","lastUpdatedAt":"{updated}","ttl":{TTL_MS},"pollInterval":{POLL_INTERVAL_MS}}}"#
        )
    }

    /// Waits until it has ended, and returns its result.
    pub(crate) fn wait_for_end(&self) -> Result<String, Failure> {
        let mut state = lock(&self.state);
        loop {
            match &state.phase {
                Phase::Completed(result) => return Ok(result.clone()),
                Phase::Failed(failure) => return Err(failure.clone()),
                Phase::Cancelled => return Err(Failure::invalid_params("the task was cancelled")),
                Phase::Working | Phase::InputRequired(_) => {}
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The answers to these questions if the client has given them all; otherwise it is asked for those that lack.
    pub(crate) fn answers(&self, questions: &[Question]) -> Option<Vec<Answer>> {
        let mut state = lock(&self.state);
        let missing: Vec<&Question> =
            questions.iter().filter(|question| !state.answers.contains_key(&question.key)).collect();
        state.phase = if missing.is_empty() { Phase::Working } else { Phase::InputRequired(requests(&missing)) };
        state.updated = clock::now();
        missing.is_empty().then(|| {
            questions.iter().filter_map(|question| state.answers.get(&question.key).cloned().map(Ok)).collect()
        })
    }

    /// Takes answers; those that were not asked for, or are there already, do not count.
    pub(super) fn take(&self, responses: &Answers) {
        let mut state = lock(&self.state);
        let State { phase: Phase::InputRequired(pending), answers, updated } = &mut *state else { return };
        for (key, response) in responses {
            if pending.remove(key).is_some() {
                answers.insert(key.clone(), response.clone());
                *updated = clock::now();
            }
        }
    }

    /// Ends it; a call that never answers never ends its task.
    pub(crate) fn finish(&self, outcome: Outcome) {
        let phase = match outcome {
            Ok(result) | Err(NoResult::Early(result)) => Phase::Completed(result),
            Err(NoResult::Failure(failure)) => Phase::Failed(failure.in_modern()),
            Err(NoResult::Cancelled) => Phase::Cancelled,
            Err(NoResult::Silent | NoResult::InputRequired(_)) => return,
        };
        let mut state = lock(&self.state);
        state.phase = phase;
        state.updated = clock::now();
        self.ended.notify_all();
    }
}

/// Not to be guessed, and not that of another process.
fn random_id() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    filled.map_err(|_| Failure::overloaded())?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
