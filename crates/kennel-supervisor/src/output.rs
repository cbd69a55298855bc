//! The part of an instance's task that deals with what the process writes.

use crate::driver::{Driver, Listen};
use crate::failure::{Cause, Failure, Permanence};
use crate::live::{Live, Turned};
use crate::machine::Input;
use crate::opening::{Step, is_own};
use crate::phase::{Generation, Phase};
use crate::reader::Heard;
use crate::receiver::{Noise, Receiver};
use crate::status::State;
use kennel_exec::FeedError;
use kennel_wire::{Kind, Message};
use std::pin::pin;
use std::sync::Arc;

/// How much is taken apart at once: a line of two bytes takes a hundred times as many when it is no message.
const PIECE: usize = 64 * 1024;

impl<R: Receiver> Driver<R> {
    /// Deals with what the process wrote, or how it ended.
    pub(crate) async fn output(&mut self, turned: Turned) {
        let Some(live) = &mut self.live else { return };
        let generation = live.generation;
        match turned {
            Turned::Stdout(chunk) => {
                if self.machine.view().phase == Phase::Connect {
                    self.tell(Input::Entered(Phase::Handshake));
                }
                let mut rest = chunk;
                while !rest.is_empty() {
                    let piece = rest.split_to(rest.len().min(PIECE));
                    let heard = self.live.as_mut().filter(|live| live.generation == generation);
                    let Some(heard) = heard.map(|live| live.reader.stdout(piece)) else { return };
                    self.heard(generation, heard).await;
                }
            }
            Turned::Stderr(chunk) => {
                for line in live.reader.stderr(chunk) {
                    self.receiver.diagnostics(generation, &line);
                }
            }
            Turned::Exited(report) => live.exit = Some(report),
            Turned::Closed => {
                let heard = live.reader.last();
                if let Some(line) = live.reader.last_diagnostic() {
                    self.receiver.diagnostics(generation, &line);
                }
                self.heard(generation, heard).await;
                if self.is_live(generation) {
                    self.ended();
                }
            }
            Turned::Lost(text) => {
                let phase = self.failing_phase();
                self.tell(Input::Failed(Failure::new(phase, Cause::Lost(text), Permanence::Transient)));
            }
        }
    }

    async fn heard(&mut self, generation: Generation, heard: Vec<Heard>) {
        for heard in heard {
            // Handing a message over may have taken longer than the process was allowed to last.
            if !self.is_live(generation) {
                return;
            }
            // A process that writes many short lines must not keep the others of this thread from running.
            tokio::task::coop::consume_budget().await;
            match heard {
                Heard::Message(message) => {
                    let answer = matches!(message.kind(), Kind::Response { .. } | Kind::Error { .. });
                    self.tell(if answer { Input::Answered } else { Input::Alive });
                    self.hand_over(generation, message).await;
                }
                Heard::Own(message) => {
                    self.tell(Input::Answered);
                    let steps = self.live.as_mut().map(|live| live.opening.answer(&message));
                    self.steps(steps.unwrap_or_default());
                }
                Heard::Noise(noise) => self.noise(generation, noise),
            }
        }
    }

    /// Hands a message over, and goes on with everything but reading while that takes time.
    async fn hand_over(&mut self, generation: Generation, message: Message) {
        let receiver = Arc::clone(&self.receiver);
        let mut handing = pin!(receiver.message(generation, message));
        self.blocked = true;
        while self.is_live(generation) {
            let turn = tokio::select! {
                biased;
                () = &mut handing => break,
                turn = self.turn(Listen::No) => turn,
            };
            self.handle(turn);
        }
        self.blocked = false;
    }

    fn noise(&mut self, generation: Generation, noise: Noise) {
        if let Some(live) = &mut self.live {
            live.note_junk(&noise);
            let steps = match &noise {
                Noise::NotAMessage { reason, .. } => match reason.id().filter(|id| is_own(id)) {
                    Some(id) => live.opening.refused(id, &reason.to_string()),
                    None => Vec::new(),
                },
                Noise::TooLong { head, tail, length } => live.opening.skipped(head, tail, *length),
            };
            self.steps(steps);
        }
        self.receiver.noise(generation, noise);
    }

    /// Does what the opening says.
    pub(crate) fn steps(&mut self, steps: Vec<Step>) {
        for step in steps {
            let Some(live) = &mut self.live else { return };
            match step {
                Step::Send(request) => match live.input.send(request) {
                    // A process that does not listen any more is about to end, which says more than this.
                    Ok(()) | Err(FeedError::Closed) => {}
                    Err(error @ FeedError::Full) => {
                        let cause = Cause::Lost(format!("the process could not be written to: {error}"));
                        let failure = Failure::new(self.failing_phase(), cause, Permanence::Transient);
                        return self.tell(Input::Failed(failure));
                    }
                },
                Step::Enter(phase) => self.tell(Input::Entered(phase)),
                Step::Open(handshake) => {
                    live.handshake = Some(Arc::new(handshake));
                    self.tell(Input::Opened);
                }
                Step::Refuse(cause) => {
                    let failure = Failure::new(self.failing_phase(), cause, Permanence::Permanent);
                    return self.tell(Input::Refused(failure));
                }
                Step::Fail(cause, permanence) => {
                    return self.tell(Input::Failed(Failure::new(self.failing_phase(), cause, permanence)));
                }
            }
        }
    }

    /// Nothing is left of the process.
    pub(crate) fn ended(&mut self) {
        self.stopping = None;
        self.turn = None;
        let phase = self.failing_phase();
        let failure = self.live.as_ref().map_or_else(
            || Failure::new(phase, Cause::Lost("the process was never reached".to_owned()), Permanence::Transient),
            |live| live.end(phase),
        );
        self.tell(Input::Ended(failure));
        // Not before: what the machine tells of may need the last words of the process.
        self.live = None;
    }

    /// Where the instance is if something fails now.
    fn failing_phase(&self) -> Phase {
        let view = self.machine.view();
        match view.state {
            State::Ready if self.shared.status().calls_in_flight > 0 => Phase::Call,
            State::Ready => Phase::Runtime,
            _ => view.phase,
        }
    }

    fn is_live(&self, generation: Generation) -> bool {
        self.live.as_ref().is_some_and(|live: &Live| live.generation == generation)
    }
}
