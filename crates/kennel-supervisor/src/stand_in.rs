//! Conversations that look like processes: what lets a server that is no program of this machine be supervised as one.

use crate::box_launcher::BoxLauncher;
use crate::failure::Permanence;
use crate::launch::{LaunchFailure, LaunchSteps, Launched, Launcher};
use crate::phase::Phase;
use kennel_box::{
    BoxError, BoxPlan, BoxProcess, BoxSpec, Capabilities, Command, Engine, EngineFuture, EngineKind, ExitCause,
    ExitReport, ExitStatus, HostView, MountRules, ProcessHandle, RunningBox, Walls,
};
use kennel_exec::{AttachError, Attachment, Executor, LimitsError, SessionId, StartRequest};
use kennel_jail::{Hold, Isolation, PortWall};
use std::collections::HashMap;
use std::ffi::OsString;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{DuplexStream, duplex};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

const PIPE_BYTES: usize = 64 * 1024;
const SIGTERM: i32 = 15;

/// The inner ends of the pipes of a process, and what asks it to end.
pub struct Pipes {
    /// What is written to it.
    pub stdin: DuplexStream,
    /// What it says.
    pub stdout: DuplexStream,
    /// What an operator should know.
    pub stderr: DuplexStream,
    /// Fires when it should end.
    pub term: CancellationToken,
}

/// Why conversations cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum StandInError {
    /// The bounds of the executor do not go together.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The executor gives no session.
    #[error(transparent)]
    Session(#[from] AttachError),
    /// There is no plan for a box without anything.
    #[error(transparent)]
    Plan(#[from] BoxError),
}

type Conversation = Pin<Box<dyn Future<Output = i32> + Send>>;
type Begin = Box<dyn FnOnce(Pipes) -> Conversation + Send>;

/// Starts conversations, each a process to whoever supervises it. Dropping it ends them all.
pub struct StandIns {
    engine: StandInEngine,
    plan: Arc<BoxPlan>,
    name: &'static str,
    launched: AtomicU64,
    attachment: Arc<Attachment>,
    /// Owns the conversations.
    _executor: Executor,
}

impl StandIns {
    /// Conversations that are named after `name`. The bounds are those of any process. Must be called within a tokio
    /// runtime.
    pub fn new(name: &'static str, limits: kennel_exec::Limits) -> Result<Self, StandInError> {
        let engine = StandInEngine::default();
        let executor = Executor::new(Arc::new(engine.clone()), limits)?;
        let attachment = Arc::new(executor.open(SessionId::new(name))?);
        let (plan, launched) = (Arc::new(plan()?), AtomicU64::new(0));
        Ok(Self { engine, plan, name, launched, attachment, _executor: executor })
    }

    /// Starts a conversation. What it returns is its exit code; it is dropped where it is ended by force.
    pub async fn start<F>(
        &self,
        steps: &dyn LaunchSteps,
        begin: impl FnOnce(Pipes) -> F + Send + 'static,
    ) -> Result<Launched, LaunchFailure>
    where
        F: Future<Output = i32> + Send + 'static,
    {
        let number = self.launched.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{}{number}", self.name);
        let program = OsString::from(&name);
        let _waiting = self.engine.prepare(program.clone(), Box::new(|pipes| Box::pin(begin(pipes))));
        let command = Command { program, ..Command::default() };
        let request = StartRequest { plan: Arc::clone(&self.plan), command };
        BoxLauncher::new(Arc::clone(&self.attachment), name, request).launch(steps).await
    }
}

impl LaunchFailure {
    /// A conversation that could not begin, for this reason.
    #[must_use]
    pub fn without_conversation(text: String, permanence: Permanence) -> Self {
        Self { phase: Phase::CreateBox, text, hint: None, permanence, stderr: Vec::new() }
    }
}

/// There is nothing to keep in: no code of the server runs here.
const NO_WALLS: Walls = Walls {
    isolation: Isolation::None,
    memory: Hold::Nothing,
    pids: Hold::Nothing,
    cpu: Hold::Nothing,
    landlock: None,
    open_files: u64::MAX,
    ports: PortWall::NotAsked,
};

/// Makes a conversation of each command, whose program is the name under which it was prepared.
#[derive(Clone, Default)]
struct StandInEngine(Arc<Mutex<HashMap<OsString, Begin>>>);

/// A conversation that waits for its box; given up when this is dropped.
struct Waiting {
    engine: StandInEngine,
    name: OsString,
}

impl StandInEngine {
    /// Keeps what a command of this name needs until it is started.
    fn prepare(&self, name: OsString, begin: Begin) -> Waiting {
        lock(&self.0).insert(name.clone(), begin);
        Waiting { engine: self.clone(), name }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let given_up = lock(&self.engine.0).remove(&self.name);
        drop(given_up);
    }
}

/// A plan for such boxes: it grants nothing, and nobody looks at it.
fn plan() -> Result<BoxPlan, BoxError> {
    let host = HostView { home: "/nonexistent".into(), cwd: "/".into(), ..HostView::default() };
    let rules = MountRules::for_user(&host.home);
    BoxSpec { engine: EngineKind::Host, ..BoxSpec::default() }.plan(&host, &rules, &[])
}

impl Engine for StandInEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Host
    }

    fn probe(&self) -> EngineFuture<'_, Capabilities> {
        Box::pin(async { Capabilities { engine: EngineKind::Host, walls: Err("no program runs here".to_owned()) } })
    }

    fn create<'a>(&'a self, _plan: &'a BoxPlan) -> EngineFuture<'a, Result<Arc<dyn RunningBox>, BoxError>> {
        Box::pin(async {
            let made = StandInBox { engine: self.clone(), walls: NO_WALLS, process: Mutex::default() };
            Ok(Arc::new(made) as Arc<dyn RunningBox>)
        })
    }

    fn end_leftovers(&self) -> EngineFuture<'_, Result<usize, BoxError>> {
        Box::pin(async { Ok(0) })
    }
}

struct StandInBox {
    engine: StandInEngine,
    walls: Walls,
    process: Mutex<Option<Arc<StandInProcess>>>,
}

impl StandInBox {
    fn end(&self) {
        let process = lock(&self.process).take();
        if let Some(process) = process {
            process.end(ExitReport::BOX_ENDED);
        }
    }
}

impl Drop for StandInBox {
    fn drop(&mut self) {
        self.end();
    }
}

impl RunningBox for StandInBox {
    fn walls(&self) -> &Walls {
        &self.walls
    }

    fn start<'a>(&'a self, command: &'a Command) -> EngineFuture<'a, Result<BoxProcess, BoxError>> {
        Box::pin(async {
            let begin = lock(&self.engine.0).remove(&command.program);
            let Some(begin) = begin else {
                let problem = "names no conversation that was made ready; start it again".to_owned();
                return Err(BoxError::Field { field: "command", problem });
            };
            if command.channel {
                let problem = "cannot have a channel: no program runs here".to_owned();
                return Err(BoxError::Field { field: "command", problem });
            }
            let (stdin, inner_stdin) = duplex(PIPE_BYTES);
            let (stdout, inner_stdout) = duplex(PIPE_BYTES);
            let (stderr, inner_stderr) = duplex(PIPE_BYTES);
            let process = Arc::new(StandInProcess::default());
            let term = process.term.clone();
            let pipes = Pipes { stdin: inner_stdin, stdout: inner_stdout, stderr: inner_stderr, term };
            let running = Arc::clone(&process);
            // Owned by the box, which aborts it at its end.
            let task = tokio::spawn(async move {
                let code = begin(pipes).await;
                running.end(ExitReport { status: ExitStatus::Code(code), cause: ExitCause::Exited });
            });
            *lock(&process.task) = Some(task.abort_handle());
            *lock(&self.process) = Some(Arc::clone(&process));
            let (stdin, stdout, stderr) = (Box::pin(stdin), Box::pin(stdout), Box::pin(stderr));
            Ok(BoxProcess { stdin, stdout, stderr, channel: None, handle: process })
        })
    }

    fn signal_all(&self, signal: i32) -> Result<(), BoxError> {
        let process = lock(&self.process).clone();
        process.map_or(Ok(()), |process| process.signal(signal))
    }

    fn destroy(&self) -> EngineFuture<'_, Result<(), BoxError>> {
        self.end();
        Box::pin(async { Ok(()) })
    }
}

/// The hold on a conversation.
#[derive(Default)]
struct StandInProcess {
    term: CancellationToken,
    exit: watch::Sender<Option<ExitReport>>,
    task: Mutex<Option<AbortHandle>>,
}

impl StandInProcess {
    /// Ends it, with this report unless it has ended before.
    fn end(&self, report: ExitReport) {
        self.exit.send_if_modified(|exit| {
            let is_first = exit.is_none();
            exit.get_or_insert(report);
            is_first
        });
        let task = lock(&self.task).take();
        if let Some(task) = task {
            task.abort();
        }
    }
}

impl ProcessHandle for StandInProcess {
    fn signal(&self, signal: i32) -> Result<(), BoxError> {
        if signal == SIGTERM {
            self.term.cancel();
        } else {
            self.end(ExitReport { status: ExitStatus::Signal(signal), cause: ExitCause::Signalled });
        }
        Ok(())
    }

    fn wait(&self) -> EngineFuture<'_, ExitReport> {
        Box::pin(async {
            match self.exit.subscribe().wait_for(Option::is_some).await.as_deref() {
                Ok(Some(report)) => *report,
                Ok(None) | Err(_) => ExitReport::BOX_ENDED,
            }
        })
    }
}

/// Takes a lock that is never held over an await. A poisoned one is used as it is: nothing panics under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
