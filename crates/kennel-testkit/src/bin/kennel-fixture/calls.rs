//! Owns the calls in flight: each has a thread, can be cancelled, and can ask the client something.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::incoming::Failure;
use crate::server::Server;
use crate::tools::Tool;

/// More calls in flight than this are refused.
const MOST_CALLS: usize = 1024;

/// More cancellations than this are not remembered.
const MOST_CANCELLATIONS: usize = 1024;

/// Small: a call's thread holds little, and there can be many.
const STACK: usize = 256 << 10;

/// What a tool makes of a call: its result as JSON.
pub(crate) type Outcome = Result<String, NoResult>;

/// Why a call has no result.
pub(crate) enum NoResult {
    /// The client has cancelled it, so nothing is answered.
    Cancelled,
    /// The tool is one that never answers.
    Silent,
    /// The call was wrong.
    Failure(Failure),
}

impl From<Failure> for NoResult {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// What the client answered to a request of the server: a result or an error, as JSON.
pub(crate) type Answer = Result<String, String>;

/// All calls in flight.
#[derive(Default)]
pub(crate) struct Calls {
    /// By the id of the client's request.
    running: Mutex<HashMap<String, Arc<Progress>>>,
    /// Who waits for the answer to a request of the server, by its id.
    asked: Mutex<HashMap<String, Arc<Progress>>>,
    next_id: AtomicU64,
    cancellations: Mutex<Vec<Cancellation>>,
}

/// One `notifications/cancelled` that came.
struct Cancellation {
    id: String,
    in_flight: bool,
}

/// What happens to a call while its tool runs.
#[derive(Default)]
struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    cancelled: bool,
    answers: HashMap<String, Answer>,
}

/// One call of a tool, as the tool sees it.
pub(crate) struct Call {
    pub(crate) server: Arc<Server>,
    /// The arguments as the client spelled them.
    pub(crate) raw_arguments: String,
    pub(crate) arguments: Arguments,
    id: String,
    progress_token: Option<String>,
    progress: Arc<Progress>,
}

/// A call as it came in.
pub(crate) struct Order<'a> {
    pub(crate) id: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) progress_token: Option<&'a str>,
}

/// Starts a tool in a thread of its own, which answers.
pub(crate) fn start(server: &Arc<Server>, tool: &'static Tool, order: &Order<'_>) -> Result<(), Failure> {
    let call = Call {
        server: Arc::clone(server),
        raw_arguments: order.arguments.to_owned(),
        arguments: Arguments::parse(order.arguments)?,
        id: order.id.to_owned(),
        progress_token: order.progress_token.map(str::to_owned),
        progress: server.calls.register(order.id)?,
    };
    let run = move || call.finish((tool.run)(&call));
    // The thread ends with its call or with the process.
    thread::Builder::new().stack_size(STACK).spawn(run).map(drop).map_err(|_| {
        server.calls.unregister(order.id);
        Failure::overloaded()
    })
}

impl Calls {
    fn register(&self, id: &str) -> Result<Arc<Progress>, Failure> {
        let mut running = lock(&self.running);
        if running.len() >= MOST_CALLS {
            return Err(Failure::overloaded());
        }
        if running.contains_key(id) {
            return Err(Failure::invalid_request("a request with this id is still in flight"));
        }
        let progress = Arc::new(Progress::default());
        running.insert(id.to_owned(), Arc::clone(&progress));
        Ok(progress)
    }

    fn unregister(&self, id: &str) {
        lock(&self.running).remove(id);
    }

    /// The client no longer wants an answer to its request.
    pub(crate) fn cancel(&self, id: &str) {
        let progress = lock(&self.running).get(id).cloned();
        let mut cancellations = lock(&self.cancellations);
        if cancellations.len() < MOST_CANCELLATIONS {
            cancellations.push(Cancellation { id: id.to_owned(), in_flight: progress.is_some() });
        }
        drop(cancellations);
        if let Some(progress) = progress {
            lock(&progress.state).cancelled = true;
            progress.changed.notify_all();
        }
    }

    /// The client has answered a request of the server; false if nobody waits for that answer.
    pub(crate) fn answered(&self, id: &str, answer: Answer) -> bool {
        let Some(progress) = lock(&self.asked).remove(id) else { return false };
        lock(&progress.state).answers.insert(id.to_owned(), answer);
        progress.changed.notify_all();
        true
    }

    /// Every cancellation that came, as JSON: `[{"id": …, "inFlight": …}]`.
    pub(crate) fn cancellations(&self) -> String {
        let list = lock(&self.cancellations);
        let items = list.iter().map(|one| format!(r#"{{"id":{},"inFlight":{}}}"#, one.id, one.in_flight));
        format!("[{}]", items.collect::<Vec<_>>().join(","))
    }

    /// An id for a request of the server: 0, 1, 2, … Zero first, because proxies stumble over it.
    pub(crate) fn next_id(&self) -> String {
        self.next_id.fetch_add(1, Ordering::Relaxed).to_string()
    }
}

impl Call {
    /// Lets time pass, unless the call is cancelled.
    pub(crate) fn wait(&self, time: Duration) -> Result<(), NoResult> {
        let end = Instant::now() + time;
        let mut state = lock(&self.progress.state);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if state.cancelled {
                return Err(NoResult::Cancelled);
            }
            if left.is_zero() {
                return Ok(());
            }
            state = self.progress.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Reports progress, if the client has asked for it.
    pub(crate) fn report(&self, progress: u64, total: u64) {
        if let Some(token) = &self.progress_token {
            let params = format!(r#"{{"progressToken":{token},"progress":{progress},"total":{total}}}"#);
            self.server.output.notification("notifications/progress", &params);
        }
    }

    /// Asks the client, and waits for its answer.
    pub(crate) fn ask(&self, method: &str, params: &Value) -> Result<Answer, NoResult> {
        let id = self.server.calls.next_id();
        let mut answers = self.ask_all(method, vec![(id, params.clone())])?;
        Ok(answers.pop().unwrap_or_else(|| Err("no answer".to_owned())))
    }

    /// Asks the client several things at once under the given ids (JSON), and waits for all answers.
    pub(crate) fn ask_all(&self, method: &str, questions: Vec<(String, Value)>) -> Result<Vec<Answer>, NoResult> {
        let calls = &self.server.calls;
        for (id, _) in &questions {
            lock(&calls.asked).insert(id.clone(), Arc::clone(&self.progress));
        }
        for (id, params) in &questions {
            self.server.output.request(id, method, &params.to_string());
        }
        let mut state = lock(&self.progress.state);
        loop {
            if state.cancelled {
                drop(state);
                for (id, _) in questions {
                    if lock(&calls.asked).remove(&id).is_some() {
                        let params = format!(r#"{{"requestId":{id},"reason":"the call was cancelled"}}"#);
                        self.server.output.notification("notifications/cancelled", &params);
                    }
                }
                return Err(NoResult::Cancelled);
            }
            if questions.iter().all(|(id, _)| state.answers.contains_key(id)) {
                return Ok(questions.iter().filter_map(|(id, _)| state.answers.remove(id)).collect());
            }
            state = self.progress.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Answers the call, unless there is nothing to answer. A call that never answers stays in flight.
    fn finish(&self, outcome: Outcome) {
        if matches!(outcome, Err(NoResult::Silent)) {
            return;
        }
        // First: once it is answered, the client may use the id again.
        self.server.calls.unregister(&self.id);
        if lock(&self.progress.state).cancelled {
            return;
        }
        match outcome {
            Ok(result) => self.server.output.result(&self.id, &result),
            Err(NoResult::Failure(failure)) => self.server.output.error(&self.id, &failure),
            Err(NoResult::Cancelled | NoResult::Silent) => {}
        }
    }
}

/// What the client answered, in words for a text content.
pub(crate) fn in_words(answer: &Answer) -> String {
    match answer {
        Ok(result) => result.clone(),
        Err(error) => json!({"error": serde_json::from_str::<Value>(error).unwrap_or_default()}).to_string(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
