//! Package commands (npx, uvx and the like): recognised, installed once into a store, run from there.
//!
//! This crate owns the way from a command such as `npx -y some-server` to a program that runs without npx, without
//! network and without waiting: reading the command, installing its packages in a box of their own, writing down what
//! was installed, and finding it again. It leaves to others which box the program runs in (`kennel-box`) and when it
//! runs (the supervisor).
//!
//! # What an installer may do
//!
//! It runs in a native box with network, in which nothing can be written but the install itself. It gets the user's
//! registry settings, credentials included, as files in the memory of that box and as variables. Where code of the
//! packages must run to finish an install, that happens in another box, to which no credentials are given. Texts of
//! installers are shown without secret values, and nothing secret is written into the store.
//!
//! # What an install may do
//!
//! Foreign code wrote it, so nothing here opens, lists or removes it: `kennel-tree` does, in a process of its own.
#![forbid(unsafe_code)]

mod command;
mod error;
mod flags;
mod foreign;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod installed;
mod manifest;
mod npm;
mod output;
mod ports;
mod programs;
mod python;
mod secrets;
mod settings;
mod spec;
mod staging;
mod store;
mod tools;
mod workshop;

pub use command::{Executable, PackageCommand, PackageError, Request};
pub use error::{Hint, InstallError, InstallPhase, LastWords};
pub use foreign::InstallLimits;
pub use installed::Installed;
pub use kennel_tree::Change;
pub use manifest::{Manifest, PinnedPackage};
pub use output::InstallProgress;
pub use spec::{Ecosystem, PackageSpec};
pub use store::{InstallContext, InstallRecord, Refresh, Store};
