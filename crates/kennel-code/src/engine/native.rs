//! `CPython` in a native box: the box's plan, and the way from a new box to an interpreter that is ready.

use super::error::StartError;
use super::python::Python;
use super::{CodeEngine, Interpreter};
use crate::channel::{Channel, ChannelError, ChannelLimits, Token};
use kennel_box::{
    AccessMode, BoxPlan, BoxProcess, BoxSpec, CHANNEL, Command, Engine, EngineFuture, HostView, MountRules, MountSpec,
    Network, Own, ScratchSpec, Size,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

/// Where code keeps its files.
pub const WORKSPACE: &str = "/workspace";

/// What an interpreter may use, and how long it may take to start.
#[derive(Debug, Clone, PartialEq)]
pub struct NativePythonSettings {
    /// The Python to run, instead of the first on `PATH` that will do.
    pub python: Option<PathBuf>,
    /// Paths that code sees, read-only.
    pub read: Vec<PathBuf>,
    /// What is Kennel's own, and not among them.
    pub own: Vec<Own>,
    /// Memory of the box, with all that its files hold.
    pub memory: Size,
    /// Processors of the box.
    pub cpus: f64,
    /// Processes and threads of the box.
    pub pids: u32,
    /// What `/tmp`, `/var/tmp` and the home directory may hold, each.
    pub tmp_size: Size,
    /// What `/workspace` may hold.
    pub workspace_size: Size,
    /// How long an interpreter may take until it is ready.
    pub ready_within: Duration,
    /// How much of the end of its standard error is told when it does not get ready, in bytes.
    pub error_tail: usize,
    /// What its channel takes.
    pub channel: ChannelLimits,
}

impl Default for NativePythonSettings {
    fn default() -> Self {
        Self {
            python: None,
            read: Vec::new(),
            own: Vec::new(),
            memory: Size::mebibytes(512),
            cpus: 1.0,
            pids: 128,
            tmp_size: Size::mebibytes(64),
            workspace_size: Size::mebibytes(128),
            ready_within: Duration::from_secs(30),
            error_tail: 2000,
            channel: ChannelLimits::default(),
        }
    }
}

/// The Python side: what is executed in the process.
#[derive(Debug, Clone)]
pub struct Source {
    /// Given on the command line: reads the rest from standard input to its end and executes it.
    pub boot: Arc<str>,
    /// The rest.
    pub runtime: Arc<str>,
}

/// Starts `CPython` in boxes of the native engine.
pub struct NativePython {
    engine: Arc<dyn Engine>,
    python: Python,
    plan: BoxPlan,
    source: Source,
    settings: NativePythonSettings,
}

impl NativePython {
    /// Finds a Python and plans its boxes.
    pub async fn new(
        engine: Arc<dyn Engine>,
        source: Source,
        host: &HostView,
        settings: NativePythonSettings,
    ) -> Result<Self, StartError> {
        let python = Python::find(settings.python.as_deref(), host).await?;
        let plan = plan(engine.as_ref(), &python, host, &settings)?;
        Ok(Self { engine, python, plan, source, settings })
    }

    async fn start_one(&self) -> Result<Interpreter, StartError> {
        let running = self.engine.create(&self.plan).await?;
        let command = Command {
            program: self.python.program().into(),
            args: ["-I", "-B", "-X", "utf8", "-c", &self.source.boot, &CHANNEL.to_string()].map(Into::into).to_vec(),
            channel: true,
            ..Command::default()
        };
        let BoxProcess { mut stdin, stdout, mut stderr, channel, handle } = running.start(&command).await?;
        let runtime = self.source.runtime.as_bytes();
        let mut meet = Box::pin(async {
            let end = channel.ok_or_else(|| "the engine gives it no channel".to_owned())?;
            let mut channel = Channel::new(end, self.settings.channel).map_err(|error| error.to_string())?;
            let token = Token::random().map_err(|error| error.to_string())?;
            channel.known.admit(token);
            // One that ends at once does not read all; how it ends says more than that.
            let _ = stdin.write_all(runtime).await;
            drop(stdin);
            let python = greet(&mut channel, token).await.map_err(|error| error.to_string())?;
            Ok((channel, token, python))
        });
        let failed = tokio::select! {
            biased;
            outcome = &mut meet => match outcome {
                Ok((channel, token, python)) => {
                    let process = handle;
                    return Ok(Interpreter { channel, token, stdout, stderr, process, running, python });
                }
                // A channel that closes is the first sign of a process that ends.
                Err(problem) => match tokio::time::timeout(LAST_SIGNS, handle.wait()).await {
                    Ok(report) => Failed::Ended(report),
                    Err(_) => Failed::Unreachable(problem),
                },
            },
            report = handle.wait() => Failed::Ended(report),
            () = tokio::time::sleep(self.settings.ready_within) => Failed::NotReady,
        };
        drop(meet);
        // The error is told in any case; an engine that cannot end the box is asked again by dropping it.
        let _ = running.destroy().await;
        let stderr = tail(&mut stderr, self.settings.error_tail).await;
        Err(match failed {
            Failed::Ended(report) => StartError::Ended { report, stderr },
            Failed::NotReady => StartError::NotReady { budget: self.settings.ready_within, stderr },
            Failed::Unreachable(problem) => StartError::Unreachable { problem, stderr },
        })
    }
}

/// How long the end of a process may take to follow that of its channel.
const LAST_SIGNS: Duration = Duration::from_secs(2);

/// Why an interpreter did not get ready.
enum Failed {
    Ended(kennel_box::ExitReport),
    NotReady,
    Unreachable(String),
}

impl CodeEngine for NativePython {
    fn start(&self) -> EngineFuture<'_, Result<Interpreter, StartError>> {
        Box::pin(self.start_one())
    }

    fn describe(&self) -> String {
        format!("{} in a native box", self.python)
    }
}

/// What the boxes of interpreters are.
fn plan(
    engine: &dyn Engine,
    python: &Python,
    host: &HostView,
    settings: &NativePythonSettings,
) -> Result<BoxPlan, StartError> {
    let directory = python.program().parent().map(|directory| directory.display().to_string()).unwrap_or_default();
    let spec = BoxSpec {
        engine: engine.kind(),
        network: Some(Network::Off),
        mounts: python.mounts().into_iter().chain(settings.read.iter().map(|path| granted(path))).collect(),
        workdir: Some(WORKSPACE.into()),
        env: BTreeMap::from([("PATH".to_owned(), format!("{directory}:/usr/local/bin:/usr/bin:/bin"))]),
        cpus: Some(settings.cpus),
        memory: Some(settings.memory),
        pids: Some(settings.pids),
        tmp_size: Some(settings.tmp_size),
        scratch: vec![ScratchSpec { path: WORKSPACE.into(), size: settings.workspace_size }],
        ..BoxSpec::default()
    };
    // Nothing of the user's own programs: code sees one Python and the base system.
    let bare = HostView { path: "/usr/bin".into(), ..host.clone() };
    let own = settings.own.clone();
    let rules = MountRules::for_user(&host.home).protecting(move || own);
    Ok(spec.plan(&bare, &rules, &[])?)
}

fn granted(path: &Path) -> MountSpec {
    MountSpec { host_path: path.to_owned(), mount_path: None, mode: AccessMode::ReadOnly }
}

#[derive(Deserialize)]
struct Ready {
    t: String,
    #[serde(default)]
    python: String,
}

/// Says hello and waits for the answer; returns the version.
async fn greet(channel: &mut Channel, token: Token) -> Result<String, ChannelError> {
    let hello = serde_json::json!({
        "t": "hello", "paths": {"workspace": WORKSPACE}, "version": env!("CARGO_PKG_VERSION"),
    });
    channel.sender.send(token, hello.to_string().as_bytes()).await?;
    loop {
        let message = channel.receiver.next().await?;
        match serde_json::from_slice::<Ready>(&message.body) {
            Ok(ready) if ready.t == "ready" => return Ok(ready.python),
            // Nothing else is of use before.
            _ => {}
        }
    }
}

/// The end of what a process has written, once it has ended: a pipe holds no more than this.
async fn tail(stream: &mut Pin<Box<dyn AsyncRead + Send>>, limit: usize) -> String {
    let mut written = Vec::new();
    let mut stream = stream.take(1 << 20);
    // What cannot be read is not told.
    let _ = tokio::time::timeout(LAST_SIGNS, stream.read_to_end(&mut written)).await;
    let start = written.len().saturating_sub(limit);
    String::from_utf8_lossy(written.get(start..).unwrap_or_default()).trim().to_owned()
}
