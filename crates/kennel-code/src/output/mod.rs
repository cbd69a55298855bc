//! What cells print: read up to a mark, kept within bounds, shown within a budget.

mod capture;
mod mark;
mod show;
mod stream;

pub use capture::{Capture, Kept, Span};
pub use mark::Mark;
pub(crate) use show::grouped;
pub use show::{Coming, Shown, Whole, cut, shown};
pub use stream::{Ending, Stream};
