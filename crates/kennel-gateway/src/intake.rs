//! What all clients together may have the gateway hold of messages that have not come in whole.
//!
//! A message is free up to [`FREE`], so that ordinary calls pass however much others send at once; what is beyond that
//! takes a share. Where there is none left, the client is told to come back, and nobody waits: whoever is slow would
//! hold up whoever is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Up to here a message takes no share: connections are bounded, and so is what they hold in this way.
pub(crate) const FREE: usize = 64 * 1024;
/// Shares grow by this much, so that not every piece of a message has to ask.
const STEP: usize = 64 * 1024;

/// The bytes that can be held.
#[derive(Debug)]
pub(crate) struct Intake {
    used: AtomicUsize,
    most: usize,
    most_sessionless: usize,
}

/// Whether a message comes in a session, so that its client was let in before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Session,
    None,
}

/// There is nothing left to hold more with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// What one message takes; given back when this goes.
#[derive(Debug)]
pub(crate) struct Share {
    intake: Arc<Intake>,
    standing: Standing,
    taken: usize,
}

impl Intake {
    /// So many bytes, but never less than what one message needs, with and without a session. What has no session gets
    /// half at most.
    pub(crate) fn new(most: usize, message: usize) -> Arc<Self> {
        let room = message.saturating_add(STEP);
        let most = most.max(room.saturating_mul(2));
        Arc::new(Self { used: AtomicUsize::new(0), most, most_sessionless: (most / 2).max(room) })
    }

    /// A share that is empty as yet.
    pub(crate) fn share(self: &Arc<Self>, standing: Standing) -> Share {
        Share { intake: Arc::clone(self), standing, taken: 0 }
    }

    fn take(&self, bytes: usize, standing: Standing) -> Result<(), Exhausted> {
        let most = match standing {
            Standing::Session => self.most,
            Standing::None => self.most_sessionless,
        };
        let add = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= most);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).map(|_| ()).map_err(|_| Exhausted)
    }
}

impl Share {
    /// Says how long the message has become.
    pub(crate) fn grow(&mut self, length: usize) -> Result<(), Exhausted> {
        let beyond = length.saturating_sub(FREE);
        if beyond <= self.taken {
            return Ok(());
        }
        let wanted = beyond.next_multiple_of(STEP) - self.taken;
        self.intake.take(wanted, self.standing)?;
        self.taken += wanted;
        Ok(())
    }

    /// Gives all back: another message begins.
    pub(crate) fn clear(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        if taken > 0 {
            self.intake.used.fetch_sub(taken, Ordering::AcqRel);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
#[path = "intake_tests.rs"]
mod tests;
