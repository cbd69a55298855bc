//! Attempts to change what is granted read-only. Each first makes sure that the grant is there.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use crate::Runner;
use crate::finding::{Setup, Stop, Verdict, escaped, gate};
use crate::scene::{Scene, c_path};
use crate::system::{Argument, call};
use crate::writing::{append, create_in, write_by_link};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("write_by_descriptor_reopen", write_by_descriptor_reopen),
    ("write_by_hard_link", |scene| write_by_link(granted_file(scene)?, &scene.own_file(1)?)),
    ("write_by_rename_in", write_by_rename_in),
    ("write_read_only", |scene| Ok(append(granted_file(scene)?)?)),
    ("create_read_only", |scene| create_in(granted_directory(scene)?)),
    ("unlink_read_only", unlink_read_only),
    ("truncate_read_only", truncate_read_only),
    ("chmod_read_only", chmod_read_only),
    ("chown_read_only", chown_read_only),
    ("touch_read_only", touch_read_only),
    ("xattr_read_only", xattr_read_only),
    ("remount_read_only", remount_read_only),
];

fn granted_file(scene: &Scene) -> Result<&Path, Stop> {
    let path = scene.path(0)?;
    File::open(path).setup("read the granted file")?;
    Ok(path)
}

fn granted_directory(scene: &Scene) -> Result<&Path, Stop> {
    let path = scene.path(0)?;
    fs::read_dir(path).setup("list the granted directory")?;
    Ok(path)
}

fn write_by_descriptor_reopen(scene: &Scene) -> Verdict {
    use std::os::fd::AsRawFd;

    let file = File::open(scene.path(0)?).setup("read the granted file")?;
    Ok(append(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))?)
}

fn write_by_rename_in(scene: &Scene) -> Verdict {
    let file = granted_file(scene)?;
    let inside = scene.own_file(1)?;
    fs::rename(file, &inside)?;
    let finding = append(&inside);
    fs::rename(&inside, file).setup("give the file back")?;
    Ok(finding?)
}

fn unlink_read_only(scene: &Scene) -> Verdict {
    let file = granted_file(scene)?;
    let aside = file.with_extension("aside");
    fs::rename(file, &aside)?;
    fs::rename(&aside, file).setup("give the file back")?;
    Ok(escaped("took the file's name away"))
}

/// To the length that it has: the same permission, no damage.
fn truncate_read_only(scene: &Scene) -> Verdict {
    let file = granted_file(scene)?;
    let length = fs::metadata(file).setup("look at the granted file")?.len().cast_signed();
    call(libc::SYS_truncate, [Argument::Text(&c_path(file)?), Argument::Number(length)])?;
    Ok(escaped("truncated"))
}

/// To the mode that it has: the same permission, no damage.
fn chmod_read_only(scene: &Scene) -> Verdict {
    let file = granted_file(scene)?;
    let mode = fs::metadata(file).setup("look at the granted file")?.mode();
    fs::set_permissions(file, fs::Permissions::from_mode(mode & 0o7777))?;
    Ok(escaped("changed the mode"))
}

/// To the user that runs this, who is the owner on the host.
fn chown_read_only(scene: &Scene) -> Verdict {
    let file = granted_file(scene)?;
    // SAFETY: reads a number of this process.
    let user = unsafe { libc::geteuid() };
    chown(file, Some(user), None)?;
    Ok(escaped("changed the owner"))
}

fn touch_read_only(scene: &Scene) -> Verdict {
    let file = c_path(granted_file(scene)?)?;
    let directory = i64::from(libc::AT_FDCWD);
    let arguments = [Argument::Number(directory), Argument::Text(&file), Argument::Null, Argument::Number(0)];
    call(libc::SYS_utimensat, arguments)?;
    Ok(escaped("changed the times"))
}

fn xattr_read_only(scene: &Scene) -> Verdict {
    let file = c_path(granted_file(scene)?)?;
    let arguments = [
        Argument::Text(&file),
        Argument::Text(c"user.kennel"),
        Argument::Bytes(b"x"),
        Argument::Number(1),
        Argument::Number(0),
    ];
    call(libc::SYS_setxattr, arguments)?;
    Ok(escaped("set an attribute"))
}

/// Who may remount is asked first; what is no mount point is refused only afterwards.
fn remount_read_only(scene: &Scene) -> Verdict {
    let directory = c_path(granted_directory(scene)?)?;
    let flags = (libc::MS_REMOUNT | libc::MS_BIND).cast_signed();
    let arguments =
        [Argument::Null, Argument::Text(&directory), Argument::Null, Argument::Number(flags), Argument::Null];
    gate(call(libc::SYS_mount, arguments), &[libc::EINVAL, libc::EBUSY])
}
