//! Directory trees that foreign code wrote: read, listed, compared and removed by a helper process, within bounds.
//!
//! What a package or a build leaves on disk is as hostile as the code that made it: pipes that block whoever opens them,
//! links that lead elsewhere, directories nested deeper than any stack, files larger than any disk. Kennel's own process
//! never opens such a tree. It asks a helper, which is its own program executed again, small, with limits of its own
//! and killed when it takes too long; what happens to the helper is an error of that one request.
//!
//! The helper works with handles beneath one root: `openat2` without symlinks, regular files only, never blocking.
//! Symlinks are resolved step by step by the helper itself and never leave the root. Walks and removals hold a constant
//! number of descriptors, whatever the tree looks like.
//!
//! Which trees there are, and what follows from what they hold, is for others to know.
#![forbid(unsafe_code)]

mod beneath;
mod bounds;
mod clock;
mod error;
mod helper;
mod listing;
mod protocol;
mod remove;
mod session;
mod walk;

pub use bounds::{Bound, Bounds};
pub use error::TreeError;
pub use helper::run_if_helper;
pub use protocol::{Change, Comparison, Kind, Place, Recorded, SetIdFiles, Usage};
pub use session::{Session, Trees};
