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
//! what it says. The opening conversation with a process is another (`opening`), one for each era.
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
//! # Eras
//!
//! A process is locked to the first era that it sees, so the era is chosen before its first byte: by the [`EraPlan`], and
//! later by what is known of the server. A process that turns out to speak the other era only is stopped, and another one
//! is started in that era at once; nothing of this is a failure or a restart.
//!
//! | the process | opened in the modern era | opened in the legacy era |
//! |---|---|---|
//! | answers with an error | the other era follows, unless only a modern server can answer so | the other era follows |
//! | ends, or is silent | the other era follows, unless this one is known to be spoken | has failed |
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
mod introduction;
mod launch;
mod legacy;
mod live;
mod machine;
mod modern;
mod opening;
mod output;
mod phase;
mod reader;
mod receiver;
mod settings;
mod shared;
mod stage;
mod stand_in;
mod start;
mod status;
#[cfg(test)]
mod talk;
mod tools;

pub use box_launcher::BoxLauncher;
pub use failure::{Cause, Failure, Permanence};
pub use instance::Instance;
pub use introduction::{EraPlan, Introduction};
pub use kennel_exec::FeedError;
pub use launch::{LaunchFailure, LaunchFuture, LaunchSteps, Launched, Launcher};
pub use phase::{Generation, Phase};
pub use receiver::{End, Handshake, Input, LifecycleEvent, Link, Next, Noise, Receiver, StopReason};
pub use settings::{Backoff, PhaseBudgets, RestartBudget, Settings, SettingsError};
pub use stage::Stage;
pub use stand_in::{Pipes, StandInError, StandIns};
pub use status::{State, Status};
