//! Owns how a running gateway is operated from this machine: a socket that only its user can open, with one JSON object per
//! line.
//!
//! A connection carries one [`Request`], and then [`Reply`] after [`Reply`] until one of them is the last. Whoever follows
//! something ends that by closing the connection.

mod asking;
mod listener;
mod place;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use asking::{Gateway, running_url};
pub(crate) use listener::Listener;
pub(crate) use place::SocketPlace;

/// The longest line, either way.
const LONGEST_LINE: u64 = 64 << 20;

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
