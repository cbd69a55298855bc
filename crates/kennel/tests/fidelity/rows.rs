//! Owns the rows of the matrix: what can be on its way between a client and a server.

use crate::client::{Client, Looked};
use crate::place::Place;
use crate::seen::Seen;
use crate::{asking, news, plain};

/// One thing that a client and a server do with each other, and how it is looked at.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) look: fn(&mut Client, &Place) -> Looked<Seen>,
}

/// All of them.
pub(crate) const ROWS: [Row; 13] = [
    Row { name: "progress", look: news::progress },
    Row { name: "cancel", look: plain::cancel },
    Row { name: "logging", look: news::logging },
    Row { name: "list_changed", look: news::list_changed },
    Row { name: "resource updates", look: news::resource_updates },
    Row { name: "elicitation (form)", look: asking::form },
    Row { name: "elicitation (url)", look: asking::url },
    Row { name: "sampling (with tools)", look: asking::sampling },
    Row { name: "roots", look: asking::roots },
    Row { name: "completion", look: plain::completion },
    Row { name: "tasks", look: crate::tasks::tasks },
    Row { name: "pagination", look: plain::pagination },
    Row { name: "structured output", look: plain::structured_output },
];
