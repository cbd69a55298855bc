//! The executor over real boxes: what the rules promise holds with real pipes, signals and kernels.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use bytes::Bytes;
use kennel_box::{BoxSpec, Command, EngineKind, ExitCause, ExitStatus, HostView, MountRules, NativeEngine, Size};
use kennel_exec::{
    Attachment, EventKind, Executor, Graces, Limits, Phase, ProcessId, Seq, SessionId, StartError, StartRequest, Stop,
    Stream, WriteId, WriteOutcome,
};
use rustix::process::Signal;
use std::sync::Arc;
use std::time::Duration;
use support::processes::{processes_with, signal};
use support::waiting::{PATIENCE, settle};
use tokio::task::spawn_blocking;

struct Setup {
    executor: Executor,
    attachment: Attachment,
}

fn setup() -> Setup {
    let engine = NativeEngine::new(EngineKind::Native, env!("CARGO_BIN_EXE_kennel").into());
    let executor = Executor::new(Arc::new(engine), Limits::default()).unwrap();
    let attachment = executor.open(SessionId::new("test")).unwrap();
    Setup { executor, attachment }
}

fn request(words: &[&str]) -> StartRequest {
    request_with(&BoxSpec::default(), words)
}

fn request_with(spec: &BoxSpec, words: &[&str]) -> StartRequest {
    let host = HostView::current();
    let plan = spec.plan(&host, &MountRules::for_user(&host.home), &[]).unwrap();
    let command =
        Command { program: words[0].into(), args: words[1..].iter().map(Into::into).collect(), ..Command::default() };
    StartRequest { plan: Arc::new(plan), command }
}

/// Everything a process says until it is closed.
async fn all(attachment: &Attachment, id: &ProcessId) -> (Vec<u8>, Vec<u8>, kennel_box::ExitReport) {
    let (mut stdout, mut stderr, mut exit) = (Vec::new(), Vec::new(), None);
    let mut events = attachment.subscribe(id, Seq::START).unwrap();
    while let Some(event) = events.next().await.unwrap() {
        match event.kind {
            EventKind::Output { stream: Stream::Stdout, bytes } => stdout.extend_from_slice(&bytes),
            EventKind::Output { stream: Stream::Stderr, bytes } => stderr.extend_from_slice(&bytes),
            EventKind::Exited { report } => exit = Some(report),
            EventKind::Closed => break,
        }
    }
    (stdout, stderr, exit.expect("Exited comes before Closed"))
}

/// Whether any process on this machine has the given text in its command line.
fn is_running(mark: &str) -> bool {
    !processes_with(mark).is_empty()
}

#[tokio::test]
async fn input_comes_back_as_output_and_the_exit_is_reported() {
    let Setup { attachment, executor: _executor } = setup();
    let id = ProcessId::new("cat");
    attachment.start(id.clone(), request(&["sh", "-c", "cat; echo done >&2; exit 3"])).await.unwrap();
    for number in 0..10 {
        let line = Bytes::from(format!("line {number}\n"));
        assert_eq!(attachment.write(&id, WriteId::new(number), line).await.unwrap(), WriteOutcome::Accepted);
    }
    attachment.close_stdin(&id).unwrap();
    let (stdout, stderr, report) = all(&attachment, &id).await;
    assert_eq!(
        String::from_utf8(stdout).unwrap(),
        (0..10).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat()
    );
    assert_eq!(stderr, b"done\n");
    assert_eq!((report.status, report.cause), (ExitStatus::Code(3), ExitCause::Exited));
    assert_eq!(attachment.stderr(&id, 5).unwrap(), ["done"]);
}

#[tokio::test]
async fn a_line_of_64_mebibytes_passes_whole() {
    const LENGTH: usize = 64 << 20;
    let Setup { attachment, executor: _executor } = setup();
    let id = ProcessId::new("long");
    let script = format!("head -c {LENGTH} /dev/zero | tr '\\0' x; echo");
    attachment.start(id.clone(), request(&["sh", "-c", &script])).await.unwrap();
    let (stdout, _, report) = all(&attachment, &id).await;
    assert!(report.success(), "{report}");
    assert_eq!(stdout.len(), LENGTH + 1);
    assert!(stdout[..LENGTH].iter().all(|byte| *byte == b'x') && stdout[LENGTH] == b'\n');
}

#[tokio::test]
async fn a_daemonised_grandchild_does_not_make_a_dead_server_look_alive() {
    let Setup { attachment, executor: _executor } = setup();
    let id = ProcessId::new("daemon");
    // The grandchild holds both streams open for ever.
    attachment.start(id.clone(), request(&["sh", "-c", "setsid sleep 31415.001 & echo up"])).await.unwrap();
    let (stdout, _, report) = tokio::time::timeout(Duration::from_secs(20), all(&attachment, &id)).await.unwrap();
    assert!(report.success());
    assert_eq!(stdout, b"up\n");
    assert!(!is_running("31415.001"), "the grandchild ended with the box");
}

#[tokio::test]
async fn stopping_climbs_the_ladder_and_ends_the_whole_box() {
    let Setup { attachment, executor: _executor } = setup();
    let stop = Stop::Gracefully(Graces { stdin: Duration::from_millis(300), term: Duration::from_millis(300) });
    let polite = ProcessId::new("polite");
    attachment.start(polite.clone(), request(&["sh", "-c", "cat >/dev/null; echo eof"])).await.unwrap();
    attachment.terminate(&polite, stop).await.unwrap();
    assert_eq!(all(&attachment, &polite).await.0, b"eof\n", "closing stdin was enough");

    let deaf = ProcessId::new("deaf");
    let script = "trap 'echo term' TERM; setsid sh -c 'trap \"\" TERM; sleep 31415.002' & while :; do sleep 0.05; done";
    attachment.start(deaf.clone(), request(&["sh", "-c", script])).await.unwrap();
    // Apart from the executor, which goes on meanwhile.
    let absent = || (!is_running("31415.002")).then(|| "waited in vain".to_owned());
    spawn_blocking(move || settle(PATIENCE, absent)).await.unwrap().unwrap();
    attachment.terminate(&deaf, stop).await.unwrap();
    let (stdout, _, report) = all(&attachment, &deaf).await;
    assert_eq!(report.status, ExitStatus::Signal(9));
    assert!(String::from_utf8_lossy(&stdout).contains("term"), "asked before it was killed");
    assert!(!is_running("31415.002"), "the whole box was ended");
}

#[tokio::test]
async fn terminating_a_start_leaves_nothing() {
    for round in 0..20 {
        let Setup { executor, attachment } = setup();
        let attachment = Arc::new(attachment);
        let id = ProcessId::new("racer");
        let starting = {
            let (attachment, id) = (Arc::clone(&attachment), id.clone());
            tokio::spawn(async move { attachment.start(id, request(&["sleep", "31415.003"])).await })
        };
        tokio::time::sleep(Duration::from_micros(300 * round)).await;
        // The start may not have been seen yet, or be over.
        let _ = attachment.terminate(&id, Stop::Now).await;
        let _: Result<(), StartError> = starting.await.unwrap();
        executor.shutdown(Stop::Now).await;
        assert!(!is_running("31415.003"), "round {round}");
    }
}

#[tokio::test]
async fn causes_cross_the_executor() {
    let Setup { attachment, executor: _executor } = setup();
    let missing = attachment.start(ProcessId::new("missing"), request(&["/no/such/program"])).await.unwrap_err();
    assert!(missing.to_string().contains("/no/such/program"), "{missing}");

    let spec = BoxSpec { memory: Some(Size::mebibytes(48)), timeout: None, ..BoxSpec::default() };
    let hungry = ProcessId::new("hungry");
    let script = "import sys\nblocks = []\nwhile True: blocks.append(bytearray(1 << 20))";
    attachment.start(hungry.clone(), request_with(&spec, &["/usr/bin/python3", "-c", script])).await.unwrap();
    let (_, _, report) = all(&attachment, &hungry).await;
    assert_eq!(report.cause, ExitCause::OutOfMemory, "{report}");

    let spec = BoxSpec { timeout: Some(0.2), ..BoxSpec::default() };
    let slow = ProcessId::new("slow");
    attachment.start(slow.clone(), request_with(&spec, &["sleep", "100"])).await.unwrap();
    let (_, _, report) = all(&attachment, &slow).await;
    assert_eq!(report.cause, ExitCause::Deadline, "{report}");
}

#[tokio::test]
async fn a_lost_connection_loses_nothing() {
    let Setup { executor, attachment } = setup();
    let id = ProcessId::new("counter");
    let script = "for number in $(seq 2000); do echo $number; done";
    attachment.start(id.clone(), request(&["sh", "-c", script])).await.unwrap();
    let (mut seen, mut text) = (Seq::START, Vec::new());
    let mut attachment = Some(attachment);
    loop {
        let held = attachment.take().unwrap();
        let mut events = held.subscribe(&id, seen).unwrap();
        let event = events.next().await.unwrap().unwrap();
        assert_eq!(event.seq, seen.next());
        seen = event.seq;
        match event.kind {
            EventKind::Output { bytes, .. } => text.extend_from_slice(&bytes),
            EventKind::Closed => break,
            EventKind::Exited { .. } => {}
        }
        drop(events);
        drop(held);
        attachment = Some(executor.resume(&SessionId::new("test")).unwrap());
    }
    assert_eq!(
        String::from_utf8(text).unwrap(),
        (1..=2000).map(|number| format!("{number}\n")).collect::<Vec<_>>().concat()
    );
}

#[tokio::test]
async fn a_box_that_dies_under_its_process_is_reported() {
    let Setup { attachment, executor: _executor } = setup();
    let id = ProcessId::new("victim");
    attachment.start(id.clone(), request(&["sleep", "31415.004"])).await.unwrap();
    // The init of the box is the parent of the process, as seen from outside.
    let init = processes_with("31415.004").first().unwrap().parent;
    assert!(signal(init, Signal::KILL));
    let (_, _, report) = tokio::time::timeout(Duration::from_secs(10), all(&attachment, &id)).await.unwrap();
    assert_eq!(report.cause, ExitCause::BoxEnded);
    assert!(matches!(attachment.status(&id).unwrap().phase, Phase::Closed(_)));
}
