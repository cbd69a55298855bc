//! The life of one instance: one server process at a time, started when wanted and restarted as needed.
//!
//! This crate owns when a process runs: the phases of a start with their budgets, the handshake and the check of the
//! tools, probes, restarts within a budget, idle stop and wake, and shutting down in order. How a process is made is a
//! [`Launcher`]'s affair, its pipes are the executor's (`kennel-exec`), and clients, their calls and what the messages
//! mean are left to the [`Receiver`], which the hub implements.
//!
//! # Shape
//!
//! An [`Instance`] is the handle on a task that owns everything about the instance. The decisions are made by a pure
//! state machine (`machine`), which knows no clock and does nothing itself; the task tells it what happened and does
//! what it says. The opening conversation with a process is another (`opening`); other eras go beside the legacy one.
//!
//! | state | ends with |
//! |---|---|
//! | asleep | a wake |
//! | queued, starting | ready, a failure, a stop |
//! | ready | an end of the process, idleness, missing answers to probes, a stop |
//! | stopping | the end of the process |
//! | waiting | time |
//! | parked, failed | a restart by the operator |
//! | ended | nothing |
//!
//! # What counts as a restart
//!
//! Every start that follows a failure, also one of a start; not a wake and not a restart by the operator, who also
//! gives a fresh budget. When the window has as many restarts as the budget allows, or as many were made in a row
//! without a process that answered once it was ready, the next failure parks the instance.
#![forbid(unsafe_code)]

mod box_launcher;
mod driver;
mod failure;
mod instance;
mod launch;
mod legacy;
mod live;
mod machine;
mod opening;
mod output;
mod phase;
mod reader;
mod receiver;
mod settings;
mod shared;
mod stage;
mod start;
mod status;

pub use box_launcher::BoxLauncher;
pub use failure::{Cause, Failure, Permanence};
pub use instance::Instance;
pub use kennel_exec::FeedError;
pub use launch::{LaunchFailure, LaunchFuture, LaunchSteps, Launched, Launcher};
pub use phase::{Generation, Phase};
pub use receiver::{End, Handshake, HandshakeParams, Input, LifecycleEvent, Link, Next, Noise, Receiver, StopReason};
pub use settings::{Backoff, PhaseBudgets, RestartBudget, Settings, SettingsError};
pub use stage::Stage;
pub use status::{State, Status};
