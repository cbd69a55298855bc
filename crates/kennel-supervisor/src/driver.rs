//! The task of an instance: tells the machine what happened, and does what it says.

use crate::failure::{Cause, Failure, Permanence};
use crate::introduction::{EraPlan, Introduction};
use crate::launch::{Launched, Launcher};
use crate::live::{Live, Turned};
use crate::machine::{Effect, Input, Machine, Situation, View};
use crate::opening::Opening;
use crate::phase::Phase;
use crate::receiver::{LifecycleEvent, Receiver};
use crate::settings::Settings;
use crate::shared::{Shared, Wish};
use crate::stage::{self, Stage};
use crate::start::{Note, Start, StartOutcome};
use crate::status::State;
use kennel_exec::Stop;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// Ending a process, and waiting for its last messages to be handed over.
type Stopping = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Everything that belongs to the task of one instance.
pub(crate) struct Driver<R> {
    pub(crate) machine: Machine,
    pub(crate) shared: Arc<Shared>,
    settings: Arc<Settings>,
    introduction: Introduction,
    launcher: Arc<dyn Launcher>,
    pub(crate) receiver: Arc<R>,
    stage: Stage,
    /// The start that is under way.
    start: Option<Start>,
    /// The turn on the stage, held until the process is ready or the attempt is over.
    pub(crate) turn: Option<stage::Turn>,
    /// The process that runs, or whose last output is being read.
    pub(crate) live: Option<Live>,
    pub(crate) stopping: Option<Stopping>,
    timer: Pin<Box<Sleep>>,
    timer_at: Option<Instant>,
    posted: View,
    /// Whether a message is being handed over, so that nothing is read.
    pub(crate) blocked: bool,
    quit: bool,
}

/// What the task woke up for.
pub(crate) enum Turn {
    Rung,
    Launched(StartOutcome),
    Stopped,
    Tick,
    Output(Turned),
}

/// Whether the process is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listen {
    Yes,
    No,
}

impl<R: Receiver> Driver<R> {
    pub(crate) fn new(
        settings: Settings,
        introduction: Introduction,
        plan: EraPlan,
        launcher: Arc<dyn Launcher>,
        receiver: Arc<R>,
        stage: Stage,
    ) -> (Self, Arc<Shared>) {
        let settings = Arc::new(settings);
        let machine = Machine::new(Arc::clone(&settings), plan, Box::new(chance));
        let posted = machine.view();
        let shared = Arc::new(Shared::new(posted));
        let driver = Self {
            machine,
            shared: Arc::clone(&shared),
            settings,
            introduction,
            launcher,
            receiver,
            stage,
            start: None,
            turn: None,
            live: None,
            stopping: None,
            timer: Box::pin(sleep_until(Instant::now())),
            timer_at: None,
            posted,
            blocked: false,
            quit: false,
        };
        (driver, shared)
    }

    /// Runs until the instance has been shut down.
    pub(crate) async fn run(mut self) {
        let _ended = self.shared.ended.clone().drop_guard();
        while !self.quit {
            match self.turn(Listen::Yes).await {
                Turn::Output(output) => self.output(output).await,
                other => self.handle(other),
            }
        }
    }

    /// Waits for the next thing to do. Safe to cancel.
    pub(crate) async fn turn(&mut self, listen: Listen) -> Turn {
        self.arm();
        let armed = self.timer_at.is_some();
        tokio::select! {
            biased;
            () = self.shared.rung() => Turn::Rung,
            outcome = ready_or_never(self.start.as_mut().map(Start::future)) => Turn::Launched(outcome),
            () = ready_or_never(self.stopping.as_mut()) => Turn::Stopped,
            () = self.timer.as_mut(), if armed => Turn::Tick,
            output = next_output(self.live.as_mut()), if listen == Listen::Yes => Turn::Output(output),
        }
    }

    /// Sets the timer, unless it is set for the same time already, as it mostly is.
    fn arm(&mut self) {
        let deadline = self.machine.deadline().map(Instant::from_std);
        if deadline != self.timer_at {
            if let Some(deadline) = deadline {
                self.timer.as_mut().reset(deadline);
            }
            self.timer_at = deadline;
        }
    }

    /// Deals with everything but output, which takes time.
    pub(crate) fn handle(&mut self, turn: Turn) {
        match turn {
            Turn::Rung => {
                self.notes();
                for wish in self.shared.take_wishes() {
                    self.tell(match wish {
                        Wish::Wake => Input::Wake,
                        Wish::Suspect => Input::Suspect,
                        Wish::Restart => Input::Restart,
                        Wish::Shutdown => Input::Shutdown,
                    });
                }
            }
            Turn::Launched(outcome) => {
                self.notes();
                self.start = None;
                self.launched(outcome);
            }
            Turn::Stopped => self.ended(),
            Turn::Tick => {
                self.timer_at = None;
                let work = self.shared.work();
                let situation =
                    Situation { in_flight: work.in_flight, last_needed: work.last.into_std(), blocked: self.blocked };
                self.tell(Input::Tick(situation));
                self.post();
            }
            Turn::Output(_) => {}
        }
    }

    /// Passes on what the launcher has told.
    fn notes(&mut self) {
        let Some(start) = &self.start else { return };
        for note in start.take_notes() {
            match note {
                Note::Staged => self.tell(Input::Staged),
                Note::Entered(phase) => self.tell(Input::Entered(phase)),
                Note::Progress(cause) => {
                    let View { state, phase, generation, attempt } = self.machine.view();
                    self.receiver.event(&LifecycleEvent { generation, attempt, state, phase, cause });
                }
            }
        }
    }

    /// Tells the machine and does what it says.
    pub(crate) fn tell(&mut self, input: Input) {
        let effects = self.machine.handle(Instant::now().into_std(), input);
        // First, so that whoever is told below finds the instance as it is now.
        if self.machine.view() != self.posted {
            self.post();
        }
        for effect in effects {
            self.perform(effect);
        }
    }

    fn post(&mut self) {
        self.posted = self.machine.view();
        let retry_at = match self.posted.state {
            State::Waiting => self.machine.deadline().map(Instant::from_std),
            _ => None,
        };
        self.shared.post(self.posted, retry_at);
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Start(generation) => {
                let (launcher, stage) = (Arc::clone(&self.launcher), self.stage.clone());
                let shared = Arc::clone(&self.shared);
                self.start = Some(Start::begin(generation, launcher, stage, shared, &self.introduction));
            }
            Effect::Stop => self.stop(),
            Effect::Probe => {
                if let Some(live) = &mut self.live {
                    // One that cannot be sent is not answered either, which is what counts.
                    let _ = live.probe();
                }
            }
            Effect::Ready(generation) => {
                self.turn = None;
                if let Some(link) = self.live.as_ref().and_then(Live::link) {
                    debug_assert_eq!(generation, link.generation);
                    self.receiver.ready(&link);
                }
            }
            Effect::EraRefused(era) => self.receiver.era_refused(era),
            Effect::Gone(generation, end) => self.receiver.gone(generation, &end),
            Effect::Failed(mut failure, next) => {
                if let Some(live) = &self.live {
                    live.enrich(Arc::make_mut(&mut failure));
                }
                self.shared.post_failure(Arc::clone(&failure));
                self.receiver.failed(&failure, next);
            }
            Effect::Event(event) => self.receiver.event(&event),
            Effect::Quit => self.quit = true,
        }
    }

    /// Ends what there is: the start, or the process.
    fn stop(&mut self) {
        if let Some(start) = &self.start {
            start.cancel();
        } else if let Some(live) = &self.live {
            self.stopping = Some(self.end_process(&live.launched, self.settings.drain));
        }
    }

    /// Ends a process, and then allows its last messages so much time.
    fn end_process(&self, launched: &Launched, drain: Duration) -> Stopping {
        let (launched, stop) = (launched.clone(), Stop::Gracefully(self.settings.graces));
        Box::pin(async move {
            // A process that is no longer known has ended.
            let _ = launched.attachment.terminate(&launched.process, stop).await;
            sleep(drain).await;
        })
    }

    /// A start has come to its end, for better or worse.
    fn launched(&mut self, outcome: StartOutcome) {
        let StartOutcome { generation, turn, result } = outcome;
        let launched = match result {
            Ok(launched) => launched,
            Err(failure) => return self.tell(Input::Ended(failure.into())),
        };
        if self.machine.view().state == State::Stopping {
            // It was called off too late; nobody has to hear what it says.
            self.stopping = Some(self.end_process(&launched, Duration::ZERO));
            return;
        }
        self.turn = turn;
        let opening = Opening::new(self.machine.era(), &self.introduction, Arc::clone(&self.settings));
        match Live::new(generation, launched.clone(), opening, self.settings.line_bytes) {
            Ok(live) => {
                self.live = Some(live);
                self.tell(Input::Entered(Phase::Connect));
                let begun = self.live.as_mut().map(Live::begin);
                self.steps(begun.unwrap_or_default());
            }
            Err(text) => {
                self.tell(Input::Failed(Failure::new(Phase::Connect, Cause::Lost(text), Permanence::Transient)));
                self.stopping = Some(self.end_process(&launched, Duration::ZERO));
            }
        }
    }
}

async fn ready_or_never<F: Future + Unpin>(future: Option<&mut F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn next_output(live: Option<&mut Live>) -> Turned {
    // A process that writes without end must not keep the others of this thread from running.
    tokio::task::coop::consume_budget().await;
    match live {
        Some(live) => live.next().await,
        None => std::future::pending().await,
    }
}

/// A number from 0 up to 1, which spreads the restarts of instances that failed together.
fn chance() -> f64 {
    let number = getrandom::u32().unwrap_or_default();
    f64::from(number) / (f64::from(u32::MAX) + 1.0)
}
