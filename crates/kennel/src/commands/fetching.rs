//! Fetches what a definition refers to, when a server is started or reached and not before.

use crate::commands::console::Console;
use crate::commands::definition::Definition;
use kennel_config::{Resolved, ResolvedLaunch, Secret, Sources};
use kennel_supervisor::{LaunchFailure, Permanence, Phase};
use serde_json::json;
use std::sync::Arc;

/// How a server is started or reached, with its secrets, which the console hides from now on.
pub(crate) async fn fetched(
    definition: &Arc<Definition>,
    sources: &Arc<dyn Sources + Send + Sync>,
    console: &Console,
) -> Result<ResolvedLaunch, LaunchFailure> {
    let (definition, sources) = (Arc::clone(definition), Arc::clone(sources));
    // A program or a keyring may take its time.
    let fetching = tokio::task::spawn_blocking(move || {
        definition.server.resolve(&definition.name, &definition.directory, &*sources)
    });
    let failed = |text: String, permanence| LaunchFailure {
        phase: Phase::CreateBox,
        text,
        hint: None,
        permanence,
        stderr: Vec::new(),
    };
    let resolved = fetching.await.map_err(|error| failed(error.to_string(), Permanence::Transient))?;
    let Resolved { launch, secrets, warnings } =
        resolved.map_err(|error| failed(error.to_string(), Permanence::Permanent))?;
    console.hide(secrets.iter().map(Secret::expose));
    for warning in warnings {
        console.say("secret", &warning, json!({}));
    }
    Ok(launch)
}
