//! What a box is: its spec, the rules on what it may be granted, and the engines that make it.
//!
//! This crate owns the decision what a box may touch and use, and the one interface behind which engines make boxes.
//! How the native box is built is the jail's affair; what runs in a box, and what its bytes mean, is not known here.
#![forbid(unsafe_code)]

mod engine;
mod environment;
mod error;
mod inference;
mod locations;
mod mounts;
mod native;
mod own;
mod places;
mod plan;
mod planted;
mod profile;
mod set_id;
mod size;
mod spec;
mod toolchain;
mod waitable;

pub use engine::{BoxProcess, Capabilities, Command, Engine, EngineFuture, EngineKind, ProcessHandle, RunningBox};
pub use environment::HostView;
pub use error::BoxError;
pub use inference::{Inferred, infer};
pub use kennel_jail::{Access, CHANNEL, ExitCause, ExitReport, ExitStatus, Network, PortWall, Wall, Walls};
pub use locations::Way;
pub use mounts::{CheckedPath, MountRules, can_redirect};
pub use native::NativeEngine;
pub use own::{Own, Protection};
pub use plan::{BoxPlan, WriteGrants};
pub use planted::note_written;
pub use profile::Profile;
pub use size::{Size, SizeError};
pub use spec::{AccessMode, BoxSpec, MountSpec, ScratchSpec};
pub use waitable::Waitable;
