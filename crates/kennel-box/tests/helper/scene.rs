//! An engine of a test's own, its helper, and commands in its boxes.

use kennel_box::{BoxPlan, BoxSpec, Command, EngineKind, ExitReport, HostView, MountRules, NativeEngine, RunningBox};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::future::Future;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// Long enough for any answer on any machine.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await }).expect("it takes too long")
}

pub(crate) fn engine() -> NativeEngine {
    NativeEngine::new(EngineKind::Native, std::env::current_exe().unwrap())
}

pub(crate) fn plan(spec: &BoxSpec) -> BoxPlan {
    let host = HostView { path: "/usr/bin:/bin".into(), cwd: "/".into(), ..HostView::current() };
    spec.plan(&host, &MountRules::for_user(&host.home), &[]).unwrap()
}

/// Runs a script in a box to its end, and returns what it has printed.
pub(crate) async fn sh(running: &dyn RunningBox, script: &str) -> (ExitReport, String) {
    let command = Command { program: "bash".into(), args: vec!["-c".into(), script.into()], ..Command::default() };
    let mut process = running.start(&command).await.unwrap();
    drop(process.stdin);
    let mut text = String::new();
    process.stdout.read_to_string(&mut text).await.unwrap();
    (process.handle.wait().await, text)
}

/// The helpers of this process.
pub(crate) fn helpers() -> Vec<i32> {
    let own = std::process::id().to_string();
    let numbers = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_helper = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        fields.get(1) == Some(&own.as_str())
            && fields.first() != Some(&"Z")
            && String::from_utf8_lossy(&line).contains("__jail-helper")
    };
    numbers.filter(is_helper).collect()
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}
