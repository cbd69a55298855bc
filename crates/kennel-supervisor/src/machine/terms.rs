//! What goes into the machine, what comes out, and what there is to see of it.

use crate::failure::Failure;
use crate::phase::{Generation, Phase};
use crate::receiver::{End, LifecycleEvent, Next};
use crate::status::State;
use kennel_wire::Era;
use std::sync::Arc;
use std::time::Instant;

/// What happened.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// Someone wants a process.
    Wake,
    /// The operator wants another process.
    Restart,
    /// A call got no answer in time.
    Suspect,
    /// Nothing is wanted any more.
    Shutdown,
    /// The start that was asked for has its turn.
    Staged,
    /// The start has come to a phase.
    Entered(Phase),
    /// The opening conversation is done.
    Opened,
    /// The process answered that it does not speak the era in which it is being opened.
    Refused(Failure),
    /// The start has failed, or the process cannot be reached, and something of it may be left.
    Failed(Failure),
    /// Nothing is left of the start or the process. Without being asked to, it ended because of this.
    Ended(Failure),
    /// The process wrote a message.
    Alive,
    /// The process answered a call or a probe.
    Answered,
    /// Time has passed.
    Tick(Situation),
}

/// What the machine has to know when time has passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation {
    /// Calls in flight.
    pub(crate) in_flight: usize,
    /// When the instance was last needed.
    pub(crate) last_needed: Instant,
    /// What the process writes is not being read, because what it wrote before is still being handed over.
    pub(crate) blocked: bool,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Begin a start, with its turn on the stage first.
    Start(Generation),
    /// End the start or the process; answered with [`Input::Ended`] when nothing of it is left.
    Stop,
    /// Ask the process whether it lives.
    Probe,
    /// Tell that this process is ready.
    Ready(Generation),
    /// Tell that the server does not speak this era.
    EraRefused(Era),
    /// Tell that this process, which was ready, is gone.
    Gone(Generation, End),
    /// Tell of a failure.
    Failed(Arc<Failure>, Next),
    /// Tell of a transition.
    Event(LifecycleEvent),
    /// The instance has ended and nothing of it is left.
    Quit,
}

/// What there is to see of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) state: State,
    pub(crate) phase: Phase,
    pub(crate) generation: Generation,
    pub(crate) attempt: u32,
}
