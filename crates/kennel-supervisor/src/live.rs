//! A process that runs: its pipes, the conversation with it, and what is to be said of its end.

use crate::failure::{Cause, Failure, Permanence};
use crate::launch::Launched;
use crate::opening::{Opening, Step};
use crate::phase::{Generation, Phase};
use crate::reader::Reader;
use crate::receiver::{Handshake, Input, Link, Noise};
use bytes::Bytes;
use kennel_box::ExitReport;
use kennel_exec::{EventKind, FeedError, Seq, Stream, Subscription};
use kennel_redact::cut;
use std::sync::Arc;

/// How many of the last lines of standard error go into a failure.
const LAST_LINES: usize = 20;
/// How much of a line that is no message goes into a failure.
const JUNK_BYTES: usize = 200;

/// What a process did.
#[derive(Debug)]
pub(crate) enum Turned {
    Stdout(Bytes),
    Stderr(Bytes),
    Exited(ExitReport),
    /// It has ended and nothing more will come.
    Closed,
    /// It cannot be heard any more, though it may run.
    Lost(String),
}

/// One process.
pub(crate) struct Live {
    pub(crate) generation: Generation,
    pub(crate) launched: Launched,
    pub(crate) input: Input,
    pub(crate) reader: Reader,
    pub(crate) opening: Opening,
    pub(crate) exit: Option<ExitReport>,
    pub(crate) handshake: Option<Arc<Handshake>>,
    /// `None` when it cannot be heard any more.
    subscription: Option<Subscription>,
    junk: Option<String>,
}

impl Live {
    /// Takes hold of a process that was just started.
    pub(crate) fn new(
        generation: Generation,
        launched: Launched,
        opening: Opening,
        line_bytes: usize,
    ) -> Result<Self, String> {
        let Launched { attachment, process } = &launched;
        let subscription = attachment.attend(process, Seq::START).map_err(|error| error.to_string())?;
        let feed = attachment.feed(process).map_err(|error| error.to_string())?;
        Ok(Self {
            generation,
            input: Input::new(feed),
            reader: Reader::new(line_bytes),
            opening,
            exit: None,
            handshake: None,
            subscription: Some(subscription),
            junk: None,
            launched,
        })
    }

    /// The next thing the process does. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Turned {
        let Some(subscription) = &mut self.subscription else {
            return std::future::pending().await;
        };
        let turned = match subscription.next().await {
            Ok(Some(event)) => match event.kind {
                EventKind::Output { stream: Stream::Stdout, bytes } => return Turned::Stdout(bytes),
                EventKind::Output { stream: Stream::Stderr, bytes } => return Turned::Stderr(bytes),
                EventKind::Exited { report } => return Turned::Exited(report),
                EventKind::Closed => Turned::Closed,
            },
            Ok(None) => Turned::Closed,
            Err(error) => Turned::Lost(error.to_string()),
        };
        self.subscription = None;
        turned
    }

    /// The first steps of the opening.
    pub(crate) fn begin(&mut self) -> Vec<Step> {
        self.opening.begin()
    }

    /// Asks the process whether it lives.
    pub(crate) fn probe(&mut self) -> Result<(), FeedError> {
        self.input.send(self.opening.probe())
    }

    /// The way to the process, if it is ready.
    pub(crate) fn link(&self) -> Option<Link> {
        let handshake = Arc::clone(self.handshake.as_ref()?);
        Some(Link { generation: self.generation, input: self.input.clone(), handshake })
    }

    /// Remembers the first thing that was not a message, for an operator who wonders what the process is.
    pub(crate) fn note_junk(&mut self, noise: &Noise) {
        let (Noise::NotAMessage { head, .. } | Noise::TooLong { head, .. }) = noise;
        self.junk.get_or_insert_with(|| cut(&String::from_utf8_lossy(head), JUNK_BYTES).into_owned());
    }

    /// Adds to a failure what is known of the process.
    pub(crate) fn enrich(&self, failure: &mut Failure) {
        if failure.stderr.is_empty() {
            failure.stderr = self.last_lines();
        }
        if let Cause::TimedOut { junk: junk @ None, .. } = &mut failure.cause {
            junk.clone_from(&self.junk);
        }
    }

    /// What is to be said if the process ended without being asked to.
    pub(crate) fn end(&self, phase: Phase) -> Failure {
        let stderr = self.last_lines();
        let lost = || Failure::new(phase, Cause::Lost("the process was lost".to_owned()), Permanence::Transient);
        self.exit.map_or_else(
            || Failure { stderr: stderr.clone(), ..lost() },
            |report| Failure::exited(phase, report, stderr.clone()),
        )
    }

    fn last_lines(&self) -> Vec<String> {
        // A process that is no longer known has nothing to say.
        self.launched.attachment.stderr(&self.launched.process, LAST_LINES).unwrap_or_default()
    }
}

/// The net under everything: no process outlives the task that watches it, not even one whose receiver panicked.
impl Drop for Live {
    fn drop(&mut self) {
        self.launched.abandon();
    }
}
