//! What follows when a start or a process fails or ends.

use super::eras::GivenUp;
use super::{Effect, Life, Machine, Then};
use crate::failure::{Failure, Permanence};
use crate::phase::Phase;
use crate::receiver::{End, Next};
use std::sync::Arc;
use std::time::Instant;

impl Machine {
    /// A process does not open: it is thrown away for one in the other era, or has failed.
    pub(super) fn given_up(&mut self, now: Instant, failure: Failure, how: GivenUp) {
        if !matches!(self.life, Life::Starting { .. }) {
            return;
        }
        let cause = format!("the other era is tried: {failure}");
        match self.judge_era(failure, how) {
            None => self.stop(None, Then::OtherEra, &cause),
            Some(failure) => self.failed(now, failure),
        }
    }

    /// The failure of a process that does not open, unless it was merely opened in the wrong era.
    fn judge_era(&mut self, failure: Failure, how: GivenUp) -> Option<Failure> {
        if !matches!(self.phase, Phase::Connect | Phase::Handshake) {
            return Some(failure);
        }
        let era = self.eras.now();
        let verdict = self.eras.give_up(failure, how);
        if verdict.is_refused {
            self.effects.push(Effect::EraRefused(era));
        }
        verdict.failure
    }

    /// Something failed that may have left something behind.
    pub(super) fn failed(&mut self, now: Instant, failure: Failure) {
        match &self.life {
            Life::Queued | Life::Starting { .. } => {
                let cause = failure.to_string();
                let next = self.judge(now, failure);
                self.stop(None, Then::Settle(next, now), &cause);
            }
            Life::Ready(_) => {
                self.note_success(now);
                let cause = failure.to_string();
                let end = End::Died(Arc::new(failure.clone()));
                self.stop(Some(end), Then::Judge(failure), &cause);
            }
            _ => {}
        }
    }

    /// Nothing is left of the start or the process.
    pub(super) fn ended(&mut self, now: Instant, failure: Failure) {
        match std::mem::replace(&mut self.life, Life::Asleep) {
            Life::Queued => self.judge_and_settle(now, failure),
            Life::Starting { .. } => {
                let cause = format!("the other era is tried: {failure}");
                match self.judge_era(failure, GivenUp::Ended) {
                    None => self.start_process(&cause),
                    Some(failure) => self.judge_and_settle(now, failure),
                }
            }
            ready @ Life::Ready(_) => {
                self.life = ready;
                self.note_success(now);
                let end = End::Died(Arc::new(failure.clone()));
                self.effects.push(Effect::Gone(self.generation, end));
                self.judge_and_settle(now, failure);
            }
            Life::Stopping { gone, then } => {
                if let Some(end) = gone {
                    self.effects.push(Effect::Gone(self.generation, end));
                }
                match then {
                    Then::Sleep => self.go(Life::Asleep, "stopped"),
                    Then::Start => self.start("wanted again"),
                    Then::OtherEra => {
                        self.eras.note_last_words(failure.stderr);
                        self.start_process("in the other era");
                    }
                    Then::Settle(next, since) => self.settle(next, since, "stopped"),
                    Then::Judge(failure) => self.judge_and_settle(now, failure),
                    Then::End => self.end(),
                }
            }
            other => self.life = other,
        }
    }

    /// Forgets earlier failures if the process that is ready has proved itself.
    pub(super) fn note_success(&mut self, now: Instant) {
        if let Life::Ready(watch) = &self.life
            && watch.has_lasted(now, &self.settings)
        {
            self.restarts.succeeded();
        }
    }

    /// Decides what follows a failure, and tells.
    fn judge(&mut self, now: Instant, failure: Failure) -> Next {
        let permanent = failure.permanence == Permanence::Permanent || failure.phase == Phase::EngineUnavailable;
        let next = if permanent {
            Next::Never
        } else if self.restarts.are_spent(now) {
            Next::Parked
        } else {
            Next::RetryIn(self.settings.backoff.delay(self.restarts.in_a_row(), (self.chance)()))
        };
        self.effects.push(Effect::Failed(Arc::new(failure), next));
        next
    }

    fn judge_and_settle(&mut self, now: Instant, failure: Failure) {
        let cause = failure.to_string();
        let next = self.judge(now, failure);
        self.settle(next, now, &cause);
    }

    /// Goes on as it was decided at `since`.
    fn settle(&mut self, next: Next, since: Instant, cause: &str) {
        let life = match next {
            Next::RetryIn(delay) => Life::Waiting { until: since + delay },
            Next::Parked => Life::Parked,
            Next::Never => Life::Failed,
        };
        self.go(life, cause);
    }
}
