//! The pool over an engine of the test's own: what it keeps, whom it gives it, and what it does when starts fail.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use kennel_box::{BoxError, BoxProcess, Command, ExitCause, ExitReport, ExitStatus, Walls};
use kennel_code::channel::{Channel, ChannelLimits, Token};
use kennel_code::engine::{CodeEngine, EngineFuture, Interpreter, ProcessHandle, RunningBox, StartError};
use kennel_code::pool::{Pool, PoolSettings};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

/// Starts one interpreter for each permit, or fails.
#[derive(Default)]
struct Starter {
    permits: Option<Semaphore>,
    failing: AtomicBool,
    attempts: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    living: Arc<AtomicUsize>,
    processes: Mutex<Vec<Arc<Process>>>,
}

struct Process(watch::Sender<bool>);

impl ProcessHandle for Process {
    fn signal(&self, _signal: i32) -> Result<(), BoxError> {
        Ok(())
    }

    fn wait(&self) -> EngineFuture<'_, ExitReport> {
        Box::pin(async {
            self.0.subscribe().wait_for(|ended| *ended).await.unwrap();
            ExitReport { status: ExitStatus::Code(0), cause: ExitCause::Exited }
        })
    }
}

/// Counts itself.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl RunningBox for Place {
    fn walls(&self) -> &Walls {
        unreachable!("the pool does not ask for walls")
    }

    fn start<'a>(&'a self, _command: &'a Command) -> EngineFuture<'a, Result<BoxProcess, BoxError>> {
        unreachable!("the pool starts nothing in a box")
    }

    fn signal_all(&self, _signal: i32) -> Result<(), BoxError> {
        Ok(())
    }

    fn destroy(&self) -> EngineFuture<'_, Result<(), BoxError>> {
        Box::pin(async { Ok(()) })
    }
}

impl CodeEngine for Starter {
    fn start(&self) -> EngineFuture<'_, Result<Interpreter, StartError>> {
        Box::pin(async {
            let attempt = self.attempts.fetch_add(1, SeqCst) + 1;
            self.most_at_once.fetch_max(self.at_once.fetch_add(1, SeqCst) + 1, SeqCst);
            if let Some(permits) = &self.permits {
                permits.acquire().await.unwrap().forget();
            }
            self.at_once.fetch_sub(1, SeqCst);
            if self.failing.load(SeqCst) {
                return Err(StartError::NoPython { tried: format!("attempt {attempt}") });
            }
            let (near, _far) =
                socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
            self.living.fetch_add(1, SeqCst);
            let process = Arc::new(Process(watch::Sender::new(false)));
            self.processes.lock().unwrap().push(Arc::clone(&process));
            Ok(Interpreter {
                channel: Channel::new(near, ChannelLimits::default()).unwrap(),
                token: Token::random().unwrap(),
                stdout: Box::pin(tokio::io::empty()),
                stderr: Box::pin(tokio::io::empty()),
                process,
                running: Arc::new(Place(Arc::clone(&self.living))),
                python: attempt.to_string(),
            })
        })
    }

    fn describe(&self) -> String {
        "a test's own".to_owned()
    }
}

fn settings(ready: usize) -> PoolSettings {
    PoolSettings { ready, ..PoolSettings::default() }
}

fn gated() -> Arc<Starter> {
    Arc::new(Starter { permits: Some(Semaphore::new(0)), ..Starter::default() })
}

fn allow(starter: &Starter, count: usize) {
    starter.permits.as_ref().unwrap().add_permits(count);
}

/// Lets all tasks run until they wait; time stands still in these tests unless a sleep is all that is left.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_as_asked_for_are_ready_and_one_that_is_taken_is_replaced() {
    let starter = Arc::new(Starter::default());
    let pool = Pool::new(starter.clone(), settings(2));
    settle().await;
    assert_eq!((pool.ready(), starter.attempts.load(SeqCst)), (2, 2));
    let first = pool.start().await.unwrap();
    assert_eq!(first.python, "1", "the oldest one first");
    settle().await;
    assert_eq!((pool.ready(), starter.attempts.load(SeqCst)), (2, 3));
    assert_eq!(starter.most_at_once.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn who_comes_too_early_waits_for_a_start_and_is_served_in_order() {
    let starter = gated();
    let pool = Arc::new(Pool::new(starter.clone(), settings(1)));
    let mut callers = Vec::new();
    for _ in 0..3 {
        let pool = Arc::clone(&pool);
        callers.push(tokio::spawn(async move { pool.start().await }));
        settle().await;
    }
    assert_eq!(starter.attempts.load(SeqCst), 1, "one at a time");
    // One who does not wait any more is passed over.
    callers.remove(1).abort();
    settle().await;
    allow(&starter, 2);
    let [first, last] = callers.try_into().unwrap();
    assert_eq!((first.await.unwrap().unwrap().python, last.await.unwrap().unwrap().python), ("1".into(), "2".into()));
    allow(&starter, 5);
    settle().await;
    assert_eq!((pool.ready(), starter.attempts.load(SeqCst)), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn one_that_has_died_is_never_given() {
    let starter = Arc::new(Starter::default());
    let pool = Pool::new(starter.clone(), settings(3));
    settle().await;
    for process in &starter.processes.lock().unwrap()[..2] {
        process.0.send_replace(true);
    }
    assert_eq!(pool.start().await.unwrap().python, "3");
    settle().await;
    assert_eq!((pool.ready(), starter.living.load(SeqCst)), (3, 3), "the dead are gone and replaced");
    for process in starter.processes.lock().unwrap().iter() {
        process.0.send_replace(true);
    }
    assert_eq!(pool.start().await.unwrap().python, "7", "where all have died a new one is waited for");
}

#[tokio::test(start_paused = true)]
async fn failures_are_told_to_who_waits_and_tried_again_with_growing_pauses() {
    let starter = Arc::new(Starter::default());
    starter.failing.store(true, SeqCst);
    let settings = PoolSettings {
        ready: 1,
        first_pause: Duration::from_secs(1),
        longest_pause: Duration::from_secs(8),
        ..PoolSettings::default()
    };
    let pool = Pool::new(starter.clone(), settings);
    let begin = Instant::now();
    let mut attempts = Vec::new();
    for second in 0..32 {
        tokio::time::sleep_until(begin + Duration::from_secs(second) + Duration::from_millis(500)).await;
        attempts.push(starter.attempts.load(SeqCst));
    }
    // Pauses of 1, 2, 4, 8 and then 8 seconds for ever.
    let growths = (1..attempts.len()).filter(|at| attempts[*at] > attempts[at - 1]).collect::<Vec<_>>();
    assert_eq!((attempts[0], growths.as_slice()), (1, [1, 3, 7, 15, 23, 31].as_slice()));

    // Whoever waits does not wait for the longest pause, nor starts a storm.
    let asked = Instant::now();
    let error = pool.start().await.unwrap_err();
    assert!(error.to_string().contains("attempt 8"), "{error}");
    assert!(asked.elapsed() <= Duration::from_secs(1));
    let asked = Instant::now();
    assert!(pool.start().await.unwrap_err().to_string().contains("attempt 9"));
    assert_eq!(asked.elapsed(), Duration::from_secs(1));
    starter.failing.store(false, SeqCst);
    assert_eq!(pool.start().await.unwrap().python, "10");
    settle().await;
    assert_eq!(pool.ready(), 1);
}

#[tokio::test(start_paused = true)]
async fn too_many_do_not_wait() {
    let starter = gated();
    let pool = Arc::new(Pool::new(starter.clone(), PoolSettings { waiting: 2, ..settings(0) }));
    let mut callers = Vec::new();
    for _ in 0..2 {
        let pool = Arc::clone(&pool);
        callers.push(tokio::spawn(async move { pool.start().await }));
    }
    settle().await;
    assert!(matches!(pool.start().await, Err(StartError::Busy { waiting: 2 })));
    // Who has gone takes no room.
    callers.remove(0).abort();
    settle().await;
    allow(&starter, 2);
    let (second, third) = tokio::join!(callers.remove(0), pool.start());
    assert!(second.unwrap().is_ok() && third.is_ok());
    settle().await;
    assert_eq!((pool.ready(), starter.attempts.load(SeqCst)), (0, 2), "none is kept that was not asked for");
}

#[tokio::test(start_paused = true)]
async fn all_that_nobody_has_taken_end_with_the_pool() {
    let starter = Arc::new(Starter::default());
    let pool = Pool::new(starter.clone(), settings(3));
    settle().await;
    let taken = pool.start().await.unwrap();
    settle().await;
    assert_eq!(starter.living.load(SeqCst), 4);
    drop(pool);
    settle().await;
    assert_eq!(starter.living.load(SeqCst), 1);
    assert_eq!(Arc::strong_count(&starter), 1, "the filler is gone");
    drop(taken);
    assert_eq!(starter.living.load(SeqCst), 0);
}
