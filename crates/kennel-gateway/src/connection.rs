//! One connection: its place among all, and its HTTP.

use crate::alarm::SpareAlarm;
use crate::dispatch::Doors;
use crate::rare::rarely;
use crate::settings::Limits;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// What the HTTP library needs at least.
const SMALLEST_BUFFER: usize = 8 * 1024;

/// The places for connections.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    free: Arc<Semaphore>,
    open: Arc<AtomicUsize>,
}

/// A connection's place, held until the last part of it is gone.
#[derive(Debug)]
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
    open: Arc<AtomicUsize>,
    alarm: SpareAlarm,
}

impl Slots {
    pub(crate) fn new(all: usize) -> Self {
        let free = Arc::new(Semaphore::new(all.min(Semaphore::MAX_PERMITS)));
        Self { free, open: Arc::default() }
    }

    /// Waits for a place, and then for the connection that takes it.
    pub(crate) async fn fill(&self, accepted: impl Future<Output = TcpStream>) -> Option<(TcpStream, Arc<Slot>)> {
        let permit = Arc::clone(&self.free).acquire_owned().await.ok()?;
        let stream = accepted.await;
        self.open.fetch_add(1, Ordering::Relaxed);
        let (open, alarm) = (Arc::clone(&self.open), SpareAlarm::default());
        Some((stream, Arc::new(Slot { _permit: permit, open, alarm })))
    }
}

impl Slot {
    /// For the request that waits just now.
    pub(crate) fn alarms(&self) -> &SpareAlarm {
        &self.alarm
    }

    /// How many connections are open, all together.
    pub(crate) fn open_connections(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves a connection until it ends; when the gateway closes, after the request in hand or when it is aborted.
pub(crate) async fn serve(
    stream: TcpStream,
    doors: Arc<Doors>,
    slot: Arc<Slot>,
    limits: &Limits,
    closing: &CancellationToken,
    aborted: &CancellationToken,
) {
    // Small messages must not wait for each other; a socket that refuses this works all the same.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let (doors, slot) = (Arc::clone(&doors), Arc::clone(&slot));
        async move { Ok::<_, Infallible>(doors.handle(&slot, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle_connection)
        .max_buf_size(limits.buffer_bytes.max(SMALLEST_BUFFER))
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = rarely(closing.cancelled()) => connection.as_mut().graceful_shutdown(),
    }
    // How it ended is the client's affair.
    let _ = aborted.run_until_cancelled(connection).await;
}
