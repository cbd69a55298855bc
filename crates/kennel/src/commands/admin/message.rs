//! Owns the lines of the admin socket. It stands alone, so that the fuzz target can include it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What can be asked of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    /// How it and all its servers are.
    Status,
    /// All about one server.
    Inspect {
        /// The server.
        server: String,
    },
    /// What a server has printed.
    Logs {
        /// The server.
        server: String,
        /// Whether to go on with what it prints from now on.
        follow: bool,
    },
    /// What has happened.
    Events {
        /// Whether to go on with what happens from now on.
        follow: bool,
    },
    /// Ends the processes of a server until it is started.
    Stop {
        /// The server.
        server: String,
    },
    /// Starts a process of a server.
    Start {
        /// The server.
        server: String,
    },
    /// Replaces the processes of a server.
    Restart {
        /// The server.
        server: String,
    },
    /// Reads the file again.
    Reload {
        /// The number of a change that waits and is to be taken up instead.
        #[serde(default)]
        accept: Option<u64>,
    },
}

/// What a gateway says to that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// One of many; more may follow.
    Item(Value),
    /// The answer, or nothing after the last item.
    Done(Value),
    /// Why there is no answer.
    Failed(String),
}

impl Request {
    /// Reads the line of a request.
    pub(crate) fn read(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line)
            .map_err(|error| format!("this Kennel does not understand the request ({error}); are both of one version?"))
    }
}

impl Reply {
    /// Reads the line of a reply.
    pub(crate) fn read(line: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(line)
    }
}
