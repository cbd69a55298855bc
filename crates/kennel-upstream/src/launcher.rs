//! Starts conversations with a server that runs elsewhere, as if they were processes.

use crate::conversation::converse;
use crate::error::UpstreamError;
use crate::prepared::Prepared;
use crate::target::Upstream;
use kennel_supervisor::{
    LaunchFailure, LaunchFuture, LaunchSteps, Launched, Launcher, Permanence, Phase, StandInError, StandIns,
};
use std::future::Future;
use std::pin::Pin;

/// What a source gives: the server as it is to be talked to now, or why that cannot be said.
pub type SourceFuture = Pin<Box<dyn Future<Output = Result<Upstream, LaunchFailure>> + Send>>;

type Source = dyn Fn() -> SourceFuture + Send + Sync;

/// Launches conversations with one server, each with its address and headers fetched anew. Dropping it ends them all.
pub struct UpstreamLauncher {
    source: Box<Source>,
    conversations: StandIns,
}

impl UpstreamLauncher {
    /// A launcher that asks `source` for the server at each start. The bounds are those of any process. Must be called
    /// within a tokio runtime.
    pub fn new<F>(
        limits: kennel_exec::Limits,
        source: impl Fn() -> F + Send + Sync + 'static,
    ) -> Result<Self, StandInError>
    where
        F: Future<Output = Result<Upstream, LaunchFailure>> + Send + 'static,
    {
        let conversations = StandIns::new("upstream", limits)?;
        Ok(Self { source: Box::new(move || Box::pin(source())), conversations })
    }

    async fn start(&self, steps: &dyn LaunchSteps) -> Result<Launched, LaunchFailure> {
        let preparing = async {
            let upstream = (self.source)().await?;
            // Certificates are read from files.
            let prepared = tokio::task::spawn_blocking(move || Prepared::new(upstream)).await;
            let prepared = prepared
                .map_err(|error| LaunchFailure::without_conversation(error.to_string(), Permanence::Transient))?;
            let prepared = prepared?;
            // Where nobody is, a conversation would only end, from which the supervisor might learn something about eras.
            steps.entered(Phase::StartProcess);
            match prepared.client.reach().await {
                Ok(()) => Ok(prepared),
                Err(fault) => Err(LaunchFailure {
                    phase: Phase::StartProcess,
                    ..LaunchFailure::without_conversation(fault.to_string(), Permanence::Transient)
                }),
            }
        };
        let prepared = steps.cancelled().run_until_cancelled(preparing).await;
        let prepared = prepared.unwrap_or_else(|| {
            Err(LaunchFailure::without_conversation("the start was called off".to_owned(), Permanence::Transient))
        })?;
        self.conversations.start(steps, move |pipes| converse(prepared, pipes)).await
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
        LaunchFailure::without_conversation(error.to_string(), permanence)
    }
}
