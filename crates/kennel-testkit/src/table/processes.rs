//! Attempts on other processes, on the process's own privileges, its terminal and its descriptors.

use super::YAMA;
use crate::attempt::Argument::{MessageQueue, OutsidePid, PosixQueue, Semaphores, SetuidProgram, SharedMemory};
use crate::attempt::{Attempt, Setting, Sysctl};

const INIT_OF_ROOT: &str = "init belongs to root";
const NOT_ROOT: &str = "an ordinary user without capabilities cannot become another user or gain any";

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("trace_parent", "attaches ptrace to the parent").unless(YAMA),
    Attempt::new("trace_init", "attaches ptrace to process 1").setting(Setting::OwnInit).only_root(INIT_OF_ROOT),
    Attempt::new("trace_outside", "attaches ptrace to an outside process").needs(&[OutsidePid]).unless(YAMA),
    Attempt::new("vm_read_init", "process_vm_readv of process 1").setting(Setting::OwnInit).only_root(INIT_OF_ROOT),
    Attempt::new("vm_read_outside", "process_vm_readv of an outside process").needs(&[OutsidePid]).unless(YAMA),
    Attempt::new("probe_outside", "sends signal 0 to an outside process").needs(&[OutsidePid]),
    Attempt::new("terminate_outside", "sends SIGTERM to an outside process").needs(&[OutsidePid]),
    Attempt::new("limit_outside", "reads an outside process's limits by prlimit").needs(&[OutsidePid]),
    Attempt::new("change_limit_outside", "sets a limit of an outside process by prlimit").needs(&[OutsidePid]),
    Attempt::new("renice_outside", "sets the priority of an outside process").needs(&[OutsidePid]),
    Attempt::new("pin_outside", "pins an outside process to a processor").needs(&[OutsidePid]),
    Attempt::new("reschedule_outside", "sets the scheduling policy of an outside process").needs(&[OutsidePid]),
    Attempt::new("io_priority_outside", "sets the I/O priority of an outside process").needs(&[OutsidePid]),
    Attempt::new("attach_outside_memory", "writes to a System V memory segment of an outside process")
        .needs(&[SharedMemory]),
    Attempt::new("change_outside_semaphore", "sets a System V semaphore of an outside process").needs(&[Semaphores]),
    Attempt::new("take_outside_message", "takes a message from a System V queue of an outside process")
        .needs(&[MessageQueue]),
    Attempt::new("take_outside_posix_message", "takes a message from a POSIX queue of an outside process")
        .needs(&[PosixQueue]),
    Attempt::new("take_descriptor_of_init", "takes a descriptor of process 1 by pidfd_getfd")
        .setting(Setting::OwnInit)
        .only_root(INIT_OF_ROOT),
    Attempt::new("take_descriptor_of_outside", "takes a descriptor of an outside process by pidfd_getfd")
        .needs(&[OutsidePid])
        .unless(YAMA),
    Attempt::new("advise_outside", "process_madvise on an outside process")
        .needs(&[OutsidePid])
        .only_root("needs CAP_SYS_NICE"),
    Attempt::new("run_setuid_program", "runs a set-user-id root program").needs(&[SetuidProgram]),
    Attempt::new("setuid_root", "setuid(0)").only_root(NOT_ROOT),
    Attempt::new("setresuid_root", "setresuid(0, 0, 0)").only_root(NOT_ROOT),
    Attempt::new("setgid_root", "setgid(0)").only_root(NOT_ROOT),
    Attempt::new("setgroups_root", "setgroups to group 0").only_root(NOT_ROOT),
    Attempt::new("gain_capability", "capset of CAP_SYS_ADMIN").only_root(NOT_ROOT),
    Attempt::new("effective_capabilities", "has effective capabilities").only_root(NOT_ROOT),
    Attempt::new("permitted_capabilities", "has permitted capabilities").only_root(NOT_ROOT),
    Attempt::new("bounding_capabilities", "has a bounding set, so that a program could gain capabilities"),
    Attempt::new("no_new_privileges_missing", "runs without no_new_privs"),
    Attempt::new("no_new_privileges_unset", "takes no_new_privs back"),
    Attempt::new("seccomp_missing", "runs without a seccomp filter"),
    Attempt::new("realtime_scheduling", "takes a realtime priority").only_root("needs CAP_SYS_NICE"),
    Attempt::new("inject_terminal_input", "types into the terminal by TIOCSTI")
        .setting(Setting::TerminalOnStdin)
        .unless(Sysctl { file: "dev/tty/legacy_tiocsti", refusing: (0, 0), reason: "dev.tty.legacy_tiocsti is off" }),
    Attempt::new("paste_terminal_selection", "reads the console's selection by TIOCLINUX")
        .setting(Setting::TerminalOnStdin)
        .nobody("only a virtual console knows this call, and the harness gives a pseudo terminal"),
    Attempt::new("change_line_discipline", "gives the terminal another line discipline by TIOCSETD")
        .setting(Setting::TerminalOnStdin),
    Attempt::new("inherited_descriptors", "finds a descriptor above 2 open at the start")
        .setting(Setting::LeakedDescriptor),
];
