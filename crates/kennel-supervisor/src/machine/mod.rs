//! The decisions about an instance, as a pure state machine: what happened goes in, what to do comes out.
//!
//! The machine has no clock, no chance and no effects of its own. Whoever drives it says what time it is with every
//! input, does what the returned effects say, in order, and comes back at [`Machine::deadline`] at the latest.

mod eras;
mod failing;
mod restarts;
mod terms;
mod watch;

use crate::failure::{Cause, Failure, Permanence};
use crate::introduction::EraPlan;
use crate::phase::{Generation, Phase};
use crate::receiver::{End, LifecycleEvent, Next, StopReason};
use crate::settings::Settings;
use crate::status::State;
pub(crate) use terms::{Effect, Input, Situation, View};

use eras::{Eras, GivenUp};
use kennel_wire::Era;
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
    /// The process does not speak its era: the attempt goes on with another one.
    OtherEra,
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
    eras: Eras,
    restarts: Restarts,
    effects: Vec<Effect>,
}

impl Machine {
    /// An instance that is asleep. `chance` returns a number from 0 up to 1.
    pub(crate) fn new(settings: Arc<Settings>, plan: EraPlan, chance: Box<dyn FnMut() -> f64 + Send>) -> Self {
        Self {
            eras: Eras::new(plan),
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

    /// The era in which the process that runs or starts is talked to.
    pub(crate) fn era(&self) -> Era {
        self.eras.now()
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
            Input::Refused(failure) => self.given_up(now, failure, GivenUp::Refused),
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
        self.eras.forget_refusals();
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
            Phase::Connect | Phase::Handshake if self.eras.is_probing() => budgets.discover.min(budgets.handshake),
            Phase::Connect | Phase::Handshake => budgets.handshake,
            Phase::Preflight | Phase::Ready | Phase::Runtime | Phase::Call => budgets.preflight,
        };
        let deadline = match self.life {
            // One budget with `connect`: the deadline stays.
            Life::Starting { deadline, .. } if phase == Phase::Handshake => deadline,
            _ => now + budget,
        };
        self.phase = phase;
        self.go(Life::Starting { deadline, budget }, phase.as_str());
    }

    fn opened(&mut self, now: Instant) {
        if matches!(self.life, Life::Starting { .. }) {
            self.phase = Phase::Ready;
            self.eras.opened();
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
                self.given_up(now, failure, GivenUp::Silent);
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

    fn start(&mut self, cause: &str) {
        self.eras.begin();
        self.start_process(cause);
    }

    fn start_process(&mut self, cause: &str) {
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
mod fallback_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod watch_tests;
