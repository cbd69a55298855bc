//! How a server's tools are shown to clients, as whoever defined the server wants it.

use std::fmt;

/// How one tool is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presented {
    /// Its name, without the server's.
    pub name: String,
    /// What it is for, in place of what the server says.
    pub description: Option<String>,
}

/// Says which tools of a server are shown, and how.
pub trait Presentation: Send + Sync + fmt::Debug + 'static {
    /// How a tool is shown; `None` for one that is hidden.
    fn tool(&self, name: &str) -> Option<Presented>;

    /// The server's own name of a tool that is shown under this one; `None` where no tool could be.
    fn original(&self, shown: &str) -> Option<String>;
}

/// Shows all tools as they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsTheyAre;

impl Presentation for AsTheyAre {
    fn tool(&self, name: &str) -> Option<Presented> {
        Some(Presented { name: name.to_owned(), description: None })
    }

    fn original(&self, shown: &str) -> Option<String> {
        Some(shown.to_owned())
    }
}
