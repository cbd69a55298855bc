//! The events of a stream that answers a request.

use crate::support::gateway::Connection;
use crate::support::waiting::PATIENCE;
use std::time::Instant;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) data: String,
}

/// Reads the events of a stream one by one.
pub(crate) struct Events<'a> {
    connection: &'a mut Connection,
    text: String,
}

impl<'a> Events<'a> {
    /// The stream that the response to the last request is.
    #[track_caller]
    pub(crate) fn of(connection: &'a mut Connection) -> Self {
        let (status, headers) = connection.head().unwrap();
        let kind = headers.iter().find(|(name, _)| name == "content-type").map(|(_, kind)| kind.as_str());
        assert_eq!((status, kind), (200, Some("text/event-stream")));
        Self { connection, text: String::new() }
    }

    /// The same stream, after this was read of it and not yet taken.
    pub(crate) fn resumed(connection: &'a mut Connection, text: String) -> Self {
        Self { connection, text }
    }

    /// What was read and not yet taken.
    pub(crate) fn rest(self) -> String {
        self.text
    }

    /// The next event with an id, or `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let start = Instant::now();
        loop {
            // Signs of life come for as long as the stream is open.
            assert!(start.elapsed() < PATIENCE, "no event; there is only: {}", self.text);
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    event.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()))
                };
                let (id, data) = (field("id"), field("data"));
                self.text = rest.to_owned();
                if let (Some(id), Some(data)) = (id, data) {
                    return Some(Event { id, data });
                }
            }
            self.text.push_str(&String::from_utf8(self.connection.chunk().unwrap()?).unwrap());
        }
    }
}
