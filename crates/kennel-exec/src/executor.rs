//! The local executor: makes sessions, finds them again, ends them all.

use crate::attachment::Attachment;
use crate::error::{AttachError, LimitsError};
use crate::ids::SessionId;
use crate::limits::Limits;
use crate::process::Stop;
use crate::session::Session;
use crate::sync::lock;
use kennel_box::Engine;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

/// Runs processes, each in a box of its own, in sessions that survive a lost connection.
///
/// Dropping the executor ends all sessions and their processes at once; [`Executor::shutdown`] also waits for it.
pub struct Executor {
    engine: Arc<dyn Engine>,
    limits: Arc<Limits>,
    registry: Arc<Mutex<Registry>>,
    closing: watch::Sender<Option<Stop>>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Registry {
    sessions: HashMap<SessionId, Arc<Session>>,
    closed: bool,
}

impl Executor {
    /// An executor without sessions.
    pub fn new(engine: Arc<dyn Engine>, limits: Limits) -> Result<Self, LimitsError> {
        limits.check()?;
        Ok(Self {
            engine,
            limits: Arc::new(limits),
            registry: Arc::default(),
            closing: watch::Sender::new(None),
            tasks: TaskTracker::new(),
        })
    }

    /// Opens a new session and attaches to it. Must be called within a tokio runtime.
    pub fn open(&self, id: SessionId) -> Result<Attachment, AttachError> {
        let mut registry = lock(&self.registry);
        if registry.closed {
            return Err(AttachError::ShuttingDown);
        }
        if registry.sessions.contains_key(&id) {
            return Err(AttachError::Exists(id));
        }
        if registry.sessions.len() >= self.limits.sessions {
            return Err(AttachError::TooManySessions { limit: self.limits.sessions });
        }
        let session = Arc::new(Session::new(id.clone(), Arc::clone(&self.engine), Arc::clone(&self.limits)));
        registry.sessions.insert(id.clone(), Arc::clone(&session));
        let remove = {
            let registry = Arc::clone(&self.registry);
            move || {
                lock(&registry).sessions.remove(&id);
            }
        };
        self.tasks.spawn(Arc::clone(&session).keep(self.closing.subscribe(), remove));
        Ok(Attachment::new(session))
    }

    /// Attaches to a session whose attachment is gone.
    pub fn resume(&self, id: &SessionId) -> Result<Attachment, AttachError> {
        let session = lock(&self.registry).sessions.get(id).cloned();
        let session = session.ok_or_else(|| AttachError::Unknown(id.clone()))?;
        session.attach()?;
        Ok(Attachment::new(session))
    }

    /// Ends all sessions and waits until nothing of them is left. No session can be opened any more.
    pub async fn shutdown(&self, stop: Stop) {
        lock(&self.registry).closed = true;
        self.closing.send_replace(Some(stop));
        self.tasks.close();
        self.tasks.wait().await;
    }
}
