//! What a box looks like from inside, told by a program that runs in it and tries what must not work.

use crate::failure::Failure;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// One promise of a box, tried from inside.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Promise {
    /// What is promised.
    pub(crate) name: String,
    /// Whether it holds.
    pub(crate) held: bool,
    /// What was seen.
    pub(crate) seen: String,
}

/// Tries every promise and prints the outcome as JSON.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    let promises = [
        expect(
            "not root inside",
            rustix::process::geteuid().as_raw() != 0,
            format!("uid {}", rustix::process::geteuid().as_raw()),
        ),
        status("no capabilities", "CapBnd", "0000000000000000"),
        status("no new privileges", "NoNewPrivs", "1"),
        status("seccomp filter", "Seccomp", "2"),
        only_own_processes(),
        no_network(),
        hidden("passwords hidden", "/etc/shadow"),
        hidden("engine socket hidden", "/var/run/docker.sock"),
        refused("system read-only", fs::write("/usr/kennel-was-here", b"")),
        refused("mounting refused", mount()),
        refused("new namespaces refused", new_namespace()),
    ];
    let text = serde_json::to_string(&promises)
        .map_err(|error| Failure::System { what: "writing the outcome", source: error.into() })?;
    crate::screen::print_json_text(&format!("{text}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn expect(name: &str, held: bool, seen: String) -> Promise {
    Promise { name: name.to_owned(), held, seen }
}

fn status(name: &str, key: &str, wanted: &str) -> Promise {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).unwrap_or("missing").trim();
    expect(name, value == wanted, format!("{key} {value}"))
}

/// The init and this program are all there is.
fn only_own_processes() -> Promise {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let count = entries.filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok()).count();
    expect("alone in its processes", (1..=2).contains(&count), format!("{count} processes"))
}

fn no_network() -> Promise {
    let text = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let names =
        text.lines().skip(2).filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect::<Vec<_>>();
    expect("no network but loopback", names.iter().all(|name| *name == "lo"), names.join(", "))
}

fn hidden(name: &str, path: &str) -> Promise {
    let seen = fs::symlink_metadata(path);
    expect(name, seen.is_err(), seen.map_or_else(|error| error.to_string(), |_| format!("{path} is there")))
}

fn refused(name: &str, outcome: std::io::Result<()>) -> Promise {
    let held = outcome.is_err();
    expect(name, held, outcome.map_or_else(|error| error.to_string(), |()| "it worked".to_owned()))
}

fn mount() -> std::io::Result<()> {
    rustix::mount::mount("none", Path::new("/tmp"), "tmpfs", rustix::mount::MountFlags::empty(), None)?;
    Ok(())
}

/// Starts a program that asks for a new user namespace, as a call from here would need `unsafe`.
fn new_namespace() -> std::io::Result<()> {
    let status = std::process::Command::new("/usr/bin/unshare")
        .args(["--user", "true"])
        .stderr(std::process::Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(Errno::PERM.into()) }
}
