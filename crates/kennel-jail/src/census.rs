//! Who lives in the box and what they use, read from `/proc`, where no cgroup keeps count.

use crate::sys;
use rustix::process::{Pid, WaitOptions};
use std::fs;

/// Bytes of memory that all processes hold for themselves; what they share with files is not counted.
pub(crate) fn memory() -> u64 {
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    let pages = |pid: i32| -> Option<u64> {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let mut fields = statm.split_whitespace().skip(1).filter_map(|field| field.parse::<u64>().ok());
        let (resident, shared) = (fields.next()?, fields.next()?);
        Some(resident.saturating_sub(shared))
    };
    members().into_iter().filter_map(pages).sum::<u64>() * page
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

/// Ends every process that descends from the caller, which is the reaper of them all, and returns when none is left.
pub(crate) fn end_descendants() {
    loop {
        signal_all(libc::SIGKILL);
        // An error says that there is no child left; each death may bring grandchildren to be ended next.
        if rustix::process::wait(WaitOptions::empty()).is_err() {
            return;
        }
    }
}

fn processes() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
