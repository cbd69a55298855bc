//! The live hold on a session: everything a caller can ask for.

use crate::consumers::Consumers;
use crate::error::{EventsError, FeedError, ProcessError, StartError, WriteError};
use crate::event::{Event, Seq};
use crate::ids::{ProcessId, SessionId, WriteId};
use crate::process::{Process, ProcessStatus, Stop};
use crate::session::Session;
use crate::stdin::WriteOutcome;
use crate::subscription::Subscription;
use bytes::Bytes;
use kennel_box::{BoxPlan, Command};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// What to start, and in what kind of box.
#[derive(Clone)]
pub struct StartRequest {
    /// The box.
    pub plan: Arc<BoxPlan>,
    /// What runs in it.
    pub command: Command,
}

/// Which events to read, and how long to wait for the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadRequest {
    /// The last event the caller has dealt with; this and earlier ones may be dropped.
    pub after: Seq,
    /// How much output to return; the first chunk comes whole even if it is larger.
    pub max_bytes: usize,
    /// How long to wait when there is nothing yet.
    pub wait: Duration,
}

/// Writes to the standard input of one process, in order and without waiting.
#[derive(Clone)]
pub struct Feed(Arc<Process>);

impl Feed {
    /// Writes bytes, whole or not at all: to the pipe as far as it takes them now, the rest when it does.
    ///
    /// What is taken reaches the process unless the process ends first. [`Limits::pending_write_bytes`] may wait so,
    /// or one larger write alone.
    ///
    /// [`Limits::pending_write_bytes`]: crate::Limits::pending_write_bytes
    pub fn send(&self, bytes: Bytes) -> Result<(), FeedError> {
        self.0.stdin.feed(bytes)
    }

    /// The same, written together with what others send at the same time: a little later, and cheaper by far where many
    /// send.
    pub fn send_together(&self, bytes: Bytes) -> Result<(), FeedError> {
        self.0.stdin.feed_together(bytes)
    }
}

/// The one live hold on a session.
///
/// All requests take `&self` and none waits for another: share the attachment in an [`Arc`]. Dropping it detaches
/// the session.
pub struct Attachment {
    session: Arc<Session>,
}

impl Attachment {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }

    /// The session's id, by which it can be resumed.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session.id
    }

    /// Starts a process in a box of its own and returns when it runs.
    ///
    /// Its output is kept from the first byte on, and it waits for a consumer when the log is full, unless it is
    /// [released](Attachment::release). From the call on, the id stands for a process that is [`Starting`](crate::Phase::Starting). If the returned
    /// future is dropped, the start goes on.
    pub async fn start(&self, id: ProcessId, request: StartRequest) -> Result<(), StartError> {
        self.session.start(id, request).await
    }

    /// Writes bytes to standard input and returns when the process's pipe has taken all of them.
    ///
    /// A write with an id that was used before is not made again: its outcome is that of the first. Ids are
    /// remembered per process, [`Limits::remembered_writes`](crate::Limits::remembered_writes) of them. If the
    /// returned future is dropped, the write may or may not be made; the same id tells.
    pub async fn write(&self, id: &ProcessId, write: WriteId, bytes: Bytes) -> Result<WriteOutcome, WriteError> {
        match self.session.find(id) {
            Some(process) => process.stdin.write(write, bytes).await,
            None => Ok(WriteOutcome::UnknownProcess),
        }
    }

    /// A way to write to standard input without waiting, for a caller that needs no acknowledgement.
    pub fn feed(&self, id: &ProcessId) -> Result<Feed, ProcessError> {
        Ok(Feed(self.find(id)?))
    }

    /// Refuses further writes and closes standard input when those before are made.
    pub fn close_stdin(&self, id: &ProcessId) -> Result<(), ProcessError> {
        self.find(id)?.stdin.close();
        Ok(())
    }

    /// Returns events, at once if there are any or none will come, otherwise at the first event or the deadline.
    ///
    /// An empty answer before [`Closed`](crate::EventKind::Closed) means that the deadline passed. The caller's place
    /// is kept as the crate's documentation says.
    pub async fn read(&self, id: &ProcessId, request: ReadRequest) -> Result<Vec<Event>, EventsError> {
        let process = self.session.find(id).ok_or_else(|| EventsError::Unknown(id.clone()))?;
        match timeout(request.wait, process.log.read(request.after, request.max_bytes)).await {
            Ok(events) => events,
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Takes the events after `after` one by one, first those that are kept, then those to come.
    pub fn subscribe(&self, id: &ProcessId, after: Seq) -> Result<Subscription, EventsError> {
        let process = self.session.find(id).ok_or_else(|| EventsError::Unknown(id.clone()))?;
        Subscription::new(process, after)
    }

    /// The same for a consumer that reads standard output in its own task: a chunk is there with one wake less, but
    /// nothing is read while the consumer does not wait for it. The process blocks when its pipe is full.
    pub fn attend(&self, id: &ProcessId, after: Seq) -> Result<Subscription, EventsError> {
        let process = self.session.find(id).ok_or_else(|| EventsError::Unknown(id.clone()))?;
        Ok(Subscription::new(process, after)?.attending())
    }

    /// Gives up the place kept for whoever reads or subscribes next: unless something is subscribed, the process
    /// no longer waits for anybody.
    pub fn release(&self, id: &ProcessId) -> Result<(), ProcessError> {
        self.find(id)?.log.consumers(Consumers::release_place);
        Ok(())
    }

    /// The processes of the session and how each of them is.
    #[must_use]
    pub fn processes(&self) -> Vec<(ProcessId, ProcessStatus)> {
        let processes = self.session.processes();
        processes.iter().map(|process| (process.id.clone(), process.status())).collect()
    }

    /// How a process is.
    pub fn status(&self, id: &ProcessId) -> Result<ProcessStatus, ProcessError> {
        Ok(self.find(id)?.status())
    }

    /// The last lines of standard error, at most `count`, oldest first; complete when the process is closed.
    pub fn stderr(&self, id: &ProcessId, count: usize) -> Result<Vec<String>, ProcessError> {
        Ok(self.find(id)?.stderr(|ring| ring.last(count)))
    }

    /// Sends a signal to the process itself, not to its children.
    pub fn signal(&self, id: &ProcessId, signal: i32) -> Result<(), ProcessError> {
        self.find(id)?.signal(signal)
    }

    /// Stops a process with everything in its box, and returns when the box is gone.
    ///
    /// A process that is starting does not start. If the returned future is dropped after it was polled, stopping
    /// goes on; a second call with [`Stop::Now`] cuts a graceful stop short.
    pub async fn terminate(&self, id: &ProcessId, stop: Stop) -> Result<(), ProcessError> {
        let process = self.find(id)?;
        process.request_stop(stop);
        process.box_ended().await
    }

    /// Ends the session with all its processes and returns when nothing of them is left.
    pub async fn end(self, stop: Stop) {
        self.session.end(stop).await;
    }

    fn find(&self, id: &ProcessId) -> Result<Arc<Process>, ProcessError> {
        self.session.find(id).ok_or_else(|| ProcessError::Unknown(id.clone()))
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.session.detach();
    }
}
