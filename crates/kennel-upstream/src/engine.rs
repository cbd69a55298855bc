//! Boxes without walls in which nothing runs but conversations: what lets a server that runs elsewhere look like a process.

use crate::conversation::{Pipes, converse};
use crate::prepared::Prepared;
use crate::sync::lock;
use kennel_box::{
    BoxError, BoxPlan, BoxProcess, BoxSpec, Capabilities, Command, Engine, EngineFuture, EngineKind, ExitCause,
    ExitReport, ExitStatus, HostView, MountRules, ProcessHandle, RunningBox, Walls,
};
use kennel_jail::{Hold, Isolation};
use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use tokio::io::duplex;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

const PIPE_BYTES: usize = 64 * 1024;
const SIGTERM: i32 = 15;

/// There is nothing to keep in: no code of the server runs here.
const NO_WALLS: Walls = Walls {
    isolation: Isolation::None,
    memory: Hold::Nothing,
    pids: Hold::Nothing,
    cpu: Hold::Nothing,
    landlock: None,
};

/// Makes a conversation of each command, whose program is the name under which it was prepared.
#[derive(Clone, Default)]
pub(crate) struct UpstreamEngine(Arc<Mutex<HashMap<OsString, Prepared>>>);

/// A conversation that waits for its box; given up when this is dropped.
pub(crate) struct Waiting {
    engine: UpstreamEngine,
    name: OsString,
}

impl UpstreamEngine {
    /// Keeps what a command of this name needs until it is started.
    pub(crate) fn prepare(&self, name: OsString, prepared: Prepared) -> Waiting {
        lock(&self.0).insert(name.clone(), prepared);
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
pub(crate) fn plan() -> Result<BoxPlan, BoxError> {
    let host = HostView { home: "/nonexistent".into(), cwd: "/".into(), ..HostView::default() };
    let rules = MountRules::for_user(&host.home);
    BoxSpec { engine: EngineKind::Host, ..BoxSpec::default() }.plan(&host, &rules, &[])
}

impl Engine for UpstreamEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Host
    }

    fn probe(&self) -> EngineFuture<'_, Capabilities> {
        Box::pin(async {
            Capabilities { engine: EngineKind::Host, walls: Err("the server runs elsewhere".to_owned()) }
        })
    }

    fn create<'a>(&'a self, _plan: &'a BoxPlan) -> EngineFuture<'a, Result<Arc<dyn RunningBox>, BoxError>> {
        Box::pin(async {
            let made = UpstreamBox { engine: self.clone(), walls: NO_WALLS, process: Mutex::default() };
            Ok(Arc::new(made) as Arc<dyn RunningBox>)
        })
    }

    fn end_leftovers(&self) -> EngineFuture<'_, Result<usize, BoxError>> {
        Box::pin(async { Ok(0) })
    }
}

struct UpstreamBox {
    engine: UpstreamEngine,
    walls: Walls,
    process: Mutex<Option<Arc<UpstreamProcess>>>,
}

impl UpstreamBox {
    fn end(&self) {
        let process = lock(&self.process).take();
        if let Some(process) = process {
            process.end(ExitReport::BOX_ENDED);
        }
    }
}

impl Drop for UpstreamBox {
    fn drop(&mut self) {
        self.end();
    }
}

impl RunningBox for UpstreamBox {
    fn walls(&self) -> &Walls {
        &self.walls
    }

    fn start<'a>(&'a self, command: &'a Command) -> EngineFuture<'a, Result<BoxProcess, BoxError>> {
        Box::pin(async {
            let prepared = lock(&self.engine.0).remove(&command.program);
            let Some(prepared) = prepared else {
                let problem = "names no server that was made ready; start it again".to_owned();
                return Err(BoxError::Field { field: "command", problem });
            };
            let (stdin, inner_stdin) = duplex(PIPE_BYTES);
            let (stdout, inner_stdout) = duplex(PIPE_BYTES);
            let (stderr, inner_stderr) = duplex(PIPE_BYTES);
            let process = Arc::new(UpstreamProcess::default());
            let term = process.term.clone();
            let pipes = Pipes { stdin: inner_stdin, stdout: inner_stdout, stderr: inner_stderr, term };
            let running = Arc::clone(&process);
            // Owned by the box, which aborts it at its end.
            let task = tokio::spawn(async move {
                let code = converse(prepared, pipes).await;
                running.end(ExitReport { status: ExitStatus::Code(code), cause: ExitCause::Exited });
            });
            *lock(&process.task) = Some(task.abort_handle());
            *lock(&self.process) = Some(Arc::clone(&process));
            let (stdin, stdout, stderr) = (Box::pin(stdin), Box::pin(stdout), Box::pin(stderr));
            Ok(BoxProcess { stdin, stdout, stderr, handle: process })
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
struct UpstreamProcess {
    term: CancellationToken,
    exit: watch::Sender<Option<ExitReport>>,
    task: Mutex<Option<AbortHandle>>,
}

impl UpstreamProcess {
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

impl ProcessHandle for UpstreamProcess {
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
