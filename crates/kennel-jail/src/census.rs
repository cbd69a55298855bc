//! Who lives in the box and what they use, read from `/proc`, where no cgroup keeps count.

use crate::sys;
use rustix::process::{Pid, WaitOptions};
use std::fs;

/// Whether the processes of the box hold more memory together than they may; what they share with files is not counted.
///
/// What they share with each other is divided among them, which takes the kernel long to find out: that is done only
/// when they would be over the limit if each counted for itself.
pub(crate) fn exceeds(limit: u64) -> bool {
    let sum = |file: &str, keys: [&str; 2]| {
        members().into_iter().map(|pid| kibibytes(&format!("/proc/{pid}/{file}"), keys)).sum::<u64>() << 10
    };
    sum("status", ["RssAnon:", "RssShmem:"]) > limit && sum("smaps_rollup", ["Pss_Anon:", "Pss_Shmem:"]) > limit
}

/// The sum of two lines of a file about a process that may have ended.
fn kibibytes(path: &str, keys: [&str; 2]) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    text.lines().filter(|line| keys.iter().any(|key| line.starts_with(key))).filter_map(value).sum()
}

/// How many threads there are, the init's not counted.
pub(crate) fn threads() -> usize {
    let tasks = |pid: i32| fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    members().into_iter().map(tasks).sum()
}

/// Sends a signal to every process of the box but its init.
pub(crate) fn signal_all(signal: i32) {
    if rustix::process::getpid().is_init() {
        // There may be nobody left to be signalled.
        let _ = sys::signal_all(signal);
        return;
    }
    for pid in members().into_iter().filter_map(Pid::from_raw) {
        // It may have ended since.
        let _ = sys::signal_one(pid, signal);
    }
}

/// Every process of the box but its init, which is the caller: those of its namespace, or its descendants.
fn members() -> Vec<i32> {
    let own = rustix::process::getpid();
    if own.is_init() {
        return processes().filter(|&pid| pid != 1).collect();
    }
    let parents = processes().filter_map(|pid| Some((pid, parent(pid)?))).collect::<Vec<_>>();
    let mut found = vec![own.as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&ancestor) = found.get(next) {
        found.extend(parents.iter().filter(|(_, parent)| *parent == ancestor).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// Ends the box: the calling process, which is its init, and with it all others.
///
/// With a PID namespace the kernel does that. Without, the init is the reaper of them all and ends when none is left.
pub(crate) fn end_box() -> ! {
    if !rustix::process::getpid().is_init() {
        signal_all(libc::SIGKILL);
        // An error says that there is no child left; each death may bring grandchildren to be ended next.
        while rustix::process::wait(WaitOptions::empty()).is_ok() {
            signal_all(libc::SIGKILL);
        }
    }
    sys::exit_now(0)
}

fn processes() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
