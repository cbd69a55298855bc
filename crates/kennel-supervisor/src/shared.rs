//! What the handles of an instance and its task share: wishes one way, the status the other.

use crate::failure::Failure;
use crate::machine::View;
use crate::status::{State, Status};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Something a handle wants from the task. Wishing twice is wishing once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Wish {
    Wake = 1,
    Suspect = 2,
    Restart = 4,
    Shutdown = 8,
}

impl Wish {
    /// In the order in which they are fulfilled.
    const ALL: [Self; 4] = [Self::Shutdown, Self::Restart, Self::Wake, Self::Suspect];
}

/// The calls in flight, and when the instance was last needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) in_flight: usize,
    pub(crate) last: Instant,
}

pub(crate) struct Shared {
    bell: Notify,
    wishes: AtomicU8,
    epoch: Instant,
    in_flight: AtomicUsize,
    /// When the instance was last needed, in nanoseconds since `epoch`.
    last: AtomicU64,
    /// Whether a process is ready and will not be stopped for idleness without looking at `last` again.
    awake: AtomicBool,
    board: Mutex<Board>,
    /// Cancelled when the task has ended, however it did.
    pub(crate) ended: CancellationToken,
}

struct Board {
    view: View,
    since: Instant,
    retry_at: Option<Instant>,
    last_failure: Option<Arc<Failure>>,
}

impl Shared {
    pub(crate) fn new(view: View) -> Self {
        let now = Instant::now();
        Self {
            bell: Notify::new(),
            wishes: AtomicU8::new(0),
            epoch: now,
            in_flight: AtomicUsize::new(0),
            last: AtomicU64::new(0),
            awake: AtomicBool::new(false),
            board: Mutex::new(Board { view, since: now, retry_at: None, last_failure: None }),
            ended: CancellationToken::new(),
        }
    }

    pub(crate) fn wish(&self, wish: Wish) {
        self.wishes.fetch_or(wish as u8, Ordering::SeqCst);
        self.bell.notify_one();
    }

    /// Wants a process. While one is ready this costs two atomics and disturbs nobody.
    pub(crate) fn wake(&self) {
        self.touch();
        self.want();
    }

    /// Wants a process, after something that keeps it from being idle: either the task sees that before it stops the
    /// process, or it is seen here to be stopping.
    fn want(&self) {
        if !self.awake.load(Ordering::SeqCst) {
            self.wish(Wish::Wake);
        }
    }

    /// A call begins, and with it a process is wanted.
    pub(crate) fn work_began(&self) {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        self.want();
    }

    pub(crate) fn work_ended(&self) {
        self.touch();
        // One end too many must not look like work without end.
        let _ = self.in_flight.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1));
    }

    fn touch(&self) {
        let nanos = u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last.fetch_max(nanos, Ordering::SeqCst);
    }

    /// Rings the bell without a wish: something the task has to look at has changed.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits for the bell.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Takes all wishes.
    pub(crate) fn take_wishes(&self) -> impl Iterator<Item = Wish> + use<> {
        let wishes = self.wishes.swap(0, Ordering::SeqCst);
        Wish::ALL.into_iter().filter(move |wish| wishes & *wish as u8 != 0)
    }

    /// Looks at the work, from now on with every [`Shared::wake`] as a wish until the status is posted again.
    pub(crate) fn work(&self) -> Work {
        self.awake.store(false, Ordering::SeqCst);
        // In this order: work that is seen to have ended has left its time before.
        let in_flight = self.in_flight.load(Ordering::SeqCst);
        let last = self.epoch + std::time::Duration::from_nanos(self.last.load(Ordering::SeqCst));
        Work { in_flight, last }
    }

    /// Posts how the instance is.
    pub(crate) fn post(&self, view: View, retry_at: Option<Instant>) {
        let mut board = self.board();
        if board.view.state != view.state {
            board.since = Instant::now();
        }
        board.view = view;
        board.retry_at = retry_at;
        drop(board);
        self.awake.store(view.state == State::Ready, Ordering::SeqCst);
    }

    pub(crate) fn post_failure(&self, failure: Arc<Failure>) {
        self.board().last_failure = Some(failure);
    }

    pub(crate) fn status(&self) -> Status {
        let board = self.board();
        let now = Instant::now();
        Status {
            state: board.view.state,
            phase: board.view.phase,
            generation: board.view.generation,
            attempt: board.view.attempt,
            since: now.saturating_duration_since(board.since),
            retry_in: board.retry_at.map(|at| at.saturating_duration_since(now)),
            last_failure: board.last_failure.clone(),
            calls_in_flight: self.in_flight.load(Ordering::SeqCst),
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
