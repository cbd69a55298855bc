//! Counts tokens as a model reads them: what is in its context at the end, and what it has read in all its turns.

use std::sync::LazyLock;
use tiktoken_rs::CoreBPE;

static ENCODING: LazyLock<CoreBPE> = LazyLock::new(|| match tiktoken_rs::o200k_base() {
    Ok(encoding) => encoding,
    // The tables are part of the crate.
    Err(error) => unreachable!("{error}"),
});

/// What a task has taken up to now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Footprint {
    /// Tokens in the context.
    pub(crate) context: usize,
    /// Of these, definitions of tools.
    pub(crate) definitions: usize,
    /// Tokens that were read in all turns: without a cache, that is what is paid for.
    pub(crate) read: usize,
    /// How often the model was asked.
    pub(crate) turns: usize,
}

impl Footprint {
    /// Something is in the context from the start.
    pub(crate) fn define(&mut self, text: &str) {
        let tokens = count(text);
        self.definitions += tokens;
        self.context += tokens;
    }

    /// Something is put into the context: a question, or the result of a call.
    pub(crate) fn show(&mut self, text: &str) {
        self.context += count(text);
    }

    /// The model reads all that there is, and writes this.
    pub(crate) fn turn(&mut self, written: &str) {
        self.turns += 1;
        self.read += self.context;
        self.context += count(written);
    }
}

fn count(text: &str) -> usize {
    ENCODING.encode_ordinary(text).len()
}
