//! Attempts to read what is not granted: files, sockets, other processes' `/proc`, kernel files.

use super::YAMA;
use crate::attempt::Argument::{HomeDirectory, OutsideFile, OutsidePid, UnixSocket};
use crate::attempt::{Attempt, Setting};

const ROOT_FILE: &str = "the file's mode keeps ordinary users out";
const INIT_OF_ROOT: &str = "init belongs to root";

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("read_shadow", "reads /etc/shadow").only_root(ROOT_FILE),
    Attempt::new("read_home", "lists a home directory and reads a file in it").needs(&[HomeDirectory]),
    Attempt::new("read_ssh_key", "reads a private key").needs(&[OutsideFile]),
    Attempt::new("read_other_box", "reads a file of another box").needs(&[OutsideFile]),
    Attempt::new("connect_docker_socket", "connects to a container engine's socket").needs(&[UnixSocket]),
    Attempt::new("see_outside_process", "finds an outside process in /proc").needs(&[OutsidePid]),
    Attempt::new("read_outside_environment", "reads /proc/PID/environ of an outside process").needs(&[OutsidePid]),
    Attempt::new("read_outside_memory", "reads /proc/PID/mem of an outside process").needs(&[OutsidePid]).unless(YAMA),
    Attempt::new("read_init_environment", "reads /proc/1/environ").setting(Setting::OwnInit).only_root(INIT_OF_ROOT),
    Attempt::new("traverse_init_root", "reads an outside file through /proc/1/root")
        .needs(&[OutsideFile])
        .setting(Setting::OwnInit)
        .only_root(INIT_OF_ROOT),
    Attempt::new("traverse_outside_root", "reads an outside file through /proc/PID/root")
        .needs(&[OutsidePid, OutsideFile]),
    Attempt::new("read_kcore", "reads the kernel's memory from /proc/kcore")
        .if_exists("/proc/kcore")
        .only_root(ROOT_FILE),
    Attempt::new("open_sysrq_trigger", "opens /proc/sysrq-trigger for writing")
        .if_exists("/proc/sysrq-trigger")
        .only_root(ROOT_FILE),
    Attempt::new("open_sysctl_hostname", "opens /proc/sys/kernel/hostname for writing").only_root(ROOT_FILE),
    Attempt::new("open_sysctl_core_pattern", "opens /proc/sys/kernel/core_pattern for writing").only_root(ROOT_FILE),
    Attempt::new("open_release_agent", "opens a cgroup's release_agent for writing")
        .if_exists("/sys/fs/cgroup/systemd/release_agent")
        .only_root(ROOT_FILE),
    Attempt::new("open_outer_cgroup", "opens the top cgroup's cgroup.procs for writing").only_root(ROOT_FILE),
    Attempt::new("open_init_executable", "opens /proc/1/exe for writing")
        .setting(Setting::OwnInit)
        .only_root(INIT_OF_ROOT),
];
