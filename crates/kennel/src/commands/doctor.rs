//! `kennel doctor`: what this machine offers to boxes, and whether a real one was isolated.

use crate::cli::Doctor;
use crate::commands::self_check::Promise;
use crate::failure::Failure;
use crate::machine::{self, Check, Status};
use crate::screen::{print, print_json};
use kennel_box::{BoxError, BoxSpec, Command, Engine, EngineKind, HostView, MountRules, NativeEngine, Walls};
use kennel_code::engine::{CodeEngine, NativePython, NativePythonSettings, Source, StartError};
use kennel_jail::{Access, FileIdentity, Grant, Helper, Hold, JailError};
use serde::Serialize;
use std::os::unix::fs::MetadataExt;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::io::AsyncReadExt;

/// Where the probe finds this program in its box.
const PROBE_PROGRAM: &str = "/opt/kennel-probe";

#[derive(Serialize)]
struct Findings {
    healthy: bool,
    checks: Vec<Check>,
    walls: Option<Walls>,
}

/// Examines the machine and prints what was found.
pub(crate) fn run(flags: &Doctor) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Failure::System { what: "starting the event loop", source })?;
    let mut checks = machine::examine();
    let probe = runtime.block_on(probe());
    let walls = probe.as_ref().ok().map(|(walls, _)| walls.clone());
    checks.extend(limits(walls.as_ref()));
    let explained = checks.iter().any(|check| check.status == Status::Fail);
    checks.push(isolation(&probe, explained));
    if probe.is_ok() {
        checks.push(runtime.block_on(code()));
        // What could have kept boxes from being made did not.
        checks.iter_mut().filter(|check| check.status == Status::Info).for_each(|check| check.fix = None);
    }
    let healthy = checks.iter().all(|check| check.status != Status::Fail);
    let findings = Findings { healthy, checks, walls };
    if flags.json {
        print_json(&findings)?;
    } else {
        print(&shown(&findings))?;
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes a real box and lets this program look around in it.
async fn probe() -> Result<(Walls, Vec<Promise>), BoxError> {
    let host = HostView::current();
    let mut plan = BoxSpec::default().plan(&host, &MountRules::for_user(&host.home), &[])?;
    plan.grants.push(own_program().map_err(JailError::from)?);
    let engine = NativeEngine::new(EngineKind::Native, Helper::own_program());
    let made = engine.create(&plan).await?;
    let command = Command { program: PROBE_PROGRAM.into(), args: vec!["self-check".into()], ..Command::default() };
    let mut process = made.start(&command).await?;
    let mut text = String::new();
    // What cannot be read or parsed shows as a probe that kept no promise.
    let _ = process.stdout.read_to_string(&mut text).await;
    let promises = serde_json::from_str(&text).unwrap_or_default();
    let walls = made.walls().clone();
    made.destroy().await?;
    Ok((walls, promises))
}

/// Starts a real interpreter, as code mode would.
async fn code() -> Check {
    let name = "code mode";
    let boxes = Arc::new(NativeEngine::new(EngineKind::Native, Helper::own_program()));
    let settings = NativePythonSettings::default();
    let started = async {
        let engine = NativePython::new(boxes, Source::embedded(), &HostView::current(), settings).await?;
        let interpreter = engine.start().await?;
        // It is of no more use, and ends with its last handle where this fails.
        let _ = interpreter.running.destroy().await;
        Ok::<_, StartError>(engine.describe())
    };
    match started.await {
        Ok(described) => Check::new(name, Status::Ok, described),
        Err(error) => Check::new(name, Status::Weak, error.to_string())
            .fix("install Python 3.9 to 3.14, or name it in the file: [code] python = \"…\""),
    }
}

/// This program as a grant. The rules are for what others ask for; this is Kennel's own, wherever it is installed.
fn own_program() -> std::io::Result<Grant> {
    let source = std::fs::canonicalize(Helper::own_program())?;
    let metadata = std::fs::metadata(&source)?;
    let identity = FileIdentity { device: metadata.dev(), inode: metadata.ino() };
    Ok(Grant { source, identity, target: PROBE_PROGRAM.into(), access: Access::ReadOnly, as_owner: true })
}

fn limits(walls: Option<&Walls>) -> Vec<Check> {
    let Some(walls) = walls else { return Vec::new() };
    [("memory limit", walls.memory), ("process limit", walls.pids), ("processor limit", walls.cpu)]
        .into_iter()
        .map(|(name, hold)| match hold {
            Hold::CgroupV1 | Hold::CgroupV2 => Check::new(name, Status::Ok, hold.to_string()),
            _ => Check::new(name, Status::Weak, hold.to_string()).fix(
                "delegate cgroups to get the real limit: systemd-run --user --scope -p Delegate=yes kennel …, or run as root",
            ),
        })
        .collect()
}

/// `explained`: whether a check before this one has failed, which then is the cause.
fn isolation(probe: &Result<(Walls, Vec<Promise>), BoxError>, explained: bool) -> Check {
    let name = "probe box";
    match probe {
        Err(error) => {
            let hint = match error {
                BoxError::Jail(error) if !explained => error.hint(),
                _ => None,
            };
            Check::new(name, Status::Fail, error.to_string()).fix(hint.unwrap_or("see the lines above"))
        }
        Ok((_, promises)) => {
            let broken = promises.iter().filter(|promise| !promise.held);
            let broken = broken.map(|promise| format!("{} ({})", promise.name, promise.seen)).collect::<Vec<_>>();
            if promises.is_empty() {
                Check::new(name, Status::Fail, "made, but the program in it said nothing".into())
                    .fix("report this with the output of --json")
            } else if broken.is_empty() {
                Check::new(
                    name,
                    Status::Ok,
                    format!("isolated: {} promises tried from inside, all held", promises.len()),
                )
            } else {
                Check::new(name, Status::Fail, format!("not isolated: {}", broken.join("; ")))
                    .fix("do not run untrusted programs here; report this")
            }
        }
    }
}

fn shown(findings: &Findings) -> String {
    let mut lines = Vec::new();
    for check in &findings.checks {
        lines.push(format!("{:>5}  {:<17} {}", check.status.word(), check.name, check.detail));
        lines.extend(check.fix.iter().map(|fix| format!("{:25}fix: {fix}", "")));
    }
    let verdict =
        if findings.healthy { "Boxes can be made here." } else { "Boxes cannot be made here as they should." };
    lines.extend([String::new(), verdict.to_owned(), String::new()]);
    lines.join("\n")
}
