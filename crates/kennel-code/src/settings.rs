//! The bounds of code mode, each with its default.

use std::time::Duration;

/// All bounds of notebooks and of what they print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// What is shown and kept of the output of a cell.
    pub output: OutputLimits,
    /// What is kept of results that are too large to be shown.
    pub results: ResultLimits,
    /// What one notebook may do.
    pub notebook: NotebookLimits,
    /// How many notebooks there are.
    pub registry: RegistryLimits,
}

/// What is shown and kept of the output of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputLimits {
    /// The most characters of standard output in one result.
    pub stdout_chars: usize,
    /// The most characters of standard error in one result.
    pub stderr_chars: usize,
    /// The most characters of standard output, standard error and value together.
    pub shown_chars: usize,
    /// The most characters of the message and of the traceback of an error, each.
    pub error_chars: usize,
    /// The most bytes of each stream that are kept to be read in pages: the first half and the last half.
    pub kept_bytes: usize,
    /// How long a stream must bring nothing before it counts as read, where its mark does not come.
    pub quiet: Duration,
    /// How long the end of a stream is waited for when its cell is over, whatever it brings.
    pub settle: Duration,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self {
            stdout_chars: 10_000,
            stderr_chars: 4_000,
            shown_chars: 20_000,
            error_chars: 8_000,
            kept_bytes: 4 << 20,
            quiet: Duration::from_millis(250),
            settle: Duration::from_secs(5),
        }
    }
}

/// What is kept of results that are too large to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultLimits {
    /// The most bytes kept for one owner.
    pub owner_bytes: usize,
    /// The most results kept for one owner.
    pub owner_results: usize,
    /// The most bytes kept for all owners.
    pub total_bytes: usize,
    /// The bytes of a page where none are asked for.
    pub page_bytes: usize,
    /// The most bytes of a page.
    pub most_page_bytes: usize,
    /// How many results that are gone are remembered, so that their readers hear why.
    pub remembered: usize,
}

impl Default for ResultLimits {
    fn default() -> Self {
        Self {
            owner_bytes: 64 << 20,
            owner_results: 1024,
            total_bytes: 512 << 20,
            page_bytes: 32 << 10,
            most_page_bytes: 1 << 20,
            remembered: 1024,
        }
    }
}

/// What one notebook may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookLimits {
    /// How many cells may wait behind the one that runs.
    pub queue: usize,
    /// The most bytes of the code of a cell.
    pub code_bytes: usize,
    /// How long a cell may run where its request does not say.
    pub timeout: Duration,
    /// The longest that a request may ask for.
    pub most_timeout: Duration,
    /// How long a cell that is interrupted has to stop before its interpreter is killed.
    pub grace: Duration,
    /// How often it is interrupted within that time.
    pub interrupt_every: Duration,
    /// How long after a cell that was interrupted the next one begins: an interrupt that is still on its way must not
    /// find it.
    pub pause: Duration,
    /// How long an interpreter is kept after its last cell.
    pub idle: Duration,
    /// How many requests of one cell to its host are worked on at once; further ones wait.
    pub asks_at_once: usize,
    /// How many requests one cell may make.
    pub asks: usize,
    /// The most bytes of requests of one cell that are not answered yet.
    pub ask_bytes: usize,
    /// How long the report of an interpreter that has closed its channel is waited for.
    pub exit: Duration,
    /// How many cells of a notebook are remembered to be asked for by id, running ones among them.
    pub recent: usize,
}

impl Default for NotebookLimits {
    fn default() -> Self {
        Self {
            queue: 8,
            code_bytes: 1 << 20,
            timeout: Duration::from_secs(30),
            most_timeout: Duration::from_mins(2),
            grace: Duration::from_secs(3),
            interrupt_every: Duration::from_secs(1),
            pause: Duration::from_millis(20),
            idle: Duration::from_mins(5),
            asks_at_once: 64,
            asks: 1000,
            ask_bytes: 64 << 20,
            exit: Duration::from_secs(2),
            recent: 32,
        }
    }
}

/// How many notebooks there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryLimits {
    /// The notebooks of one owner.
    pub owner_notebooks: usize,
    /// The notebooks of all owners.
    pub notebooks: usize,
    /// The most bytes of the name of a notebook.
    pub name_bytes: usize,
    /// How many notebooks that were closed to make room are remembered, so that their next cell says so.
    pub remembered: usize,
}

impl Default for RegistryLimits {
    fn default() -> Self {
        Self { owner_notebooks: 16, notebooks: 128, name_bytes: 128, remembered: 1024 }
    }
}
