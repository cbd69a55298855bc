//! Starts conversations with a server that runs elsewhere, as if they were processes.

use crate::engine::{UpstreamEngine, plan};
use crate::error::UpstreamError;
use crate::prepared::Prepared;
use crate::target::Upstream;
use kennel_box::{BoxError, BoxPlan, Command};
use kennel_exec::{AttachError, Attachment, Executor, LimitsError, SessionId, StartRequest};
use kennel_supervisor::{BoxLauncher, LaunchFailure, LaunchFuture, LaunchSteps, Launched, Launcher, Permanence, Phase};
use std::ffi::OsString;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a source gives: the server as it is to be talked to now, or why that cannot be said.
pub type SourceFuture = Pin<Box<dyn Future<Output = Result<Upstream, LaunchFailure>> + Send>>;

type Source = dyn Fn() -> SourceFuture + Send + Sync;

/// Why a launcher cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamLauncherError {
    /// The bounds of the executor do not go together.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The executor gives no session.
    #[error(transparent)]
    Session(#[from] AttachError),
    /// There is no plan for a box without anything.
    #[error(transparent)]
    Plan(#[from] BoxError),
}

/// Launches conversations with one server, each with its address and headers fetched anew. Dropping it ends them all.
pub struct UpstreamLauncher {
    source: Box<Source>,
    engine: UpstreamEngine,
    plan: Arc<BoxPlan>,
    launched: AtomicU64,
    attachment: Arc<Attachment>,
    /// Owns the conversations.
    _executor: Executor,
}

impl UpstreamLauncher {
    /// A launcher that asks `source` for the server at each start. The bounds are those of any process. Must be called
    /// within a tokio runtime.
    pub fn new<F>(
        limits: kennel_exec::Limits,
        source: impl Fn() -> F + Send + Sync + 'static,
    ) -> Result<Self, UpstreamLauncherError>
    where
        F: Future<Output = Result<Upstream, LaunchFailure>> + Send + 'static,
    {
        let engine = UpstreamEngine::default();
        let executor = Executor::new(Arc::new(engine.clone()), limits)?;
        let attachment = Arc::new(executor.open(SessionId::new("upstream"))?);
        Ok(Self {
            source: Box::new(move || Box::pin(source())),
            engine,
            plan: Arc::new(plan()?),
            launched: AtomicU64::new(0),
            attachment,
            _executor: executor,
        })
    }

    async fn start(&self, steps: &dyn LaunchSteps) -> Result<Launched, LaunchFailure> {
        let preparing = async {
            let upstream = (self.source)().await?;
            // Certificates are read from files.
            let prepared = tokio::task::spawn_blocking(move || Prepared::new(upstream)).await;
            let prepared = prepared.map_err(|error| failure(error.to_string(), Permanence::Transient))?;
            let prepared = prepared?;
            // Where nobody is, a conversation would only end, from which the supervisor might learn something about eras.
            steps.entered(Phase::StartProcess);
            match prepared.client.reach().await {
                Ok(()) => Ok(prepared),
                Err(fault) => Err(LaunchFailure {
                    phase: Phase::StartProcess,
                    ..failure(fault.to_string(), Permanence::Transient)
                }),
            }
        };
        let prepared = steps.cancelled().run_until_cancelled(preparing).await;
        let prepared =
            prepared.unwrap_or_else(|| Err(failure("the start was called off".to_owned(), Permanence::Transient)))?;
        let number = self.launched.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("upstream{number}");
        let program = OsString::from(&name);
        let _waiting = self.engine.prepare(program.clone(), prepared);
        let command = Command { program, ..Command::default() };
        let request = StartRequest { plan: Arc::clone(&self.plan), command };
        BoxLauncher::new(Arc::clone(&self.attachment), name, request).launch(steps).await
    }
}

impl Launcher for UpstreamLauncher {
    fn launch<'a>(&'a self, steps: &'a dyn LaunchSteps) -> LaunchFuture<'a> {
        Box::pin(self.start(steps))
    }
}

/// What a source says that cannot describe its server.
impl From<UpstreamError> for LaunchFailure {
    fn from(error: UpstreamError) -> Self {
        let permanence = match &error {
            // Somebody may install certificates meanwhile.
            UpstreamError::NoRoots(_) => Permanence::Transient,
            UpstreamError::NoAddress
            | UpstreamError::Scheme
            | UpstreamError::Credentials
            | UpstreamError::HeaderName(_)
            | UpstreamError::Reserved(_)
            | UpstreamError::HeaderValue(_)
            | UpstreamError::Certificate(_)
            | UpstreamError::Tls(_) => Permanence::Permanent,
        };
        failure(error.to_string(), permanence)
    }
}

fn failure(text: String, permanence: Permanence) -> LaunchFailure {
    LaunchFailure { phase: Phase::CreateBox, text, hint: None, permanence, stderr: Vec::new() }
}
