//! A Python in a box with a channel, and the test's end of it.

use kennel_box::{
    BoxError, BoxProcess, BoxSpec, Command, Engine, EngineKind, ExitReport, HostView, MountRules, NativeEngine,
    RunningBox,
};
use std::future::Future;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// Long enough for any answer on any machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// What every script begins with.
const PRELUDE: &str = "
import array, errno, json, os, socket, sys
channel = socket.socket(fileno=1000)
def say(value): channel.sendmsg([json.dumps(value).encode()])
def hear(): return channel.recvmsg(65536)[0]
";

pub(crate) struct Scene {
    running: Place,
    process: BoxProcess,
    channel: OwnedFd,
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await });
    // A thread may still wait for a packet that never comes.
    runtime.shutdown_background();
    outcome.expect("it takes too long")
}

/// A box, and the engine that has made it, which ends all boxes with itself.
pub(crate) struct Place {
    running: Arc<dyn RunningBox>,
    _engine: NativeEngine,
}

impl Deref for Place {
    type Target = Arc<dyn RunningBox>;

    fn deref(&self) -> &Self::Target {
        &self.running
    }
}

pub(crate) async fn make(spec: &BoxSpec) -> Result<Place, BoxError> {
    let host = HostView { path: "/usr/bin:/bin".into(), cwd: "/".into(), ..HostView::current() };
    let plan = spec.plan(&host, &MountRules::for_user(&host.home), &[])?;
    let engine = NativeEngine::new(spec.engine, std::env::current_exe().unwrap());
    Ok(Place { running: engine.create(&plan).await?, _engine: engine })
}

pub(crate) fn python(script: &str, channel: bool) -> Command {
    let script = if channel { format!("{PRELUDE}{script}") } else { script.to_owned() };
    let args = ["-I", "-B", "-c", script.as_str()].map(Into::into).to_vec();
    Command { program: "python3".into(), args, channel, ..Command::default() }
}

/// Starts a script that has a channel in a box of the given kind.
pub(crate) async fn start(engine: EngineKind, script: &str) -> Scene {
    let running = make(&BoxSpec { engine, ..BoxSpec::default() }).await.unwrap();
    let mut process = running.start(&python(script, true)).await.unwrap();
    let channel = process.channel.take().unwrap();
    Scene { running, process, channel }
}

impl Scene {
    /// Waits for a packet on a thread of its own; nothing at the end.
    pub(crate) async fn hear(&self) -> Option<Vec<u8>> {
        Some(self.hear_from().await?.0)
    }

    /// The next packet and the number of the process that has sent it.
    pub(crate) async fn hear_from(&self) -> Option<(Vec<u8>, i32)> {
        let channel = self.channel.try_clone().unwrap();
        tokio::task::spawn_blocking(move || {
            let mut body = vec![0; 65536];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
            let mut ancillary = rustix::net::RecvAncillaryBuffer::new(&mut space);
            let mut parts = [IoSliceMut::new(&mut body)];
            let flags = rustix::net::RecvFlags::empty();
            let received = rustix::net::recvmsg(&channel, &mut parts, &mut ancillary, flags).unwrap();
            let sender = ancillary.drain().find_map(|part| match part {
                rustix::net::RecvAncillaryMessage::ScmCredentials(sender) => Some(sender.pid),
                _ => None,
            });
            body.truncate(received.bytes);
            Some((body, sender?.as_raw_nonzero().get()))
        })
        .await
        .unwrap()
    }

    pub(crate) fn say(&self, text: &str) {
        let flags = rustix::net::SendFlags::NOSIGNAL;
        let mut nothing = rustix::net::SendAncillaryBuffer::default();
        rustix::net::sendmsg(&self.channel, &[IoSlice::new(text.as_bytes())], &mut nothing, flags).unwrap();
    }

    /// Closes the test's end.
    pub(crate) fn hang_up(self) -> (Place, BoxProcess) {
        (self.running, self.process)
    }

    /// The next packet as JSON; what the script has written to its standard error where there is none.
    pub(crate) async fn json(&mut self) -> serde_json::Value {
        let Some(body) = self.hear().await else { panic!("no packet: {}", self.errors().await) };
        serde_json::from_slice(&body).unwrap()
    }

    async fn errors(&mut self) -> String {
        let mut text = String::new();
        let _ = self.process.stderr.read_to_string(&mut text).await;
        text
    }

    /// Waits for the end of the script, which must be a good one.
    pub(crate) async fn end(mut self) {
        let errors = self.errors().await;
        let report = self.process.handle.wait().await;
        assert!(report.success(), "{report}: {errors}");
        self.running.destroy().await.unwrap();
    }
}

/// Runs a script without a channel to its end.
pub(crate) async fn run(running: &Arc<dyn RunningBox>, script: &str) -> (ExitReport, String) {
    let mut process = running.start(&python(script, false)).await.unwrap();
    assert!(process.channel.is_none());
    drop(process.stdin);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    let _ = tokio::join!(process.stdout.read_to_string(&mut stdout), process.stderr.read_to_string(&mut stderr));
    (process.handle.wait().await, stdout + &stderr)
}
