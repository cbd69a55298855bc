//! Owns the last hours of a server that was replaced: its calls are waited for, and then it ends.

use crate::commands::server::Assembled;
use kennel_config::ServerName;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How often it is looked whether calls are in flight.
const LOOK: Duration = Duration::from_millis(20);

/// A server that something else has taken the place of.
pub(super) struct Retiring {
    name: ServerName,
    assembled: Arc<Assembled>,
    patience: Duration,
}

impl Retiring {
    /// The server, and how long its calls are waited for.
    pub(super) fn new(name: &ServerName, assembled: Arc<Assembled>, patience: Duration) -> Self {
        Self { name: name.clone(), assembled, patience }
    }

    /// Returns when nothing is left of it: after its last call, when its time is up, or soon if all is to end.
    pub(super) async fn end(self, closing: &CancellationToken) {
        let Self { name, assembled, patience } = self;
        let last_call = async {
            let start = Instant::now();
            while assembled.hub.is_busy() && start.elapsed() < patience {
                sleep(LOOK).await;
            }
        };
        let waited = closing.run_until_cancelled(last_call).await;
        if waited.is_some() && assembled.hub.is_busy() {
            let text = format!("calls of the replaced {name} have not ended within {} s", patience.as_secs());
            assembled.console.say("cut_off", &text, json!({}));
        }
        assembled.shutdown().await;
    }
}
