//! The tokens that a channel takes packets of.

use super::token::Token;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tokens of an interpreter and of its cells that are not over, shared with the receiver.
#[derive(Debug, Clone, Default)]
pub struct Known(Arc<Mutex<Vec<Token>>>);

impl Known {
    /// Takes packets with this token from now on.
    pub fn admit(&self, token: Token) {
        let mut tokens = self.tokens();
        if !tokens.contains(&token) {
            tokens.push(token);
        }
    }

    /// Takes no packet with this token any more.
    pub fn forget(&self, token: &Token) {
        self.tokens().retain(|known| known != token);
    }

    /// Whether packets with this token are taken.
    #[must_use]
    pub fn contains(&self, token: &Token) -> bool {
        self.tokens().contains(token)
    }

    fn tokens(&self) -> MutexGuard<'_, Vec<Token>> {
        // A holder that panicked has left a whole list: each change is one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
