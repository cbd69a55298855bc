//! The executor: the process API over boxes.
//!
//! This crate owns what happens between a caller and the pipes of a process: starting it in a box of its own,
//! one numbered sequence of events per process, replay after a lost connection, ordered writes that are never
//! made twice, and stopping the whole box. It leaves to others how a box is made (`kennel-box`), when a process
//! should run or be restarted (the supervisor) and what the bytes mean (the hub).
//!
//! # Shape
//!
//! An [`Executor`] has sessions. A session is used through its one [`Attachment`]; dropping the attachment, as a
//! lost connection does, detaches the session: its processes go on and [`Executor::resume`] continues. A session
//! that stays detached longer than [`Limits::detached_kept`] is ended with all its processes.
//!
//! # What is kept, and when a process has to wait
//!
//! Each process has one event log, bounded by [`Limits::retained_bytes`] and [`Limits::retained_events`]. Consumers
//! take events from that log and nowhere else: the live channel carries only the news that there is more, so a slow
//! consumer has no second buffer to overrun. What happens when the log is full depends on who consumes:
//!
//! | consumers | a full log |
//! |---|---|
//! | one or more [`Subscription`]s | drops only what the slowest of them has acknowledged, by asking for the event after it; otherwise the pipes are not read and the process blocks |
//! | none now, but a place is kept | drops only what lies before the place; otherwise the process blocks |
//! | none, and the place was given up | drops the oldest events |
//!
//! The place of a new process is its start. Each [`Attachment::read`] made while nothing is subscribed moves it to
//! its `after`, and the last subscription that is dropped, as by a lost connection, leaves its own. A subscription
//! takes the place over; [`Attachment::release`] and [`Subscription::release`] give it up. So a process whose
//! consumer is late, slow or away for a moment loses nothing however much it writes: it waits, at most until its
//! session is ended. A process that nobody wants to listen to must be released.
//!
//! A consumer may also [attend](Attachment::attend) a process: it reads standard output in its own task, nothing is read
//! ahead for it, and what it has seen is dropped at once. That is for proxies, which need speed and no replay.
//!
//! There is one place per process: reads made while something is subscribed hold nothing back, and of two parties
//! that both read, the later one holds the place. Independent consumers should subscribe. Whoever asks for an event
//! that is gone gets [`EventsError::Gap`], for that process alone.
#![forbid(unsafe_code)]

mod attachment;
mod consumers;
mod driver;
mod error;
mod event;
mod executor;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod ids;
mod limits;
mod lines;
mod log;
mod outlet;
mod process;
mod pump;
mod queue;
mod session;
mod stderr;
mod stdin;
mod subscription;
mod sync;

pub use attachment::{Attachment, Feed, ReadRequest, StartRequest};
pub use error::{AttachError, EventsError, FeedError, LimitsError, ProcessError, StartError, WriteError};
pub use event::{Event, EventKind, Seq, Stream};
pub use executor::Executor;
pub use ids::{ProcessId, SessionId, WriteId};
pub use limits::{Graces, Limits};
pub use lines::{Line, LineAssembler};
pub use process::{Phase, ProcessStatus, Stop};
pub use stderr::StderrRing;
pub use stdin::WriteOutcome;
pub use subscription::Subscription;
