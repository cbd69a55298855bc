//! Attempts to make device nodes and to open devices, which are neither read nor written.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::Runner;
use crate::finding::{Setup, Verdict, escaped};
use crate::scene::{Scene, c_path};
use crate::system::{Argument, call};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("make_block_device", |scene| make_node(scene, libc::S_IFBLK, libc::makedev(7, 0))),
    ("make_character_device", |scene| make_node(scene, libc::S_IFCHR, libc::makedev(1, 1))),
    ("open_memory_device", |_| open("/dev/mem", Access::Read)),
    ("open_block_device", |scene| open(scene.text(0)?, Access::Read)),
    ("open_kvm", |_| open("/dev/kvm", Access::Write)),
    ("open_fuse", |_| open("/dev/fuse", Access::Write)),
    ("open_kmsg", |_| open("/dev/kmsg", Access::Read)),
    ("open_console", |_| open("/dev/console", Access::Write)),
];

#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

fn open(path: &str, access: Access) -> Verdict {
    OpenOptions::new()
        .read(matches!(access, Access::Read))
        .write(matches!(access, Access::Write))
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    Ok(escaped(format!("opened {path}")))
}

fn make_node(scene: &Scene, kind: libc::mode_t, device: libc::dev_t) -> Verdict {
    let directory: &Path = scene.path(0)?;
    fs::read_dir(directory).setup("list the writable directory")?;
    let path = scene.own_file(0)?;
    let arguments = [
        Argument::Number(libc::AT_FDCWD.into()),
        Argument::Text(&c_path(&path)?),
        Argument::Number((kind | 0o600).into()),
        Argument::Number(device.cast_signed()),
    ];
    call(libc::SYS_mknodat, arguments)?;
    fs::remove_file(&path).setup("remove the node")?;
    Ok(escaped("made a device node"))
}
