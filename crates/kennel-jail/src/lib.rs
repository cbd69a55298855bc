//! The native Linux box.
//!
//! This crate owns how a process is shut in: namespaces, a root of its own, seccomp, Landlock, cgroups, rlimits, and
//! the init that starts and reaps what runs inside. It carries out a spec that is already checked; what a box may be
//! granted is decided above it. It knows neither async nor MCP, and holds all of Kennel's `unsafe` code.
//!
//! Three processes take part: Kennel, which holds a [`Helper`] and [`Jail`]s; the helper, Kennel's own program executed
//! again as a tiny single-threaded process that clones boxes on request; and the init of each box. They talk in
//! datagrams over inherited descriptors; nothing is ever put on a command line.

mod assembler;
mod base;
mod census;
mod cgroup;
mod client;
mod error;
mod fence;
mod guard;
mod helper;
mod hierarchy;
mod init;
mod open_files;
mod owner;
mod process;
mod report;
mod root;
mod scratch;
mod seccomp;
mod server;
mod shares;
mod spec;
mod standing;
mod sys;
mod walls;
mod wire;
mod workshop;

pub use base::SYSTEM;
pub use client::{Channel, Helper, Jail, JailEvent, Leftovers, Remains, Stream, run_if_helper};
pub use error::{JailError, Stage, StageError};
pub use guard::CHANNEL;
pub use open_files::raise_open_files;
pub use report::{ExitCause, ExitReport, ExitStatus};
pub use spec::{
    Access, FileIdentity, Grant, Hold, INNER_HOME, INNER_ID, Isolation, JailSpec, Limits, Network, PortWall,
    ProcessSpec, ScratchPlace, TerminalSettings, Wall, Walls,
};
pub use sys::landlock_version;
