//! Every bound of the conversation with a server that runs elsewhere, with its default.

use std::time::Duration;

/// The bounds of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The largest message in either direction; also the largest event of a stream.
    pub message_bytes: usize,
    /// How many requests may be open at once, streams that stay open included.
    pub requests: usize,
    /// How many notifications and answers may wait to be sent.
    pub queued: usize,
    /// How long reaching the server may take: name, connection and TLS.
    pub connect: Duration,
    /// How long the server may take to accept what it has nothing to say to, and to send the text of a refusal.
    pub accept: Duration,
    /// How often in a row a stream that broke is asked for again, without anything new from it.
    pub resumes: u32,
    /// How long to wait before that, unless the server says how long; a tenth of it at least.
    pub retry: Duration,
    /// The longest such wait, whatever the server says.
    pub longest_retry: Duration,
    /// How long saying goodbye may take.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 * 1024 * 1024,
            requests: 256,
            queued: 256,
            connect: Duration::from_secs(15),
            accept: Duration::from_secs(30),
            resumes: 5,
            retry: Duration::from_secs(1),
            longest_retry: Duration::from_mins(1),
            farewell: Duration::from_secs(1),
        }
    }
}

impl Limits {
    /// How long to wait before a stream is asked for again, as the server wants it and as it may have it.
    pub(crate) fn wait(&self, wanted: Option<Duration>) -> Duration {
        wanted.unwrap_or(self.retry).max(self.retry / 10).min(self.longest_retry)
    }
}
