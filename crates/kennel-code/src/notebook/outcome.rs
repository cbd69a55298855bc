//! What is remembered of a cell that is over.

use super::loss::span;
use super::message::EndStatus;
use super::running::Ran;
use crate::cell::{CellError, Status};
use crate::output::{Capture, Coming, Kept, Whole, cut, shown};
use crate::owner::Holder;
use crate::results::Results;
use crate::settings::OutputLimits;
use crate::sync::lock;
use bytes::Bytes;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a cell has ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) value: String,
    pub(super) error: Option<CellError>,
    pub(super) notes: Vec<String>,
    pub(super) calls: u64,
    pub(super) stdout: Place,
    pub(super) stderr: Place,
}

/// Where the whole of a stream is.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Its address, where it did not fit.
    pub(super) uri: Option<String>,
    /// How many bytes of each end there are, where not all were kept.
    ends: Option<usize>,
}

/// Why a cell was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Timeout(Duration),
    Cancelled,
}

impl Outcome {
    /// A cell that has not run.
    pub(super) fn unrun(status: Status, error: Option<CellError>) -> Self {
        Self {
            status,
            value: String::new(),
            error,
            notes: Vec::new(),
            calls: 0,
            stdout: Place::default(),
            stderr: Place::default(),
        }
    }

    /// What the interpreter said of the end, and what was done to it.
    pub(super) fn of(ran: Ran, limits: &OutputLimits) -> Self {
        let Ran { end, stop, loss, calls, interrupted_before } = ran;
        let mut outcome = Self { calls, ..Self::unrun(Status::Error, None) };
        let status = end.as_ref().map(|end| end.status);
        outcome.status = match (status, stop) {
            (Some(EndStatus::Success), _) => Status::Success,
            (Some(EndStatus::Interrupted) | None, Some(Stop::Timeout(_))) => Status::Timeout,
            (Some(EndStatus::Interrupted) | None, Some(Stop::Cancelled)) => Status::Cancelled,
            (Some(EndStatus::Interrupted) | None, None) | (Some(EndStatus::Error), _) => Status::Error,
        };
        match stop {
            Some(Stop::Timeout(timeout)) => outcome.notes.push(format!("interrupted after {}", span(timeout))),
            Some(Stop::Cancelled) => outcome.notes.push("interrupted because it was cancelled".to_owned()),
            None if status == Some(EndStatus::Interrupted) && interrupted_before => {
                let note = "perhaps interrupted by the end of the cell before it; run it again";
                outcome.notes.push(note.to_owned());
            }
            None => {}
        }
        if let Some(end) = end {
            outcome.value = end.value.unwrap_or_default();
            outcome.error = end.error.map(|error| bounded(&error, limits.error_chars));
        }
        if let Some(loss) = loss {
            if outcome.status == Status::Error && outcome.error.is_none() {
                let message = format!("the interpreter ended: {loss}");
                outcome.error =
                    Some(CellError { kind: "InterpreterEnded".to_owned(), message, ..CellError::default() });
            }
            outcome.notes.push(format!("state lost: {loss}"));
        }
        outcome
    }

    /// Ends the output, keeps what is too long to be shown, and cuts the value to what is left of the budget.
    pub(super) fn keep(
        &mut self,
        streams: [&Mutex<Capture>; 2],
        holder: &Holder,
        results: &Results,
        limits: &OutputLimits,
    ) {
        let [stdout, stderr] = streams;
        let (stdout_chars, stderr_chars);
        (self.stdout, stdout_chars) = Place::of(stdout, holder, results, limits.stdout_chars);
        (self.stderr, stderr_chars) = Place::of(stderr, holder, results, limits.stderr_chars);
        let left = limits.shown_chars.saturating_sub(stdout_chars + stderr_chars);
        let value = cut(&self.value, left);
        if value.left_out > 0 {
            let head = Bytes::from(std::mem::take(&mut self.value));
            let whole = Arc::new(Kept { total: head.len() as u64, head, tail: Bytes::new() });
            let uri = results.keep(holder, &whole);
            self.value = value.text(uri.as_deref().map_or(Whole::Nowhere, Whole::At));
        }
    }
}

impl Place {
    /// Ends a stream; returns where its whole is and how many characters of it are shown.
    fn of(stream: &Mutex<Capture>, holder: &Holder, results: &Results, chars: usize) -> (Self, usize) {
        let mut stream = lock(stream);
        let kept = stream.seal();
        let all = stream.since(0, |span| shown(span, chars, Coming::Nothing));
        if all.left_out == 0 {
            return (Self::default(), all.chars());
        }
        let uri = results.keep(holder, &kept);
        if uri.is_some() {
            // The results drop it when there is no room; the cell must not hold it then.
            stream.lend(chars);
        }
        (Self { uri, ends: (!kept.is_whole()).then_some(kept.tail.len()) }, all.chars())
    }

    pub(super) fn whole(&self) -> Whole<'_> {
        match (&self.uri, self.ends) {
            (None, _) => Whole::Nowhere,
            (Some(uri), None) => Whole::At(uri),
            (Some(uri), Some(each)) => Whole::EndsAt(uri, each),
        }
    }
}

fn bounded(error: &CellError, chars: usize) -> CellError {
    let bounded = |text: &str, chars| cut(text, chars).text(Whole::Nowhere);
    CellError {
        kind: bounded(&error.kind, 200),
        message: bounded(&error.message, chars),
        traceback: bounded(&error.traceback, chars),
    }
}
