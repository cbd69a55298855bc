//! Attempts to change what is mounted. Real mounts are made on a granted directory and undone;
//! the rest is called so that only the permission check can pass.

use std::ffi::CStr;
use std::fs::{self, File};

use crate::Runner;
use crate::finding::{Setup, Verdict, escaped, gate};
use crate::scene::Scene;
use crate::system::{Argument, call, call_for_descriptor};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("mount_tmpfs", |scene| mount(scene, c"tmpfs", c"tmpfs", 0)),
    ("mount_proc", |scene| mount(scene, c"proc", c"proc", 0)),
    ("mount_bind", |scene| mount(scene, c"/", c"none", libc::MS_BIND)),
    ("open_tree_clone", open_tree_clone),
    ("fsopen_tmpfs", fsopen_tmpfs),
    ("move_mount", move_mount),
    ("mount_setattr", mount_setattr),
    ("unmount_proc", unmount_proc),
    ("pivot_root", pivot_root),
    ("chroot", |_| gate(call(libc::SYS_chroot, [Argument::Text(c"/")]), &[])),
];

const NOWHERE: &CStr = c"/kennel-hostile-nowhere";

fn mount(scene: &Scene, source: &CStr, kind: &CStr, flags: libc::c_ulong) -> Verdict {
    fs::read_dir(scene.path(0)?).setup("list the writable directory")?;
    let directory = scene.c_path(0)?;
    let arguments = [
        Argument::Text(source),
        Argument::Text(&directory),
        Argument::Text(kind),
        Argument::Number(flags.cast_signed()),
        Argument::Null,
    ];
    call(libc::SYS_mount, arguments)?;
    let detach = i64::from(libc::MNT_DETACH);
    call(libc::SYS_umount2, [Argument::Text(&directory), Argument::Number(detach)]).setup("undo the mount")?;
    Ok(escaped("mounted"))
}

fn open_tree_clone(_: &Scene) -> Verdict {
    let arguments =
        [Argument::Number(libc::AT_FDCWD.into()), Argument::Text(c"/"), Argument::Number(libc::OPEN_TREE_CLONE.into())];
    call_for_descriptor(libc::SYS_open_tree, arguments)?;
    Ok(escaped("cloned the root mount"))
}

fn fsopen_tmpfs(_: &Scene) -> Verdict {
    call_for_descriptor(libc::SYS_fsopen, [Argument::Text(c"tmpfs"), Argument::Number(0)])?;
    Ok(escaped("made a file system context"))
}

fn move_mount(_: &Scene) -> Verdict {
    let arguments = [
        Argument::Number(-1),
        Argument::Text(NOWHERE),
        Argument::Number(-1),
        Argument::Text(NOWHERE),
        Argument::Number(0),
    ];
    gate(call(libc::SYS_move_mount, arguments), &[libc::EBADF, libc::ENOENT, libc::EINVAL])
}

fn mount_setattr(_: &Scene) -> Verdict {
    const READ_ONLY: u64 = 1;
    let attributes = [READ_ONLY, 0, 0, 0];
    let arguments = [
        Argument::Number(-1),
        Argument::Text(NOWHERE),
        Argument::Number(0),
        Argument::Words(&attributes),
        Argument::Number(32),
    ];
    gate(call(libc::SYS_mount_setattr, arguments), &[libc::EBADF, libc::ENOENT])
}

/// Only asks for expiry, and holds `/proc` busy meanwhile, so that it can never be unmounted.
fn unmount_proc(_: &Scene) -> Verdict {
    let _busy = File::open("/proc").setup("open /proc")?;
    let expire = i64::from(libc::MNT_EXPIRE);
    let result = call(libc::SYS_umount2, [Argument::Text(c"/proc"), Argument::Number(expire)]);
    gate(result, &[libc::EBUSY, libc::EAGAIN])
}

fn pivot_root(_: &Scene) -> Verdict {
    let result = call(libc::SYS_pivot_root, [Argument::Text(NOWHERE), Argument::Text(NOWHERE)]);
    gate(result, &[libc::ENOENT])
}
