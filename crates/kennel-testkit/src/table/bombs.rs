//! Attempts to take more of the machine than the box's limits allow.
//!
//! A bomb escapes if it reaches the amount it asks for; its report says how far it came.

use crate::attempt::Argument::{Amount, CpuAllowance, WritableDirectory};
use crate::attempt::Attempt;

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("fork_bomb", "holds that many child processes at once").needs(&[Amount]),
    Attempt::new("thread_bomb", "holds that many threads at once").needs(&[Amount]),
    Attempt::new("memory_bomb", "holds that many MiB of touched memory").needs(&[Amount]),
    Attempt::new(
        "shared_memory_bomb",
        "holds that many MiB in memory that belongs to no process, but to a memory file",
    )
    .needs(&[Amount]),
    Attempt::new("descriptor_bomb", "holds that many open descriptors").needs(&[Amount]),
    Attempt::new("inotify_bomb", "holds that many inotify instances, which the kernel counts per user")
        .needs(&[Amount]),
    Attempt::new("terminal_bomb", "holds that many pseudo terminals, of which the machine has few").needs(&[Amount]),
    Attempt::new("pending_signal_bomb", "leaves that many signals pending, which the kernel counts per user")
        .needs(&[Amount]),
    Attempt::new("message_queue_bomb", "holds that many POSIX message queues, whose bytes the kernel counts per user")
        .needs(&[Amount]),
    Attempt::new("disk_bomb", "holds that many MiB in a file").needs(&[WritableDirectory, Amount]),
    Attempt::new("cpu_bomb", "burns for that many milliseconds in two threads to get more CPU than allowed")
        .needs(&[Amount, CpuAllowance]),
    Attempt::new("core_dump", "leaves a core dump").needs(&[WritableDirectory]),
];
