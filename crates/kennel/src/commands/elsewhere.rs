//! Reaches the servers of the file that run elsewhere.

use crate::commands::console::Console;
use crate::commands::definition::Definition;
use crate::commands::fetching::fetched;
use crate::failure::Failure;
use kennel_config::{ResolvedLaunch, ResolvedUpstream, Secret, Sources, Transport};
use kennel_supervisor::{LaunchFailure, Permanence};
use kennel_upstream::{Limits, Upstream, UpstreamError, UpstreamLauncher};
use std::sync::Arc;

/// What connects to a server that runs elsewhere, as if it started it.
pub(crate) fn launcher(
    definition: Definition,
    console: &Arc<Console>,
    sources: &Arc<dyn Sources + Send + Sync>,
    limits: kennel_exec::Limits,
) -> Result<UpstreamLauncher, Failure> {
    let (definition, console, sources) = (Arc::new(definition), Arc::clone(console), Arc::clone(sources));
    let message_bytes = limits.pending_write_bytes;
    let source = move || {
        let (definition, console, sources) = (Arc::clone(&definition), Arc::clone(&console), Arc::clone(&sources));
        async move {
            match fetched(&definition, &sources, &console).await? {
                ResolvedLaunch::Upstream(resolved) => {
                    upstream(&resolved, message_bytes).map_err(|error| unusable(&error))
                }
                ResolvedLaunch::Process(_) => Err(unusable(&"it is started here, not reached")),
            }
        }
    };
    UpstreamLauncher::new(limits, source).map_err(|error| Failure::Argument(error.to_string()))
}

fn upstream(resolved: &ResolvedUpstream, message_bytes: usize) -> Result<Upstream, UpstreamError> {
    let transport = match resolved.transport {
        Transport::Auto => kennel_upstream::Transport::Auto,
        Transport::Http => kennel_upstream::Transport::Http,
        Transport::Sse => kennel_upstream::Transport::Sse,
    };
    let limits = Limits { message_bytes, ..Limits::default() };
    let bare = Upstream::new(&resolved.url)?.transport(transport).limits(limits);
    resolved.headers.iter().try_fold(bare, |upstream, (name, value)| upstream.header(name, Secret::expose(value)))
}

fn unusable(error: &impl ToString) -> LaunchFailure {
    LaunchFailure::without_conversation(error.to_string(), Permanence::Permanent)
}
