//! Owns what every command that serves clients does alike: its threads, its signals and its token.

use crate::failure::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The event loop of a command that serves.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers())
        .enable_all()
        .build()
        .map_err(|source| Failure::System { what: "starting the event loop", source })
}

/// How many threads serve clients: half as many as there are processors, because the servers need the others, and on few
/// processors threads cost more by waking each other than they bring.
fn workers() -> usize {
    (std::thread::available_parallelism().map_or(1, usize::from) / 2).clamp(1, 8)
}

/// A new secret: 192 random bits.
pub(crate) fn token() -> Result<String, Failure> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::System { what: "making a token", source: std::io::Error::other(error) })?;
    Ok(bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect())
}

/// What the end of the terminal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hangup {
    /// To stop.
    Stops,
    /// Something else, which somebody else looks after.
    IsOther,
}

/// Cancelled by the first signal that asks to stop; the second one ends Kennel at once, and the kernel all its boxes.
pub(crate) fn stop_signals(hangup: Hangup) -> Result<CancellationToken, Failure> {
    let mut interrupt = caught(SignalKind::interrupt())?;
    let mut terminate = caught(SignalKind::terminate())?;
    let mut hung_up = match hangup {
        Hangup::Stops => Some(caught(SignalKind::hangup())?),
        Hangup::IsOther => None,
    };
    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = received(hung_up.as_mut()) => {}
            }
            if asked.is_cancelled() {
                std::process::exit(130);
            }
            asked.cancel();
        }
    });
    Ok(stop)
}

/// A signal that is caught from now on.
pub(crate) fn caught(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|source| Failure::System { what: "catching signals", source })
}

async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
