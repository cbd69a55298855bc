//! The fake engine and its boxes.

use super::child::Child;
use kennel_box::{
    BoxError, BoxPlan, BoxProcess, BoxSpec, Capabilities, Command, Engine, EngineFuture, EngineKind, ExitCause,
    ExitReport, ExitStatus, HostView, MountRules, ProcessHandle, RunningBox, Walls,
};
use kennel_jail::{Hold, Isolation, PortWall};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::duplex;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::sleep;

const PIPE_BYTES: usize = 64 * 1024;
const SIGTERM: i32 = 15;

const NO_WALLS: Walls = Walls {
    isolation: Isolation::None,
    memory: Hold::Nothing,
    pids: Hold::Nothing,
    cpu: Hold::Nothing,
    landlock: None,
    open_files: u64::MAX,
    ports: PortWall::NotAsked,
};

type Script = dyn Fn(Child) -> Pin<Box<dyn Future<Output = ExitReport> + Send>> + Send + Sync;

/// Makes boxes out of nothing; each process in them is a run of the script.
///
/// Clones are the same engine. Like real processes, scripts end when their box does, whatever they are doing.
#[derive(Clone)]
pub struct FakeEngine(Arc<Inner>);

struct Inner {
    script: Box<Script>,
    create_takes: Mutex<Duration>,
    refusals: Mutex<Option<String>>,
    created: AtomicUsize,
    started: AtomicUsize,
    live: AtomicUsize,
    most: AtomicUsize,
}

impl FakeEngine {
    /// An engine whose every process runs `script`.
    pub fn new<F>(script: impl Fn(Child) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ExitReport> + Send + 'static,
    {
        Self(Arc::new(Inner {
            script: Box::new(move |child| Box::pin(script(child))),
            create_takes: Mutex::default(),
            refusals: Mutex::default(),
            created: AtomicUsize::new(0),
            started: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }))
    }

    /// Lets each box take this long to be made.
    pub fn take_long(&self, time: Duration) {
        *self.0.create_takes.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// Refuses boxes from now on with this text, or makes them again.
    pub fn refuse(&self, text: Option<&str>) {
        *self.0.refusals.lock().unwrap_or_else(PoisonError::into_inner) = text.map(str::to_owned);
    }

    /// How many boxes were asked for.
    #[must_use]
    pub fn created(&self) -> usize {
        self.0.created.load(Ordering::SeqCst)
    }

    /// How many processes were started.
    #[must_use]
    pub fn started(&self) -> usize {
        self.0.started.load(Ordering::SeqCst)
    }

    /// How many boxes there are.
    #[must_use]
    pub fn live(&self) -> usize {
        self.0.live.load(Ordering::SeqCst)
    }

    /// How many boxes there were at once, at most.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }
}

/// A plan for boxes of a fake engine, which does not look at it.
#[must_use]
pub fn plan() -> Option<Arc<BoxPlan>> {
    static PLAN: LazyLock<Option<Arc<BoxPlan>>> = LazyLock::new(|| {
        let host = HostView::current();
        let rules = MountRules::for_user(&host.home);
        BoxSpec::default().plan(&host, &rules, &[]).ok().map(Arc::new)
    });
    PLAN.clone()
}

impl Engine for FakeEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Native
    }

    fn probe(&self) -> EngineFuture<'_, Capabilities> {
        Box::pin(async {
            Capabilities { engine: EngineKind::Native, walls: Err("a fake engine has no walls".to_owned()) }
        })
    }

    fn create<'a>(&'a self, _plan: &'a BoxPlan) -> EngineFuture<'a, Result<Arc<dyn RunningBox>, BoxError>> {
        Box::pin(async {
            self.0.created.fetch_add(1, Ordering::SeqCst);
            let takes = *self.0.create_takes.lock().unwrap_or_else(PoisonError::into_inner);
            sleep(takes).await;
            let refusal = self.0.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(problem) = refusal {
                return Err(BoxError::Field { field: "fake", problem });
            }
            let live = self.0.live.fetch_add(1, Ordering::SeqCst) + 1;
            self.0.most.fetch_max(live, Ordering::SeqCst);
            let made = FakeBox {
                engine: Arc::clone(&self.0),
                walls: NO_WALLS,
                process: Mutex::default(),
                counted: AtomicBool::new(true),
            };
            Ok(Arc::new(made) as Arc<dyn RunningBox>)
        })
    }

    fn end_leftovers(&self) -> EngineFuture<'_, Result<usize, BoxError>> {
        Box::pin(async { Ok(0) })
    }
}

struct FakeBox {
    engine: Arc<Inner>,
    walls: Walls,
    process: Mutex<Option<Arc<FakeProcess>>>,
    counted: AtomicBool,
}

impl FakeBox {
    fn end(&self) {
        if self.counted.swap(false, Ordering::SeqCst) {
            if let Some(process) = &*self.process.lock().unwrap_or_else(PoisonError::into_inner) {
                process.end(ExitReport::BOX_ENDED);
            }
            self.engine.live.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Drop for FakeBox {
    fn drop(&mut self) {
        self.end();
    }
}

impl RunningBox for FakeBox {
    fn walls(&self) -> &Walls {
        &self.walls
    }

    fn start<'a>(&'a self, _command: &'a Command) -> EngineFuture<'a, Result<BoxProcess, BoxError>> {
        Box::pin(async {
            let number = self.engine.started.fetch_add(1, Ordering::SeqCst) + 1;
            let (stdin, child_stdin) = duplex(PIPE_BYTES);
            let (stdout, child_stdout) = duplex(PIPE_BYTES);
            let (stderr, child_stderr) = duplex(PIPE_BYTES);
            let (term, terms) = watch::channel(false);
            let process = Arc::new(FakeProcess { term, exit: watch::Sender::new(None), script: Mutex::default() });
            let child = Child::new(number, child_stdin, child_stdout, child_stderr, terms);
            let script = (self.engine.script)(child);
            let running = Arc::clone(&process);
            // Owned by the box, which aborts it at its end; the pipes are dropped with the script before it ends.
            let task = tokio::spawn(async move {
                let report = script.await;
                running.end(report);
            });
            *process.script.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
            *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&process));
            let (stdin, stdout, stderr) = (Box::pin(stdin), Box::pin(stdout), Box::pin(stderr));
            Ok(BoxProcess { stdin, stdout, stderr, channel: None, handle: process })
        })
    }

    fn signal_all(&self, signal: i32) -> Result<(), BoxError> {
        match &*self.process.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(process) => process.signal(signal),
            None => Ok(()),
        }
    }

    fn destroy(&self) -> EngineFuture<'_, Result<(), BoxError>> {
        self.end();
        Box::pin(async { Ok(()) })
    }
}

struct FakeProcess {
    term: watch::Sender<bool>,
    exit: watch::Sender<Option<ExitReport>>,
    script: Mutex<Option<AbortHandle>>,
}

impl FakeProcess {
    fn end(&self, report: ExitReport) {
        self.exit.send_if_modified(|exit| {
            let first = exit.is_none();
            exit.get_or_insert(report);
            first
        });
        if let Some(script) = self.script.lock().unwrap_or_else(PoisonError::into_inner).take() {
            script.abort();
        }
    }
}

impl ProcessHandle for FakeProcess {
    fn signal(&self, signal: i32) -> Result<(), BoxError> {
        if signal == SIGTERM {
            self.term.send_replace(true);
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
