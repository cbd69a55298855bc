//! One connection: its place among all, and its HTTP.

use crate::alarm::SpareAlarm;
use crate::dispatch::Doors;
use crate::guarded::{Guarded, Meter, Reading};
use crate::intake::Standing;
use crate::peer::{Peer, Tuple};
use crate::rare::rarely;
use crate::settings::Limits;
use crate::sync::lock;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// What the HTTP library needs at least.
const SMALLEST_BUFFER: usize = 8 * 1024;
/// How many idle connections are asked to go at once when there is no place for another.
const ASKED_AT_ONCE: usize = 32;
/// How long those are waited for before others are asked.
const ASKING_ROUND: Duration = Duration::from_millis(100);

/// The places for connections.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    free: Arc<Semaphore>,
    open: Arc<Open>,
}

/// The connections that are open.
#[derive(Debug)]
struct Open {
    count: AtomicUsize,
    /// Those that speak HTTP, by number. One that became a WebSocket is not among them.
    idling: Mutex<HashMap<u64, Arc<Idling>>>,
    next: AtomicU64,
    epoch: Instant,
}

/// How much a connection is needed.
#[derive(Debug)]
struct Idling {
    /// Since when no request is in hand, in milliseconds since the epoch.
    since: AtomicU64,
    is_busy: AtomicBool,
    /// Whether it has ever brought a request.
    is_used: AtomicBool,
    /// Asks the connection to go, after the request in hand.
    leave: CancellationToken,
}

/// A connection's place, held until the last part of it is gone.
#[derive(Debug)]
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
    open: Arc<Open>,
    alarm: SpareAlarm,
    meter: Arc<Meter>,
    /// Who is at the other end.
    pub(crate) peer: Peer,
}

/// A place that has no connection yet.
#[derive(Debug)]
pub(crate) struct Place(OwnedSemaphorePermit);

impl Slots {
    pub(crate) fn new(all: usize) -> Self {
        let free = Arc::new(Semaphore::new(all.min(Semaphore::MAX_PERMITS)));
        let (count, idling, next) = (AtomicUsize::new(0), Mutex::default(), AtomicU64::new(0));
        Self { free, open: Arc::new(Open { count, idling, next, epoch: Instant::now() }) }
    }

    /// Waits for a place. Where there is none, connections without a request make room, those first that never had
    /// one.
    pub(crate) async fn place(&self) -> Option<Place> {
        loop {
            match timeout(ASKING_ROUND, Arc::clone(&self.free).acquire_owned()).await {
                Ok(permit) => return permit.ok().map(Place),
                Err(_) => self.make_room(),
            }
        }
    }

    /// Asks idle connections to go.
    pub(crate) fn make_room(&self) {
        let mut idle: Vec<_> = {
            let idling = lock(&self.open.idling);
            let free = |one: &&Arc<Idling>| !one.is_busy.load(Ordering::Acquire) && !one.leave.is_cancelled();
            let order = |one: &Arc<Idling>| (one.is_used.load(Ordering::Relaxed), one.since.load(Ordering::Relaxed));
            idling.values().filter(free).map(|one| (order(one), Arc::clone(one))).collect()
        };
        if idle.len() > ASKED_AT_ONCE {
            idle.select_nth_unstable_by_key(ASKED_AT_ONCE, |(order, _)| *order);
        }
        idle.iter().take(ASKED_AT_ONCE).for_each(|(_, one)| one.leave.cancel());
    }

    /// Gives a place to a connection.
    pub(crate) fn fill(&self, place: Place, peer: Peer) -> Arc<Slot> {
        self.open.count.fetch_add(1, Ordering::Relaxed);
        let (open, meter) = (Arc::clone(&self.open), Arc::default());
        Arc::new(Slot { _permit: place.0, open, alarm: SpareAlarm::default(), meter, peer })
    }
}

impl Open {
    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Slot {
    /// For the request that waits just now.
    pub(crate) fn alarms(&self) -> &SpareAlarm {
        &self.alarm
    }

    /// What is told about what is being read.
    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// How many connections are open, all together.
    pub(crate) fn open_connections(&self) -> usize {
        self.open.count.load(Ordering::Relaxed)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.open.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection among those that may be asked to go.
struct Listed {
    open: Arc<Open>,
    number: u64,
    idling: Arc<Idling>,
}

impl Listed {
    fn new(open: &Arc<Open>, leave: CancellationToken) -> Self {
        let (since, is_busy, is_used) = (AtomicU64::new(open.now()), AtomicBool::new(false), AtomicBool::new(false));
        let idling = Arc::new(Idling { since, is_busy, is_used, leave });
        let number = open.next.fetch_add(1, Ordering::Relaxed);
        lock(&open.idling).insert(number, Arc::clone(&idling));
        Self { open: Arc::clone(open), number, idling }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.open.idling).remove(&self.number);
    }
}

/// Says, as long as it lives, that a connection has a request in hand.
struct Busy<'a>(&'a Idling, &'a Open);

impl<'a> Busy<'a> {
    fn new(idling: &'a Idling, open: &'a Open) -> Self {
        idling.is_busy.store(true, Ordering::Release);
        idling.is_used.store(true, Ordering::Relaxed);
        Self(idling, open)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.since.store(self.1.now(), Ordering::Relaxed);
        self.0.is_busy.store(false, Ordering::Release);
    }
}

/// Accepts a connection into its place: from now on it is known who is at the other end.
pub(crate) async fn welcome(slots: &Slots, place: Place, doors: &Doors, tuple: Tuple) -> Arc<Slot> {
    let peer = match &doors.peers {
        Some(peers) => peers.identify(tuple).await,
        None => Peer::Unasked,
    };
    slots.fill(place, peer)
}

/// Serves a connection until it ends; when the gateway closes, or needs its place, after the request in hand or when it
/// is aborted.
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
    let leave = closing.child_token();
    let listed = Listed::new(&slot.open, leave.clone());
    let share = doors.intake.share(Standing::None);
    let stream = Guarded::new(stream, Arc::clone(slot.meter()), share, limits.stalled);
    let idling = Arc::clone(&listed.idling);
    let service = service_fn(move |request: Request<Incoming>| {
        let (doors, slot, idling) = (Arc::clone(&doors), Arc::clone(&slot), Arc::clone(&idling));
        async move {
            let _busy = Busy::new(&idling, &slot.open);
            slot.meter.whole(Reading::Body);
            Ok::<_, Infallible>(doors.handle(&slot, request).await)
        }
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
        () = rarely(leave.cancelled()) => {}
    }
    if !closing.is_cancelled() && !listed.idling.is_used.load(Ordering::Relaxed) {
        // It has brought nothing, so nothing is lost, though the beginning of a head may be there.
        return;
    }
    connection.as_mut().graceful_shutdown();
    // How it ended is the client's affair.
    let _ = aborted.run_until_cancelled(connection).await;
}
