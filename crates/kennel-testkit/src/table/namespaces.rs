//! Attempts to change mounts, to make or enter namespaces, and to leave the native system call table.

use super::USER_NAMESPACES;
use crate::attempt::Argument::{OutsidePid, WritableDirectory};
use crate::attempt::{Attempt, Setting};

const CAPABILITY: &str = "needs CAP_SYS_ADMIN";

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("mount_tmpfs", "mounts a tmpfs").needs(&[WritableDirectory]).only_root(CAPABILITY),
    Attempt::new("mount_proc", "mounts a fresh proc").needs(&[WritableDirectory]).only_root(CAPABILITY),
    Attempt::new("mount_bind", "makes a bind mount").needs(&[WritableDirectory]).only_root(CAPABILITY),
    Attempt::new("open_tree_clone", "clones a mount by open_tree").only_root(CAPABILITY),
    Attempt::new("fsopen_tmpfs", "makes a file system context by fsopen").only_root(CAPABILITY),
    Attempt::new("move_mount", "passes the permission check of move_mount").only_root(CAPABILITY),
    Attempt::new("mount_setattr", "passes the permission check of mount_setattr").only_root(CAPABILITY),
    Attempt::new("unmount_proc", "passes the permission check of umount on /proc").only_root(CAPABILITY),
    Attempt::new("pivot_root", "passes the permission check of pivot_root").only_root(CAPABILITY),
    Attempt::new("chroot", "changes its root directory").only_root("needs CAP_SYS_CHROOT"),
    Attempt::new("unshare_user", "unshares the user namespace").unless(USER_NAMESPACES),
    Attempt::new("unshare_mount", "unshares the mount namespace").only_root(CAPABILITY),
    Attempt::new("unshare_network", "unshares the network namespace").only_root(CAPABILITY),
    Attempt::new("unshare_pid", "unshares the PID namespace").only_root(CAPABILITY),
    Attempt::new("unshare_uts", "unshares the UTS namespace").only_root(CAPABILITY),
    Attempt::new("unshare_ipc", "unshares the IPC namespace").only_root(CAPABILITY),
    Attempt::new("unshare_cgroup", "unshares the cgroup namespace").only_root(CAPABILITY),
    Attempt::new("clone_user", "clones into a new user namespace").unless(USER_NAMESPACES),
    Attempt::new("clone3_user", "clones into a new user namespace by clone3").unless(USER_NAMESPACES),
    Attempt::new("enter_init_mount", "setns to /proc/1/ns/mnt").setting(Setting::OwnInit).only_root(CAPABILITY),
    Attempt::new("enter_init_network", "setns to /proc/1/ns/net").setting(Setting::OwnInit).only_root(CAPABILITY),
    Attempt::new("enter_init_pid", "setns to /proc/1/ns/pid").setting(Setting::OwnInit).only_root(CAPABILITY),
    Attempt::new("enter_init_user", "setns to /proc/1/ns/user")
        .setting(Setting::OwnInit)
        .nobody("no process may enter the user namespace that it is in already"),
    Attempt::new("enter_outside_network", "setns to an outside process's network by its pidfd")
        .needs(&[OutsidePid])
        .only_root(CAPABILITY),
    Attempt::new("i386_system_call", "makes a 32-bit system call by int 0x80"),
    Attempt::new("x32_system_call", "makes a system call of the x32 table").nobody("the kernel is built without x32"),
];
