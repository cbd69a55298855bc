//! Other processes, as `/proc` shows them.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io;
use std::time::Duration;

/// A process, told from a later one with the same number by its start.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: u32,
    parent: u32,
    started: String,
    /// The name of its program, cut at 15 bytes.
    pub(crate) name: String,
}

/// What a process occupies, in KiB.
#[derive(Clone, Copy, Default)]
pub(crate) struct Memory {
    /// All of it that is in memory.
    pub(crate) resident: f64,
    /// The same, but its part of what it shares with others.
    pub(crate) proportional: f64,
}

/// All living processes.
fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| look(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn look(id: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (head, tail) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    let (parent, started) = (fields.get(1)?.parse().ok()?, (*fields.get(19)?).to_owned());
    Some(Process { id, parent, started, name: name.to_owned() })
}

impl Process {
    /// Whether it has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        look(self.id).is_some_and(|now| now.started == self.started)
    }

    /// Ends it, if it still is there.
    pub(crate) fn kill(&self) {
        if self.is_alive() {
            kill(self.id);
        }
    }
}

/// All processes below that one.
pub(crate) fn descendants(of: u32) -> Vec<Process> {
    let all = all();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        let children: Vec<_> = all.iter().filter(|process| process.parent == parent).cloned().collect();
        parents.extend(children.iter().map(|process| process.id));
        found.extend(children);
    }
    found
}

/// All processes with that text on their command line.
pub(crate) fn with_argument(text: &str) -> Vec<Process> {
    let has = |process: &Process| {
        let line = fs::read(format!("/proc/{}/cmdline", process.id)).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == text.as_bytes())
    };
    all().into_iter().filter(has).collect()
}

/// Ends a process at once.
pub(crate) fn kill(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(id, Signal::KILL);
    }
}

/// The time that the threads of a process have had a processor.
pub(crate) fn processor_time(id: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let nanos = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

/// What a process occupies now.
pub(crate) fn memory(id: u32) -> io::Result<Memory> {
    let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup"))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.ok_or_else(|| io::Error::other(format!("/proc/{id}/smaps_rollup does not say `{name}`")))
    };
    Ok(Memory { resident: field("Rss:")?, proportional: field("Pss:")? })
}
