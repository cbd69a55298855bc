//! The life of one process: start it, move its bytes, stop it, end its box, keep its log for a while.

use crate::attachment::StartRequest;
use crate::error::StartError;
use crate::event::Stream;
use crate::process::{Process, Stop};
use crate::pump::Pump;
use crate::session::Session;
use kennel_box::{BoxError, BoxProcess, Engine, ExitReport, RunningBox};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The same number on every Linux.
const SIGTERM: i32 = 15;

/// Runs one process from its placeholder to the moment it is forgotten.
pub(crate) async fn drive(
    session: Arc<Session>,
    process: Arc<Process>,
    request: StartRequest,
    started: oneshot::Sender<Result<(), StartError>>,
) {
    match bring_up(&*session.engine, &process, &request).await {
        Ok((running_box, child)) => {
            let report = live(&process, &*running_box, child, started).await;
            // The last handle: whatever `destroy` may have left ends with it.
            drop(running_box);
            process.has_closed(report);
            session.retire(&process);
            keep(&process).await;
            session.forget(&process);
        }
        Err(NotStarted { error, box_end }) => {
            session.forget(&process);
            process.stdin.close();
            process.log.never_started();
            process.box_has_ended(box_end);
            // The caller may be gone with its connection; then nobody is left to be told.
            let _ = started.send(Err(error));
        }
    }
}

/// Why a process did not start, and what became of its box.
struct NotStarted {
    error: StartError,
    box_end: Result<(), BoxError>,
}

impl NotStarted {
    fn without_box(error: StartError) -> Self {
        Self { error, box_end: Ok(()) }
    }
}

/// Makes the box and starts the process in it.
///
/// The engine's futures are never dropped half-way, because an engine need not be able to clean up then. A stop
/// that comes meanwhile is obeyed as soon as there is something to end, and wins over a start that succeeded.
async fn bring_up(
    engine: &dyn Engine,
    process: &Process,
    request: &StartRequest,
) -> Result<(Arc<dyn RunningBox>, BoxProcess), NotStarted> {
    if process.is_stop_requested() {
        return Err(NotStarted::without_box(StartError::Terminated));
    }
    let running_box = engine.create(&request.plan).await.map_err(|error| NotStarted::without_box(error.into()))?;
    let error = if process.is_stop_requested() {
        StartError::Terminated
    } else {
        match running_box.start(&request.command).await {
            Ok(child) if !process.is_stop_requested() => return Ok((running_box, child)),
            Ok(_) => StartError::Terminated,
            Err(error) => error.into(),
        }
    };
    Err(NotStarted { error, box_end: running_box.destroy().await })
}

/// Sees a process through to its end, the end of its box and the end of its output.
async fn live(
    process: &Arc<Process>,
    running_box: &dyn RunningBox,
    child: BoxProcess,
    started: oneshot::Sender<Result<(), StartError>>,
) -> ExitReport {
    let BoxProcess { stdin, stdout, stderr, handle, .. } = child;
    let last_call = CancellationToken::new();
    let mut pumps = JoinSet::new();
    let pump = |stream, pipe| Pump::new(Arc::clone(process), stream, pipe, last_call.clone()).run();
    pumps.spawn(pump(Stream::Stderr, stderr));
    process.stdout.open(pump(Stream::Stdout, stdout));
    pumps.spawn({
        let process = Arc::clone(process);
        async move { process.stdout.run().await }
    });
    let mut writer = JoinSet::new();
    if process.stdin.open(stdin) {
        let process = Arc::clone(process);
        writer.spawn(async move { process.stdin.run().await });
    }
    process.has_started(Arc::clone(&handle));
    let _ = started.send(Ok(()));

    let report = tokio::select! {
        biased;
        report = handle.wait() => {
            process.has_exited(report);
            process.stdout.last_call();
            writer.shutdown().await;
            process.stdin.abandon();
            tokio::select! {
                () = all(&mut pumps) => {}
                () = sleep(process.limits.drain) => {}
                () = process.stop_now_requested() => {}
            }
            process.box_has_ended(running_box.destroy().await);
            report
        }
        () = ladder(process, running_box) => {
            let ended = running_box.destroy().await;
            let report = timeout(process.limits.drain, handle.wait()).await.unwrap_or(ExitReport::BOX_ENDED);
            process.has_exited(report);
            process.stdout.last_call();
            writer.shutdown().await;
            process.stdin.abandon();
            process.box_has_ended(ended);
            report
        }
    };
    last_call.cancel();
    all(&mut pumps).await;
    report
}

/// Waits for a request to stop and takes the polite steps; returns when only the end of the box is left.
async fn ladder(process: &Process, running_box: &dyn RunningBox) {
    let Stop::Gracefully(graces) = process.stop_requested().await else {
        return;
    };
    process.stdin.close();
    if timeout(graces.stdin, process.stop_now_requested()).await.is_ok() {
        return;
    }
    // A box that cannot be signalled any more is ended by the next step like any other.
    let _ = running_box.signal_all(SIGTERM);
    let _ = timeout(graces.term, process.stop_now_requested()).await;
}

/// Keeps a closed process until nobody has read from it for a while, or it has to make room.
async fn keep(process: &Process) {
    loop {
        let left = process.limits.finished_kept.saturating_sub(process.log.touched().elapsed());
        if left.is_zero() {
            return;
        }
        tokio::select! {
            () = sleep(left) => {}
            () = process.forgotten.cancelled() => return,
        }
    }
}

async fn all(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}
