//! A session: its processes, who is attached to it, and when it ends.

use crate::attachment::StartRequest;
use crate::consumers::Consumers;
use crate::driver::drive;
use crate::error::{AttachError, StartError};
use crate::ids::{ProcessId, SessionId};
use crate::limits::Limits;
use crate::process::{Process, Stop};
use crate::sync::lock;
use kennel_box::Engine;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The processes of one caller, which outlive its connection.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) engine: Arc<dyn Engine>,
    limits: Arc<Limits>,
    hold: watch::Sender<Hold>,
    table: Mutex<Table>,
    tasks: TaskTracker,
    /// Cancelled, under the lock of the table, when no process may start any more.
    ending: CancellationToken,
    /// Cancelled when nothing of the session is left.
    ended: CancellationToken,
}

/// Who holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    Attached,
    Detached { since: Instant },
    Ending(Stop),
}

#[derive(Default)]
struct Table {
    processes: HashMap<ProcessId, Arc<Process>>,
    /// The closed ones among them, in the order they closed.
    finished: VecDeque<Arc<Process>>,
}

impl Session {
    /// A new session, attached.
    pub(crate) fn new(id: SessionId, engine: Arc<dyn Engine>, limits: Arc<Limits>) -> Self {
        Self {
            id,
            engine,
            limits,
            hold: watch::Sender::new(Hold::Attached),
            table: Mutex::default(),
            tasks: TaskTracker::new(),
            ending: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    pub(crate) fn attach(&self) -> Result<(), AttachError> {
        let mut result = Ok(());
        self.hold.send_if_modified(|hold| match hold {
            Hold::Detached { .. } => {
                *hold = Hold::Attached;
                true
            }
            Hold::Attached => {
                result = Err(AttachError::AlreadyAttached(self.id.clone()));
                false
            }
            Hold::Ending(_) => {
                result = Err(AttachError::Unknown(self.id.clone()));
                false
            }
        });
        result
    }

    /// Detaches. The places of consumers are taken first, so that those of a successor are not among them.
    pub(crate) fn detach(&self) {
        for process in self.processes() {
            process.log.consumers(Consumers::detach);
        }
        self.hold.send_if_modified(|hold| {
            let attached = *hold == Hold::Attached;
            if attached {
                *hold = Hold::Detached { since: Instant::now() };
            }
            attached
        });
    }

    /// Has the session ended and waits until nothing of it is left.
    pub(crate) async fn end(&self, stop: Stop) {
        self.hold.send_replace(Hold::Ending(stop));
        self.ended.cancelled().await;
    }

    /// Keeps the session until it is ended, stays detached too long, or the executor closes; then ends it.
    ///
    /// `then` runs when nothing is left and before anybody is told.
    pub(crate) async fn keep(self: Arc<Self>, closing: watch::Receiver<Option<Stop>>, then: impl FnOnce()) {
        let mut hold = self.hold.subscribe();
        let stop = loop {
            let now = *hold.borrow_and_update();
            let expiry = match now {
                Hold::Ending(stop) => break stop,
                Hold::Attached => None,
                Hold::Detached { since } => Some(self.limits.detached_kept.saturating_sub(since.elapsed())),
            };
            tokio::select! {
                biased;
                _ = hold.changed() => {}
                stop = asked_to_stop(closing.clone()) => break stop,
                () = pass(expiry) => self.expire(now),
            }
        };
        self.hold.send_replace(Hold::Ending(stop));
        self.end_processes(stop).await;
        then();
        self.ended.cancel();
    }

    /// Ends the session if it is still held as it was when its time began.
    fn expire(&self, held: Hold) {
        self.hold.send_if_modified(|hold| {
            let unchanged = *hold == held;
            if unchanged {
                *hold = Hold::Ending(Stop::Gracefully(self.limits.graces));
            }
            unchanged
        });
    }

    async fn end_processes(&self, stop: Stop) {
        let processes: Vec<_> = {
            let table = lock(&self.table);
            self.ending.cancel();
            table.processes.values().cloned().collect()
        };
        for process in processes {
            process.request_stop(stop);
            process.log.consumers(Consumers::let_go);
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Enters a placeholder, starts the process behind it, and waits until it has started.
    ///
    /// The start goes on when the caller stops waiting: a lost connection must not leave half a process.
    pub(crate) async fn start(self: &Arc<Self>, id: ProcessId, request: StartRequest) -> Result<(), StartError> {
        let (started, answer) = oneshot::channel();
        {
            let mut table = lock(&self.table);
            if self.ending.is_cancelled() {
                return Err(StartError::SessionEnded);
            }
            if table.processes.contains_key(&id) {
                return Err(StartError::IdInUse(id));
            }
            if table.processes.len() >= self.limits.processes {
                return Err(StartError::TooManyProcesses { limit: self.limits.processes });
            }
            let forgotten = self.ending.child_token();
            let process = Arc::new(Process::starting(id.clone(), Arc::clone(&self.limits), forgotten));
            table.processes.insert(id, Arc::clone(&process));
            // Under the lock, so that ending the session waits for every process that is in the table.
            self.tasks.spawn(drive(Arc::clone(self), process, request, started));
        }
        answer.await.unwrap_or(Err(StartError::SessionEnded))
    }

    pub(crate) fn find(&self, id: &ProcessId) -> Option<Arc<Process>> {
        lock(&self.table).processes.get(id).cloned()
    }

    pub(crate) fn processes(&self) -> Vec<Arc<Process>> {
        lock(&self.table).processes.values().cloned().collect()
    }

    /// Counts a process among the closed ones; if there are too many, the oldest has to go.
    pub(crate) fn retire(&self, process: &Arc<Process>) {
        let mut table = lock(&self.table);
        table.finished.push_back(Arc::clone(process));
        while table.finished.len() > self.limits.finished_processes
            && let Some(oldest) = table.finished.pop_front()
        {
            // Its driver forgets it, as it would have when its time was up.
            oldest.forgotten.cancel();
        }
    }

    /// Removes a process, which its driver does last of all; its id is free from then on.
    pub(crate) fn forget(&self, process: &Arc<Process>) {
        let mut table = lock(&self.table);
        table.finished.retain(|other| !Arc::ptr_eq(other, process));
        table.processes.remove(&process.id);
    }
}

async fn asked_to_stop(mut closing: watch::Receiver<Option<Stop>>) -> Stop {
    match closing.wait_for(Option::is_some).await.as_deref() {
        Ok(Some(stop)) => *stop,
        // The executor was dropped.
        Ok(None) | Err(_) => Stop::Now,
    }
}

async fn pass(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => std::future::pending().await,
    }
}
