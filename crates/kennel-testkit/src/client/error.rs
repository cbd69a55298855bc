//! Owns what can go wrong between the client and a server.

use std::io;
use std::time::Duration;

use thiserror::Error;

/// Why the client could not do what was asked.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The system refused something.
    #[error("the server could not be started or reached: {0}")]
    Io(#[from] io::Error),
    /// The server did not do it in time.
    #[error("the client waited {what} longer than {patience:?}; the server's stderr says: {stderr:?}")]
    Deadline {
        /// What was waited for.
        what: String,
        /// How long.
        patience: Duration,
        /// What the server printed on stderr.
        stderr: String,
    },
    /// The server has closed its side.
    #[error("the client waited {what}, but the server has closed that pipe; its stderr says: {stderr:?}")]
    Ended {
        /// What was waited for.
        what: String,
        /// What the server printed on stderr.
        stderr: String,
    },
    /// The server printed something else.
    #[error("the server printed a line that is no JSON: {line:?}")]
    NoMessage {
        /// The line.
        line: String,
    },
    /// The server answered with an error.
    #[error("the server refused {what}: {error}")]
    Refused {
        /// The method or tool.
        what: String,
        /// The error object, as JSON.
        error: String,
    },
}
