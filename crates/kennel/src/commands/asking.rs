//! Owns the frame of every command that asks a server: an event loop, what a signal does, and that all ends in order.

mod address;
mod door;
mod endpoint;
mod listing;
mod nearest;
mod words;

use crate::cli::Whom;
use crate::failure::Failure;
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(crate) use address::Address;
pub(crate) use endpoint::{AskError, Endpoint};
pub(crate) use listing::{Listing, Others, Tool};
pub(crate) use nearest::did_you_mean;

/// The usual codes of a program that a signal ended begin behind this one.
const BY_SIGNAL: u8 = 128;

/// Opens an endpoint, lets `work` use it, and closes it, whatever became of the work.
pub(crate) fn with_endpoint(
    whom: Whom,
    work: impl AsyncFnOnce(&Endpoint) -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|source| Failure::System { what: "starting the event loop", source })?;
    let outcome = runtime.block_on(async {
        let mut signals = Signals::catch()?;
        let endpoint = Endpoint::new(whom)?;
        let outcome = tokio::select! {
            outcome = work(&endpoint) => outcome,
            code = signals.next() => Ok(code),
        };
        // A second signal ends Kennel at once, and the kernel all its boxes.
        tokio::select! {
            () = endpoint.close() => outcome,
            code = signals.next() => Ok(code),
        }
    });
    // Looking up a name cannot be interrupted; nobody waits for it any more.
    runtime.shutdown_background();
    outcome
}

/// The signals that ask to stop.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn catch() -> Result<Self, Failure> {
        let catch = |kind| signal(kind).map_err(|source| Failure::System { what: "catching signals", source });
        Ok(Self {
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
            hangup: catch(SignalKind::hangup())?,
        })
    }

    /// The exit code for the next one.
    async fn next(&mut self) -> ExitCode {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hangup.recv() => SignalKind::hangup(),
        };
        ExitCode::from(BY_SIGNAL + u8::try_from(kind.as_raw_value()).unwrap_or_default())
    }
}
