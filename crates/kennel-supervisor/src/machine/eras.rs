//! Which era the processes of an instance are opened in, and what follows when one does not open.
//!
//! An attempt to get a process ready has at most two processes: one in the era that is tried first and, if that was
//! given up, one in the other. What became of the first is set aside until it is clear whether the second one opens.

use crate::failure::Failure;
use crate::introduction::EraPlan;
use kennel_wire::{Era, ProtocolVersion};

/// How an era was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// The process answered that it does not speak it.
    Refused,
    /// The process ended when it was asked.
    Ended,
    /// The process did not answer in time.
    Silent,
}

/// What follows when an era was given up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Whether the server is to be taken not to speak the era.
    pub(super) is_refused: bool,
    /// What to tell; `None` if the other era is tried instead.
    pub(super) failure: Option<Failure>,
}

#[derive(Debug)]
pub(super) struct Eras {
    plan: EraPlan,
    /// The era of the process that runs or starts, otherwise of the last one.
    now: Era,
    /// The last era in which a process was ready.
    proven: Option<Era>,
    /// The era that the server refused by an answer, as long as it may speak the other.
    refused: Option<Era>,
    /// What became of the era that this attempt tried first.
    aside: Option<(Failure, GivenUp)>,
}

impl Eras {
    pub(super) fn new(plan: EraPlan) -> Self {
        Self { plan, now: plan.first, proven: None, refused: None, aside: None }
    }

    pub(super) fn now(&self) -> Era {
        self.now
    }

    /// A new attempt begins, in the era that is most likely to succeed.
    pub(super) fn begin(&mut self) {
        self.aside = None;
        self.now = self.refused.map(other).or(self.proven).unwrap_or(self.plan.first);
    }

    /// The operator wants another attempt: what the server refused it may have learnt meanwhile.
    pub(super) fn forget_refusals(&mut self) {
        self.refused = None;
    }

    /// A process is ready.
    pub(super) fn opened(&mut self) {
        self.proven = Some(self.now);
        self.refused = None;
        self.aside = None;
    }

    /// Whether a process that is silent will be tried in the other era, so that it need not be waited for that long.
    pub(super) fn is_probing(&self) -> bool {
        self.now == Era::Modern && !self.is_certain()
    }

    /// Whether nothing but a refusal in so many words speaks for the other era.
    fn is_certain(&self) -> bool {
        self.plan.is_fixed || self.proven == Some(self.now) || self.refused == Some(other(self.now))
    }

    /// The process does not open in its era. If it should be tried in the other one, that is the era from now on.
    pub(super) fn give_up(&mut self, failure: Failure, how: GivenUp) -> Verdict {
        // A legacy server that is slow or broken says nothing about its era by that; neither does one whose era is known.
        let is_hint = how == GivenUp::Refused || self.is_probing() || (self.now == Era::Modern && self.aside.is_some());
        if !is_hint {
            if self.now == Era::Modern {
                // What spoke against the legacy era may have been another trouble.
                self.refused = None;
            }
            return Verdict { is_refused: false, failure: Some(failure) };
        }
        let is_refused = how != GivenUp::Silent;
        if self.plan.is_fixed {
            return Verdict { is_refused, failure: Some(failure) };
        }
        let Some((first, first_how)) = self.aside.take() else {
            self.refused = Some(self.now).filter(|_| how == GivenUp::Refused);
            self.aside = Some((failure, how));
            self.now = other(self.now);
            return Verdict { is_refused, failure: None };
        };
        // Of two refusals neither counts, so that the next attempt begins as the first one did. But a server that was
        // silent in the modern era and has now refused the legacy one may speak the modern one and be slow.
        let counts = first_how == GivenUp::Silent;
        self.refused = Some(self.now).filter(|_| counts);
        let became = if is_refused { "was refused too" } else { "was not opened either" };
        let remark = format!("the {} {became}: {}", name(self.now), failure.cause);
        Verdict { is_refused, failure: Some(Failure { remark: Some(remark), ..first }) }
    }

    /// The process whose failure was set aside has ended with these last words.
    pub(super) fn note_last_words(&mut self, words: Vec<String>) {
        if let Some((failure, _)) = &mut self.aside
            && failure.stderr.is_empty()
        {
            failure.stderr = words;
        }
    }
}

fn other(era: Era) -> Era {
    match era {
        Era::Legacy => Era::Modern,
        Era::Modern => Era::Legacy,
    }
}

fn name(era: Era) -> String {
    match era {
        Era::Legacy => format!("era with `initialize` (up to {})", ProtocolVersion::LATEST_LEGACY),
        Era::Modern => format!("era without sessions ({})", ProtocolVersion::V2026_07_28),
    }
}

#[cfg(test)]
#[path = "eras_tests.rs"]
mod tests;
