//! The processes of the host, as `/proc` shows them.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// A process of the host.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// Its arguments, each ended by a blank.
    pub(crate) line: String,
    program: String,
    /// It has ended, and waits only for somebody to take note.
    is_zombie: bool,
}

/// The living processes whose command line or program contains the mark, this one not counted.
pub(crate) fn processes_with(mark: &str) -> Vec<Process> {
    // The helper and the inits have Kennel's program, but not its path on their command line.
    let marked = |process: &Process| process.line.contains(mark) || process.program.contains(mark);
    processes().filter(|process| !process.is_zombie && marked(process)).collect()
}

/// The children of a process.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    processes().filter(|process| process.parent == parent).map(|process| process.pid).collect()
}

/// All but this one.
fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|pid| *pid != std::process::id()).filter_map(process)
}

fn process(pid: u32) -> Option<Process> {
    // First of all: a process that ends meanwhile loses these, and then its state says so.
    let line = proc_text(pid, "cmdline").replace('\0', " ");
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default().to_string_lossy().into_owned();
    let stat = stat(pid)?;
    let parent = stat.get(1)?.parse().ok()?;
    Some(Process { pid, parent, line, program, is_zombie: stat[0] == "Z" })
}

/// The start of a process, in the kernel's ticks, while it lives.
pub(crate) fn start_of(pid: u32) -> Option<String> {
    let stat = stat(pid)?;
    if stat[0] == "Z" { None } else { stat.get(19).cloned() }
}

/// The fields of `/proc/PID/stat` from the state on; those before it may contain anything.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = proc_text(pid, "stat");
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// A file of `/proc/PID`, empty where the process is gone.
pub(crate) fn proc_text(pid: u32, file: &str) -> String {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sends a signal; false where the process is gone.
pub(crate) fn signal(pid: u32, signal: Signal) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, signal).is_ok()
}

/// A fraction of a second that no other test has: added to the seconds of a `sleep` it changes nothing, and marks the
/// process by its command line.
pub(crate) fn unique_mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(".{:07}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
