//! The decisions about an instance, as a pure state machine: what happened goes in, what to do comes out.
//!
//! The machine has no clock, no chance and no effects of its own. Whoever drives it says what time it is with every
//! input, does what the returned effects say, in order, and comes back at [`Machine::deadline`] at the latest.

mod restarts;
mod terms;
mod watch;

use crate::failure::{Cause, Failure, Permanence};
use crate::phase::{Generation, Phase};
use crate::receiver::{End, LifecycleEvent, Next, StopReason};
use crate::settings::Settings;
use crate::status::State;
pub(crate) use terms::{Effect, Input, Situation, View};

use restarts::Restarts;
use std::sync::Arc;
use std::time::{Duration, Instant};
use watch::{Verdict, Watch};

#[derive(Debug)]
enum Life {
    Asleep,
    Queued,
    Starting { deadline: Instant, budget: Duration },
    Ready(Watch),
    Stopping { gone: Option<End>, then: Then },
    Waiting { until: Instant },
    Parked,
    Failed,
    Ended,
}

/// What follows when a process or start has ended.
#[derive(Debug)]
enum Then {
    Sleep,
    Start,
    Settle(Next, Instant),
    /// The process was ready and failed: what follows depends on the budget at that time.
    Judge(Failure),
    End,
}

/// The state machine of one instance.
pub(crate) struct Machine {
    settings: Arc<Settings>,
    chance: Box<dyn FnMut() -> f64 + Send>,
    life: Life,
    phase: Phase,
    generation: Generation,
    restarts: Restarts,
    effects: Vec<Effect>,
}

impl Machine {
    /// An instance that is asleep. `chance` returns a number from 0 up to 1.
    pub(crate) fn new(settings: Arc<Settings>, chance: Box<dyn FnMut() -> f64 + Send>) -> Self {
        Self {
            restarts: Restarts::new(settings.restarts),
            settings,
            chance,
            life: Life::Asleep,
            phase: Phase::CreateBox,
            generation: Generation::NONE,
            effects: Vec::new(),
        }
    }

    /// What there is to see.
    pub(crate) fn view(&self) -> View {
        let state = match self.life {
            Life::Asleep => State::Asleep,
            Life::Queued => State::Queued,
            Life::Starting { .. } => State::Starting,
            Life::Ready(_) => State::Ready,
            Life::Stopping { .. } => State::Stopping,
            Life::Waiting { .. } => State::Waiting,
            Life::Parked => State::Parked,
            Life::Failed => State::Failed,
            Life::Ended => State::Ended,
        };
        View { state, phase: self.phase, generation: self.generation, attempt: self.restarts.in_a_row() + 1 }
    }

    /// Whether a process that is ready is suspected.
    #[cfg(test)]
    fn suspects(&self) -> bool {
        matches!(&self.life, Life::Ready(watch) if watch.is_suspected())
    }

    /// When [`Input::Tick`] is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.life {
            Life::Starting { deadline, .. } => Some(*deadline),
            Life::Ready(watch) => Some(watch.deadline()),
            Life::Waiting { until } => Some(*until),
            Life::Asleep | Life::Queued | Life::Stopping { .. } | Life::Parked | Life::Failed | Life::Ended => None,
        }
    }

    /// Takes what happened and returns what to do.
    pub(crate) fn handle(&mut self, now: Instant, input: Input) -> Vec<Effect> {
        match input {
            // By far the most frequent, and they change nothing that anybody can see.
            Input::Alive => {
                if let Life::Ready(watch) = &mut self.life {
                    watch.alive(now, &self.settings);
                }
            }
            Input::Answered => {
                if let Life::Ready(watch) = &mut self.life {
                    watch.alive(now, &self.settings);
                    self.restarts.succeeded();
                }
            }
            Input::Wake => self.wake(),
            Input::Restart => self.restart(),
            Input::Suspect => {
                if let Life::Ready(watch) = &mut self.life
                    && watch.suspect(now, &self.settings)
                {
                    self.effects.push(Effect::Probe);
                }
            }
            Input::Shutdown => self.shutdown(),
            Input::Staged => {
                if matches!(self.life, Life::Queued) {
                    self.enter(now, Phase::CreateBox);
                }
            }
            Input::Entered(phase) => {
                if matches!(self.life, Life::Starting { .. }) && phase != self.phase {
                    self.enter(now, phase);
                }
            }
            Input::Opened => self.opened(now),
            Input::Failed(failure) => self.failed(now, failure),
            Input::Ended(failure) => self.ended(now, failure),
            Input::Tick(situation) => self.tick(now, situation),
        }
        std::mem::take(&mut self.effects)
    }

    fn wake(&mut self) {
        match &mut self.life {
            Life::Asleep => self.start("woken"),
            Life::Stopping { then: then @ Then::Sleep, .. } => *then = Then::Start,
            // One is there or on its way, or must not be.
            Life::Stopping { .. }
            | Life::Queued
            | Life::Starting { .. }
            | Life::Ready(_)
            | Life::Waiting { .. }
            | Life::Parked
            | Life::Failed
            | Life::Ended => {}
        }
    }

    fn restart(&mut self) {
        if matches!(self.life, Life::Ended | Life::Stopping { then: Then::End, .. }) {
            return;
        }
        self.restarts.clear();
        let cause = "restarted by the operator";
        match &mut self.life {
            Life::Stopping { then, .. } => *then = Then::Start,
            Life::Queued | Life::Starting { .. } => self.stop(None, Then::Start, cause),
            Life::Ready(_) => self.stop(Some(End::Stopped(StopReason::Restart)), Then::Start, cause),
            Life::Asleep | Life::Waiting { .. } | Life::Parked | Life::Failed => self.start(cause),
            Life::Ended => {}
        }
    }

    fn shutdown(&mut self) {
        match &mut self.life {
            Life::Ended => {}
            Life::Stopping { then, .. } => *then = Then::End,
            Life::Queued | Life::Starting { .. } => self.stop(None, Then::End, "shut down"),
            Life::Ready(_) => self.stop(Some(End::Stopped(StopReason::Shutdown)), Then::End, "shut down"),
            Life::Asleep | Life::Waiting { .. } | Life::Parked | Life::Failed => self.end(),
        }
    }

    fn enter(&mut self, now: Instant, phase: Phase) {
        let budgets = &self.settings.budgets;
        let budget = match phase {
            Phase::Install => budgets.install,
            Phase::CreateBox | Phase::EngineUnavailable => budgets.create_box,
            Phase::StartProcess => budgets.start_process,
            Phase::Connect => budgets.handshake,
            // One budget with `connect`: the deadline stays.
            Phase::Handshake => match self.life {
                Life::Starting { deadline, .. } => deadline.saturating_duration_since(now),
                _ => budgets.handshake,
            },
            Phase::Preflight | Phase::Ready | Phase::Runtime | Phase::Call => budgets.preflight,
        };
        let shown = if phase == Phase::Handshake { budgets.handshake } else { budget };
        self.phase = phase;
        self.go(Life::Starting { deadline: now + budget, budget: shown }, phase.as_str());
    }

    fn opened(&mut self, now: Instant) {
        if matches!(self.life, Life::Starting { .. }) {
            self.phase = Phase::Ready;
            self.go(Life::Ready(Watch::new(now, &self.settings)), "opened");
            self.effects.push(Effect::Ready(self.generation));
        }
    }

    fn tick(&mut self, now: Instant, situation: Situation) {
        match &mut self.life {
            Life::Waiting { until } if now >= *until => {
                self.restarts.made(now);
                self.start("next attempt");
            }
            Life::Starting { deadline, budget } if now >= *deadline => {
                let cause = Cause::TimedOut { budget: *budget, junk: None };
                let failure = Failure::new(self.phase, cause, Permanence::Transient);
                self.failed(now, failure);
            }
            Life::Ready(watch) => match watch.tick(now, situation, &self.settings) {
                Verdict::Well => {}
                Verdict::Probe => self.effects.push(Effect::Probe),
                Verdict::Idle => self.stop(Some(End::Stopped(StopReason::Idle)), Then::Sleep, "idle"),
                Verdict::Ill => {
                    let cause = Cause::Ill { probes: self.settings.probe_failures };
                    let failure = Failure::new(Phase::Runtime, cause, Permanence::Transient);
                    self.note_success(now);
                    self.stop(Some(End::Stopped(StopReason::Ill)), Then::Judge(failure), "ill");
                }
            },
            _ => {}
        }
    }

    /// Something failed that may have left something behind.
    fn failed(&mut self, now: Instant, failure: Failure) {
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
    fn ended(&mut self, now: Instant, failure: Failure) {
        match std::mem::replace(&mut self.life, Life::Asleep) {
            Life::Queued | Life::Starting { .. } => self.judge_and_settle(now, failure),
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
                    Then::Settle(next, since) => self.settle(next, since, "stopped"),
                    Then::Judge(failure) => self.judge_and_settle(now, failure),
                    Then::End => self.end(),
                }
            }
            other => self.life = other,
        }
    }

    /// Forgets earlier failures if the process that is ready has proved itself.
    fn note_success(&mut self, now: Instant) {
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

    fn start(&mut self, cause: &str) {
        self.generation = self.generation.next();
        self.phase = Phase::CreateBox;
        self.go(Life::Queued, cause);
        self.effects.push(Effect::Start(self.generation));
    }

    fn stop(&mut self, gone: Option<End>, then: Then, cause: &str) {
        self.go(Life::Stopping { gone, then }, cause);
        self.effects.push(Effect::Stop);
    }

    fn end(&mut self) {
        self.go(Life::Ended, "shut down");
        self.effects.push(Effect::Quit);
    }

    fn go(&mut self, life: Life, cause: &str) {
        self.life = life;
        let View { state, phase, generation, attempt } = self.view();
        let cause = cause.to_owned();
        self.effects.push(Effect::Event(LifecycleEvent { generation, attempt, state, phase, cause }));
    }
}

#[cfg(test)]
mod bench;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod watch_tests;
