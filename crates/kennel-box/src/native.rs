//! The engines `native` and `host`: the jail's boxes, made to wait for with `await`.

use crate::engine::{BoxProcess, Capabilities, Command, Engine, EngineFuture, EngineKind, ProcessHandle, RunningBox};
use crate::environment::HostView;
use crate::error::BoxError;
use crate::mounts::MountRules;
use crate::plan::BoxPlan;
use crate::spec::BoxSpec;
use crate::waitable::Waitable;
use kennel_jail::{
    CHANNEL, Channel, ExitCause, ExitReport, Helper, Isolation, JailError, JailEvent, Leftovers, Remains, Stream, Walls,
};
use rustix::net::sockopt::set_socket_passcred;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::unix::pipe;
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

/// Makes boxes with the jail's helper, which it starts when the first one is wanted.
#[derive(Debug)]
pub struct NativeEngine {
    kind: EngineKind,
    program: PathBuf,
    helpers: Mutex<Vec<(Isolation, Arc<Helper>)>>,
}

impl NativeEngine {
    /// An engine whose helper is the given program, which must begin with [`kennel_jail::run_if_helper`].
    #[must_use]
    pub fn new(kind: EngineKind, program: PathBuf) -> Self {
        Self { kind, program, helpers: Mutex::new(Vec::new()) }
    }

    fn isolation(&self) -> Isolation {
        match self.kind {
            EngineKind::Native => Isolation::Full,
            EngineKind::Host => Isolation::None,
        }
    }

    fn helper(&self, isolation: Isolation) -> Result<Arc<Helper>, BoxError> {
        let mut helpers = lock(&self.helpers);
        if let Some((_, helper)) = helpers.iter().find(|(kind, _)| *kind == isolation) {
            return Ok(Arc::clone(helper));
        }
        let helper = Arc::new(Helper::start(&self.program, isolation)?);
        helpers.push((isolation, Arc::clone(&helper)));
        Ok(helper)
    }

    async fn create_box(&self, plan: &BoxPlan) -> Result<Arc<dyn RunningBox>, BoxError> {
        let mut outcome = Err(BoxError::from(JailError::BoxEnded));
        for isolation in plan.isolations() {
            plan.check_isolation(*isolation)?;
            outcome = self.create_with(plan, *isolation).await;
            if !matches!(&outcome, Err(BoxError::Jail(error)) if error.lacks_namespaces()) {
                break;
            }
        }
        outcome
    }

    async fn create_with(&self, plan: &BoxPlan, isolation: Isolation) -> Result<Arc<dyn RunningBox>, BoxError> {
        let spec = plan.jail_spec();
        let mut jail = self.helper(isolation)?.create(&spec);
        if matches!(jail, Err(JailError::HelperGone)) {
            // Somebody killed the helper; the boxes it made live on, and a new one makes the next.
            lock(&self.helpers).retain(|(kind, _)| *kind != isolation);
            jail = self.helper(isolation)?.create(&spec);
        }
        let jail = jail?;
        let channel = Arc::new(Waitable::new(jail.channel)?);
        let remains = Waitable::new(jail.remains)?;
        let JailEvent::Ready(walls) = channel.receive().await? else { return Err(JailError::BoxEnded.into()) };
        let processes = Arc::new(Mutex::new(Processes::default()));
        let (burial, gone) = watch::channel(false);
        let listener = listen(Arc::clone(&channel), remains, Arc::clone(&processes), burial);
        let listener = tokio::spawn(listener).abort_handle();
        let line = Arc::new(Lifeline { channel, listener });
        Ok(Arc::new(NativeBox { line, walls, processes, gone, plan: plan.clone() }))
    }
}

impl Engine for NativeEngine {
    fn kind(&self) -> EngineKind {
        self.kind
    }

    fn probe(&self) -> EngineFuture<'_, Capabilities> {
        Box::pin(async {
            let spec = BoxSpec { engine: self.kind, ..BoxSpec::default() };
            let host = HostView::default();
            let walls = match spec.plan(&host, &MountRules::for_user(&host.home), &[]) {
                Ok(plan) => self.create_box(&plan).await.map(|made| made.walls().clone()),
                Err(error) => Err(error),
            };
            Capabilities { engine: self.kind, walls: walls.map_err(|error| error.to_string()) }
        })
    }

    fn create<'a>(&'a self, plan: &'a BoxPlan) -> EngineFuture<'a, Result<Arc<dyn RunningBox>, BoxError>> {
        Box::pin(self.create_box(plan))
    }

    fn end_leftovers(&self) -> EngineFuture<'_, Result<usize, BoxError>> {
        Box::pin(async {
            let reply = Waitable::new(self.helper(self.isolation())?.end_leftovers()?)?;
            Ok(reply.read(Leftovers::count).await?)
        })
    }
}

type Line = Arc<Waitable<Channel>>;

/// The hold on a box: when the last one goes, so does the box.
struct Lifeline {
    channel: Line,
    listener: AbortHandle,
}

impl Lifeline {
    fn cut(&self) {
        // Shut rather than dropped: the listener and parked calls hold the descriptor too. Fails only if it is shut already.
        let _ = rustix::net::shutdown(self.channel.get_ref(), rustix::net::Shutdown::Both);
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        self.cut();
        self.listener.abort();
    }
}

struct NativeBox {
    line: Arc<Lifeline>,
    walls: Walls,
    processes: Arc<Mutex<Processes>>,
    /// Turns true when nothing of the box is left.
    gone: watch::Receiver<bool>,
    plan: BoxPlan,
}

/// What the pipes for messages hold. The kernel lets a user have some hundred of this size.
const PIPE_BYTES: usize = 256 * 1024;

/// The channel has its number, and what prepares the process takes the one above.
const LEAST_FOR_CHANNEL: u64 = CHANNEL as u64 + 1;

#[derive(Default)]
struct Processes {
    next: u32,
    starting: HashMap<u32, oneshot::Sender<Result<(), JailError>>>,
    running: HashMap<u32, watch::Sender<Option<ExitReport>>>,
    ended: bool,
}

impl NativeBox {
    async fn start_process(&self, command: &Command) -> Result<BoxProcess, BoxError> {
        if command.channel && self.walls.open_files <= LEAST_FOR_CHANNEL {
            let (most, asked) = (self.walls.open_files, self.plan.limits.open_files);
            let cure = if most < asked { "raise the hard limit, `ulimit -Hn`" } else { "raise it" };
            let problem =
                format!("is {most}, but a process with a channel needs more than {LEAST_FOR_CHANNEL}; {cure}");
            return Err(BoxError::field("fds", problem));
        }
        let (their_stdin, stdin) = pipe_with(PipeFlags::CLOEXEC).map_err(io)?;
        let (stdout, their_stdout) = pipe_with(PipeFlags::CLOEXEC).map_err(io)?;
        let (stderr, their_stderr) = pipe_with(PipeFlags::CLOEXEC).map_err(io)?;
        for pipe in [&stdin, &stdout] {
            // A large message then takes few turns. Where the user has too many such pipes, the kernel says no.
            let _ = fcntl_setpipe_size(pipe, PIPE_BYTES);
        }
        let (started, starting) = oneshot::channel();
        let (exit, report) = watch::channel(None);
        let process = {
            let mut processes = lock(&self.processes);
            if processes.ended {
                return Err(JailError::BoxEnded.into());
            }
            processes.next += 1;
            let process = processes.next;
            processes.starting.insert(process, started);
            processes.running.insert(process, exit);
            process
        };
        let (channel, their_channel) = if command.channel { Some(channel_pair()?) } else { None }.unzip();
        let streams = [&their_stdin, &their_stdout, &their_stderr].map(|end| Stream::Descriptor(end.as_fd()));
        let (line, spec) = (self.line.channel.get_ref(), self.plan.process_spec(command));
        match &their_channel {
            Some(end) => line.start_with_channel(process, &spec, &streams, end.as_fd())?,
            None => line.start(process, &spec, &streams)?,
        }
        // The box has its own copies now; ours would keep the pipes from ever ending.
        drop((their_stdin, their_stdout, their_stderr, their_channel));
        starting.await.map_err(|_| JailError::BoxEnded)??;
        Ok(BoxProcess {
            stdin: Box::pin(pipe::Sender::from_owned_fd(stdin).map_err(JailError::from)?),
            stdout: receiver(stdout)?,
            stderr: receiver(stderr)?,
            channel,
            handle: Arc::new(NativeProcess { line: Arc::clone(&self.line), process, report }),
        })
    }
}

impl RunningBox for NativeBox {
    fn walls(&self) -> &Walls {
        &self.walls
    }

    fn start<'a>(&'a self, command: &'a Command) -> EngineFuture<'a, Result<BoxProcess, BoxError>> {
        Box::pin(self.start_process(command))
    }

    fn signal_all(&self, signal: i32) -> Result<(), BoxError> {
        Ok(self.line.channel.get_ref().signal(None, signal)?)
    }

    fn destroy(&self) -> EngineFuture<'_, Result<(), BoxError>> {
        Box::pin(async {
            self.line.cut();
            // An error would say that the listener is gone, and with it the box.
            let _ = self.gone.clone().wait_for(|gone| *gone).await;
            Ok(())
        })
    }
}

struct NativeProcess {
    line: Arc<Lifeline>,
    process: u32,
    report: watch::Receiver<Option<ExitReport>>,
}

impl ProcessHandle for NativeProcess {
    fn signal(&self, signal: i32) -> Result<(), BoxError> {
        match self.line.channel.get_ref().signal(Some(self.process), signal) {
            Err(JailError::BoxEnded) => Ok(()),
            other => Ok(other?),
        }
    }

    fn wait(&self) -> EngineFuture<'_, ExitReport> {
        let mut report = self.report.clone();
        Box::pin(async move {
            match report.wait_for(Option::is_some).await {
                Ok(report) => report.unwrap_or(ExitReport::BOX_ENDED),
                Err(_) => ExitReport::BOX_ENDED,
            }
        })
    }
}

/// Passes a box's events on until it ends, and waits for its burial.
async fn listen(
    channel: Line,
    remains: Waitable<Remains>,
    processes: Arc<Mutex<Processes>>,
    burial: watch::Sender<bool>,
) {
    while let Ok(event) = channel.receive().await {
        lock(&processes).note(event);
    }
    lock(&processes).close();
    // A helper that is gone cannot say that the box is, but its init has ended before the channel did.
    let starved = remains.read(Remains::wait).await.unwrap_or(false);
    lock(&processes).end(starved);
    burial.send_replace(true);
}

impl Processes {
    fn note(&mut self, event: JailEvent) {
        match event {
            JailEvent::Ready(_) => {}
            JailEvent::Started { process, .. } => {
                if let Some(started) = self.starting.remove(&process) {
                    // The caller may have given up; the process then runs until its box ends.
                    let _ = started.send(Ok(()));
                }
            }
            JailEvent::NotStarted { process, error } => {
                self.running.remove(&process);
                if let Some(started) = self.starting.remove(&process) {
                    let _ = started.send(Err(error));
                }
            }
            JailEvent::Exited { process, report } => {
                if let Some(exit) = self.running.remove(&process) {
                    exit.send_replace(Some(report));
                }
            }
        }
    }

    /// Lets no process be started any more.
    fn close(&mut self) {
        self.ended = true;
        self.starting.clear();
    }

    /// Reports the processes that went down with the box.
    fn end(&mut self, starved: bool) {
        let cause = if starved { ExitCause::OutOfMemory } else { ExitCause::BoxEnded };
        for (_, exit) in self.running.drain() {
            exit.send_replace(Some(ExitReport { cause, ..ExitReport::BOX_ENDED }));
        }
    }
}

fn receiver(end: OwnedFd) -> Result<Pin<Box<pipe::Receiver>>, BoxError> {
    Ok(Box::pin(pipe::Receiver::from_owned_fd(end).map_err(JailError::from)?))
}

/// Both ends of a process's channel, Kennel's first.
fn channel_pair() -> Result<(OwnedFd, OwnedFd), BoxError> {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).map_err(io)?;
    // Before anything is sent: a packet that was sent earlier would have no sender.
    set_socket_passcred(&ours, true).map_err(io)?;
    Ok((ours, theirs))
}

fn io(errno: rustix::io::Errno) -> BoxError {
    JailError::Channel(errno.into()).into()
}

/// A lock whose holder panicked still guards consistent data: nothing here is changed in two steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
