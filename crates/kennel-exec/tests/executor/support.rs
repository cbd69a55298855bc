//! A fake engine: boxes without a kernel, for faults and for the clock. The test plays the child.

use bytes::Bytes;
use kennel_box::{
    BoxError, BoxPlan, BoxProcess, BoxSpec, Capabilities, Command, Engine, EngineFuture, EngineKind, ExitCause,
    ExitReport, ExitStatus, HostView, MountRules, ProcessHandle, RunningBox, Walls,
};
use kennel_exec::{
    Attachment, Event, EventKind, EventsError, Executor, Limits, ProcessId, ReadRequest, Seq, SessionId, StartRequest,
    Stream, Subscription,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, mpsc, watch};

pub(crate) const SIGTERM: i32 = 15;
const PIPE_BYTES: usize = 64 * 1024;

/// How a box got rid of a child, or tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blow {
    ToProcess(i32),
    ToBox(i32),
    Destroyed,
}

/// The child's side of its pipes, and the way it ends.
pub(crate) struct Child {
    stdin: AsyncMutex<Option<DuplexStream>>,
    stdout: AsyncMutex<Option<DuplexStream>>,
    stderr: AsyncMutex<Option<DuplexStream>>,
    exit: watch::Sender<Option<ExitReport>>,
    killed: watch::Sender<bool>,
    pub(crate) obeys_term: AtomicBool,
    /// Its pipes stay open whatever happens, as a descendant that no box holds would have it.
    pub(crate) unkillable: AtomicBool,
    blows: Mutex<Vec<Blow>>,
}

impl Child {
    pub(crate) fn blows(&self) -> Vec<Blow> {
        self.blows.lock().unwrap().clone()
    }

    /// Writes all, or as much as fits before it is killed.
    pub(crate) async fn print(&self, stream: Stream, bytes: &[u8]) {
        let pipe = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        let mut pipe = pipe.lock().await;
        let mut killed = self.killed.subscribe();
        let gone = tokio::select! {
            written = pipe.as_mut().expect("an open pipe").write_all(bytes) => written.is_err(),
            _ = killed.wait_for(|killed| *killed) => true,
        };
        if gone {
            pipe.take();
        }
    }

    pub(crate) async fn say(&self, text: &str) {
        self.print(Stream::Stdout, text.as_bytes()).await;
    }

    /// Reads exactly so much of standard input.
    pub(crate) async fn hear(&self, length: usize) -> String {
        let mut bytes = vec![0; length];
        self.stdin.lock().await.as_mut().expect("an open pipe").read_exact(&mut bytes).await.expect("more input");
        String::from_utf8(bytes).unwrap()
    }

    /// Reads standard input to its end.
    pub(crate) async fn hear_all(&self) -> String {
        let mut text = String::new();
        self.stdin.lock().await.as_mut().expect("an open pipe").read_to_string(&mut text).await.unwrap();
        text
    }

    /// Closes its end of standard input.
    pub(crate) async fn stop_listening(&self) {
        self.stdin.lock().await.take();
    }

    /// Ends, with nobody left to hold the pipes.
    pub(crate) fn exit(&self, code: i32) {
        self.exit_leaving_a_grandchild(code);
        self.close_pipes();
    }

    /// Ends, but someone keeps its pipes open.
    pub(crate) fn exit_leaving_a_grandchild(&self, code: i32) {
        self.die(ExitReport { status: ExitStatus::Code(code), cause: ExitCause::Exited });
    }

    pub(crate) fn close_pipes(&self) {
        for pipe in [&self.stdin, &self.stdout, &self.stderr] {
            // A pipe that is locked is being used; whoever uses it drops it when the child is killed.
            if let Ok(mut pipe) = pipe.try_lock() {
                pipe.take();
            }
        }
    }

    fn die(&self, report: ExitReport) {
        self.exit.send_if_modified(|exit| {
            let alive = exit.is_none();
            if alive {
                *exit = Some(report);
            }
            alive
        });
    }

    fn strike(&self, blow: Blow) {
        self.blows.lock().unwrap().push(blow);
        match blow {
            Blow::ToBox(SIGTERM) | Blow::ToProcess(SIGTERM) if self.obeys_term.load(Ordering::SeqCst) => {
                self.die(ExitReport { status: ExitStatus::Signal(SIGTERM), cause: ExitCause::Signalled });
                self.close_pipes();
            }
            Blow::Destroyed => {
                self.die(ExitReport::BOX_ENDED);
                if !self.unkillable.load(Ordering::SeqCst) {
                    self.killed.send_replace(true);
                    self.close_pipes();
                }
            }
            Blow::ToBox(_) | Blow::ToProcess(_) => {}
        }
    }
}

impl ProcessHandle for Child {
    fn signal(&self, signal: i32) -> Result<(), BoxError> {
        self.strike(Blow::ToProcess(signal));
        Ok(())
    }

    fn wait(&self) -> EngineFuture<'_, ExitReport> {
        Box::pin(async { self.exit.subscribe().wait_for(Option::is_some).await.unwrap().unwrap() })
    }
}

/// Makes boxes out of nothing, unless told otherwise.
pub(crate) struct FakeEngine {
    pub(crate) create_gate: Semaphore,
    pub(crate) start_gate: Semaphore,
    pub(crate) fail_create: AtomicBool,
    pub(crate) fail_start: AtomicBool,
    pub(crate) fail_destroy: Arc<AtomicBool>,
    live: Arc<AtomicUsize>,
    children: mpsc::Sender<Arc<Child>>,
    started: AsyncMutex<mpsc::Receiver<Arc<Child>>>,
}

impl FakeEngine {
    pub(crate) fn new() -> Arc<Self> {
        let (children, started) = mpsc::channel(1000);
        Arc::new(Self {
            create_gate: Semaphore::new(Semaphore::MAX_PERMITS),
            start_gate: Semaphore::new(Semaphore::MAX_PERMITS),
            fail_create: AtomicBool::new(false),
            fail_start: AtomicBool::new(false),
            fail_destroy: Arc::default(),
            live: Arc::default(),
            children,
            started: AsyncMutex::new(started),
        })
    }

    /// How many boxes there are.
    pub(crate) fn live_boxes(&self) -> usize {
        self.live.load(Ordering::SeqCst)
    }

    /// How many children were started and not taken by [`FakeEngine::next_child`].
    pub(crate) fn starts(&self) -> usize {
        self.children.max_capacity() - self.children.capacity()
    }

    /// The children in the order in which they were started.
    pub(crate) async fn next_child(&self) -> Arc<Child> {
        self.started.lock().await.recv().await.unwrap()
    }

    pub(crate) fn shut(gate: &Semaphore) {
        gate.forget_permits(Semaphore::MAX_PERMITS);
    }
}

struct FakeBox {
    engine: Arc<FakeEngine>,
    child: Mutex<Option<Arc<Child>>>,
    counted: AtomicBool,
}

impl FakeBox {
    fn strike(&self, blow: Blow) {
        if let Some(child) = &*self.child.lock().unwrap() {
            child.strike(blow);
        }
    }

    fn end(&self) {
        if self.counted.swap(false, Ordering::SeqCst) {
            self.strike(Blow::Destroyed);
            self.engine.live.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Drop for FakeBox {
    fn drop(&mut self) {
        self.end();
    }
}

fn fault(problem: &str) -> BoxError {
    BoxError::Field { field: "fake", problem: problem.to_owned() }
}

/// The engine as the executor sees it: boxes have to know the engine they belong to.
pub(crate) struct Shared(pub(crate) Arc<FakeEngine>);

impl Engine for Shared {
    fn kind(&self) -> EngineKind {
        EngineKind::Native
    }

    fn probe(&self) -> EngineFuture<'_, Capabilities> {
        unreachable!("the executor does not probe")
    }

    fn create<'a>(&'a self, _plan: &'a BoxPlan) -> EngineFuture<'a, Result<Arc<dyn RunningBox>, BoxError>> {
        Box::pin(async {
            self.0.create_gate.acquire().await.unwrap().forget();
            if self.0.fail_create.load(Ordering::SeqCst) {
                return Err(fault("cannot be made"));
            }
            self.0.live.fetch_add(1, Ordering::SeqCst);
            let made = FakeBox { engine: Arc::clone(&self.0), child: Mutex::default(), counted: AtomicBool::new(true) };
            Ok(Arc::new(made) as Arc<dyn RunningBox>)
        })
    }

    fn end_leftovers(&self) -> EngineFuture<'_, Result<usize, BoxError>> {
        unreachable!("the executor leaves nothing over")
    }
}

impl RunningBox for FakeBox {
    fn walls(&self) -> &Walls {
        unreachable!("the executor does not ask for walls")
    }

    fn start<'a>(&'a self, _command: &'a Command) -> EngineFuture<'a, Result<BoxProcess, BoxError>> {
        Box::pin(async {
            self.engine.start_gate.acquire().await.unwrap().forget();
            if self.engine.fail_start.load(Ordering::SeqCst) {
                return Err(fault("has no such program"));
            }
            let (stdin, child_stdin) = duplex(PIPE_BYTES);
            let (stdout, child_stdout) = duplex(PIPE_BYTES);
            let (stderr, child_stderr) = duplex(PIPE_BYTES);
            let child = Arc::new(Child {
                stdin: AsyncMutex::new(Some(child_stdin)),
                stdout: AsyncMutex::new(Some(child_stdout)),
                stderr: AsyncMutex::new(Some(child_stderr)),
                exit: watch::Sender::new(None),
                killed: watch::Sender::new(false),
                obeys_term: AtomicBool::new(true),
                unkillable: AtomicBool::new(false),
                blows: Mutex::default(),
            });
            *self.child.lock().unwrap() = Some(Arc::clone(&child));
            self.engine.children.try_send(Arc::clone(&child)).unwrap();
            let (stdin, stdout, stderr) = (Box::pin(stdin), Box::pin(stdout), Box::pin(stderr));
            Ok(BoxProcess { stdin, stdout, stderr, channel: None, handle: child })
        })
    }

    fn signal_all(&self, signal: i32) -> Result<(), BoxError> {
        self.strike(Blow::ToBox(signal));
        Ok(())
    }

    fn destroy(&self) -> EngineFuture<'_, Result<(), BoxError>> {
        Box::pin(async {
            if self.engine.fail_destroy.load(Ordering::SeqCst) {
                return Err(fault("will not go"));
            }
            self.end();
            Ok(())
        })
    }
}

/// An executor over a fake engine, with one session open.
pub(crate) struct Stage {
    pub(crate) engine: Arc<FakeEngine>,
    pub(crate) executor: Executor,
    pub(crate) attachment: Attachment,
}

impl Stage {
    pub(crate) fn new(limits: Limits) -> Self {
        let engine = FakeEngine::new();
        let executor = Executor::new(Arc::new(Shared(Arc::clone(&engine))), limits).unwrap();
        let attachment = executor.open(session("main")).unwrap();
        Self { engine, executor, attachment }
    }

    /// Starts a process and returns its id and the child to play.
    pub(crate) async fn start(&self, name: &str) -> (ProcessId, Arc<Child>) {
        let id = process(name);
        self.attachment.start(id.clone(), request()).await.unwrap();
        (id, self.engine.next_child().await)
    }

    /// Loses the connection and comes back.
    pub(crate) fn reconnect(self) -> Self {
        let Self { engine, executor, attachment } = self;
        drop(attachment);
        let attachment = executor.resume(&session("main")).unwrap();
        Self { engine, executor, attachment }
    }
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name)
}

pub(crate) fn process(name: &str) -> ProcessId {
    ProcessId::new(name)
}

pub(crate) fn request() -> StartRequest {
    // Made once: the fake engine does not look at it.
    static PLAN: LazyLock<Arc<BoxPlan>> = LazyLock::new(|| {
        let host = HostView::current();
        let rules = MountRules::for_user(&host.home);
        Arc::new(BoxSpec::default().plan(&host, &rules, &[]).expect("the default spec is a good one"))
    });
    StartRequest { plan: Arc::clone(&PLAN), command: Command::default() }
}

/// Limits so small that every bound is reached soon.
pub(crate) fn tight() -> Limits {
    Limits { message_bytes: 256, retained_bytes: 256, retained_events: 64, read_bytes: 64, ..Limits::default() }
}

pub(crate) fn from(after: Seq) -> ReadRequest {
    ReadRequest { after, max_bytes: usize::MAX, wait: Duration::from_secs(5) }
}

/// Events as text: `out:…`, `err:…`, `exited`, `closed`.
pub(crate) fn tell(events: &[Event]) -> Vec<String> {
    let tell = |event: &Event| match &event.kind {
        EventKind::Output { stream: Stream::Stdout, bytes } => format!("out:{}", String::from_utf8_lossy(bytes)),
        EventKind::Output { stream: Stream::Stderr, bytes } => format!("err:{}", String::from_utf8_lossy(bytes)),
        EventKind::Exited { .. } => "exited".to_owned(),
        EventKind::Closed => "closed".to_owned(),
    };
    events.iter().map(tell).collect()
}

/// The standard output among events, checking that no number is missing after `after`.
pub(crate) fn stdout(after: Seq, events: &[Event]) -> Vec<u8> {
    let mut expected = after;
    let mut output = Vec::new();
    for event in events {
        expected = expected.next();
        assert_eq!(event.seq, expected);
        if let EventKind::Output { stream: Stream::Stdout, bytes } = &event.kind {
            output.extend_from_slice(bytes);
        }
    }
    output
}

/// Everything from here to the end.
pub(crate) async fn rest(subscription: &mut Subscription) -> Result<Vec<Event>, EventsError> {
    let mut events = Vec::new();
    while let Some(event) = subscription.next().await? {
        events.push(event);
    }
    Ok(events)
}

/// Lets everything that can run do so; with a paused clock this takes no time worth speaking of.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// A pattern in which every loss and every swap shows.
pub(crate) fn pattern(length: usize) -> Bytes {
    (0..length).map(|index| u8::try_from((index * 31 + index / 251) % 256).unwrap()).collect()
}
