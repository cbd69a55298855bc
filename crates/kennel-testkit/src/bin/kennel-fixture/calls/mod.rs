//! Owns the calls in flight: each has a thread, can be cancelled, and can wait for answers of the client.

mod asking;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::arguments::Arguments;
use crate::incoming::Failure;
use crate::modern::exchange::Exchange;
use crate::modern::results;
use crate::modern::tasks::Task;
use crate::server::Server;

/// More calls in flight than this are refused.
const MOST_CALLS: usize = 1024;

/// More cancellations than this are not remembered.
const MOST_CANCELLATIONS: usize = 1024;

/// Small: a call's thread holds little, and there can be many.
const STACK: usize = 256 << 10;

/// What a call runs, in a thread of its own: a tool, a prompt or a resource that asks.
pub(crate) type Work = fn(&Call) -> Outcome;

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
    /// There is a result, but the work ended early: that of a tool that could not do its work.
    Early(String),
    /// The client must answer something first; this result says what.
    InputRequired(String),
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
pub(crate) struct Cancellation {
    /// Of the request, as JSON.
    pub(crate) id: String,
    /// Whether it came in time.
    pub(crate) in_flight: bool,
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
    /// What a modern request brought; None for a legacy one.
    pub(crate) exchange: Option<Exchange>,
    id: String,
    progress_token: Option<String>,
    reply: Reply,
    progress: Arc<Progress>,
}

/// A call as it came in.
pub(crate) struct Order<'a> {
    pub(crate) id: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) progress_token: Option<&'a str>,
    pub(crate) reply: Reply,
}

/// What a result has beside what the work makes.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Nothing: a legacy one.
    Plain,
    /// What every modern one has.
    Complete,
    /// What a modern one has that can be kept.
    Cacheable,
    /// Nothing is answered any more; the client looks for the result in the task.
    Task(Arc<Task>),
}

/// Starts a call in a thread of its own, which answers.
pub(crate) fn start(
    server: &Arc<Server>,
    work: Work,
    order: &Order<'_>,
    exchange: Option<Exchange>,
) -> Result<(), Failure> {
    let call = Call {
        server: Arc::clone(server),
        raw_arguments: order.arguments.to_owned(),
        arguments: Arguments::parse(order.arguments)?,
        exchange,
        id: order.id.to_owned(),
        progress_token: order.progress_token.map(str::to_owned),
        reply: order.reply.clone(),
        progress: server.calls.register(order.id)?,
    };
    let run = move || call.finish(work(&call));
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

    /// The client no longer wants an answer to its request; false if that is not in flight.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let Some(progress) = lock(&self.running).get(id).cloned() else { return false };
        lock(&progress.state).cancelled = true;
        progress.changed.notify_all();
        true
    }

    /// Lets a call look again at what it waits for.
    pub(crate) fn wake(&self, id: &str) {
        if let Some(progress) = lock(&self.running).get(id).cloned() {
            // Under the lock, so that it comes before or after a look and not between that and the wait.
            let _state = lock(&progress.state);
            progress.changed.notify_all();
        }
    }

    /// Keeps a cancellation for `cancelled_requests`.
    pub(crate) fn remember(&self, cancellation: Cancellation) {
        let mut cancellations = lock(&self.cancellations);
        if cancellations.len() < MOST_CANCELLATIONS {
            cancellations.push(cancellation);
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
    fn next_id(&self) -> String {
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

    /// The task that the call runs as.
    pub(crate) fn task(&self) -> Option<&Arc<Task>> {
        if let Reply::Task(task) = &self.reply { Some(task) } else { None }
    }

    /// Reports progress, if the client has asked for it.
    pub(crate) fn report(&self, progress: u64, total: u64) {
        if let Some(token) = &self.progress_token {
            let params = format!(r#"{{"progressToken":{token},"progress":{progress},"total":{total}}}"#);
            self.server.output.notification("notifications/progress", &params);
        }
    }

    /// Answers the call, unless there is nothing to answer. A call that never answers stays in flight.
    fn finish(&self, outcome: Outcome) {
        if matches!(outcome, Err(NoResult::Silent)) {
            return;
        }
        // First: once it is answered, the client may use the id again.
        self.server.calls.unregister(&self.id);
        if let Some(task) = self.task() {
            task.finish(outcome);
            self.server.listeners.task_changed(&self.server.output, task);
            return;
        }
        if lock(&self.progress.state).cancelled {
            return;
        }
        let (server, id) = (&self.server, &self.id);
        match outcome {
            Ok(result) | Err(NoResult::Early(result)) => match self.reply {
                Reply::Task(_) => {}
                Reply::Plain => server.output.result(id, &result),
                Reply::Complete => server.output.result_with(id, results::COMPLETE, &result),
                Reply::Cacheable => server.output.result_with(id, server.options.hints.cacheable(), &result),
            },
            Err(NoResult::InputRequired(result)) => server.output.result_with(id, results::INPUT_REQUIRED, &result),
            Err(NoResult::Failure(failure)) => match self.reply {
                Reply::Plain => server.output.error(id, &failure),
                Reply::Task(_) | Reply::Complete | Reply::Cacheable => server.output.error(id, &failure.in_modern()),
            },
            Err(NoResult::Cancelled | NoResult::Silent) => {}
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
