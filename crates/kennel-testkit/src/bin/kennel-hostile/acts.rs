//! Things that the program does to itself, so that a test sees how the box reports its end.

use std::fs;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use crate::contain::fork;
use crate::ipc;
use crate::namespaces::i386_getpid;

const MEBIBYTE: usize = 1 << 20;

pub(crate) fn run(words: &[String]) -> ExitCode {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        // Where nothing kills for it, the exit code is 0.
        ["forbidden_call"] => {
            i386_getpid();
            ExitCode::SUCCESS
        }
        ["hold_memory", amount] => hold_memory(amount),
        ["fork_forever"] => fork_forever(),
        ["share"] => ipc::share(),
        ["crash"] => std::process::abort(),
        _ => super::usage("acts: forbidden_call | hold_memory MIB | fork_forever | share | crash"),
    }
}

/// Touches so much memory, piece by piece as programs do, and keeps it for longer than any watchdog takes to look.
/// Where a piece is refused it aborts, as programs do as well.
fn hold_memory(amount: &str) -> ExitCode {
    let Ok(amount) = amount.parse::<usize>() else { return super::usage("hold_memory needs a number of MiB") };
    let held: Vec<Vec<u8>> = (0..amount).map(|_| std::hint::black_box(vec![1; MEBIBYTE])).collect();
    println!("holds {amount} MiB");
    thread::sleep(Duration::from_secs(3));
    drop(held);
    ExitCode::SUCCESS
}

/// A fork bomb that never tires. Only for a box, whose end is its end: without one it would take the machine.
fn fork_forever() -> ExitCode {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let boxed = ["Seccomp:\t2", "NoNewPrivs:\t1", "CapBnd:\t0000000000000000"];
    if !boxed.iter().all(|line| status.lines().any(|found| found == *line)) {
        return super::usage("fork_forever is only for a box");
    }
    loop {
        // At the limit it waits a little, and tries again as soon as another has made room.
        if fork(|| bomb_for(Duration::from_millis(200))).is_err() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Forks for a while and ends, so that there is always room for the next fork.
fn bomb_for(time: Duration) -> i32 {
    let start = Instant::now();
    while start.elapsed() < time {
        if fork(|| bomb_for(time)).is_err() {
            thread::sleep(Duration::from_millis(1));
        }
    }
    0
}
