//! Attempts to write outside the granted directories.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::Runner;
use crate::finding::{Finding, Setup, Stop, Verdict, blocked, escaped, not_possible};
use crate::reading::read_some;
use crate::scene::Scene;

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("write_outside", |scene| Ok(append(scene.path(0)?)?)),
    ("create_outside", |scene| create_in(scene.path(0)?)),
    ("write_by_symlink", write_by_symlink),
    ("write_by_dotdot", write_by_dotdot),
    ("write_by_proc_root", |scene| Ok(append(&below("/proc/self/root", scene.path(0)?))?)),
    ("write_by_proc_cwd", write_by_proc_cwd),
    ("write_by_stdin_reopen", write_by_stdin_reopen),
    ("chmod_stdin", chmod_stdin),
    ("read_by_stdin_directory", |_| Ok(read_some(&stdin_directory()?.join("file"))?)),
    ("chmod_by_stdin_directory", |_| Ok(change_mode(&stdin_directory()?.join("file"))?)),
    ("leave_setuid_program", leave_setuid_program),
    ("rewrite_setuid_program", rewrite_setuid_program),
    ("rename_out", rename_out),
    ("hard_link_outside", hard_link_outside),
    ("write_usr_bin", |_| create_in(Path::new("/usr/bin"))),
    ("write_etc", |_| create_in(Path::new("/etc"))),
];

/// Enough to climb to the root from any directory of a test.
const CLIMB: &str = "../../../../../../../../../../../../../../../..";

/// Adds a byte to an existing file.
pub(crate) fn append(path: &Path) -> io::Result<Finding> {
    OpenOptions::new().append(true).open(path)?.write_all(b"x")?;
    Ok(escaped(format!("wrote to {}", path.display())))
}

/// Makes a file without a name, which leaves nothing behind, or where that is not known a named one.
pub(crate) fn create_in(directory: &Path) -> Verdict {
    let nameless = OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).open(directory);
    match nameless {
        Ok(_) => Ok(escaped(format!("made a file in {}", directory.display()))),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            let path = directory.join(format!("kennel-hostile-{}", std::process::id()));
            File::create_new(&path)?;
            fs::remove_file(&path)?;
            Ok(escaped(format!("made {}", path.display())))
        }
        Err(error) => Err(error.into()),
    }
}

/// An absolute path below another place.
fn below(place: &str, path: &Path) -> PathBuf {
    let mut whole = PathBuf::from(place).into_os_string();
    whole.push(path);
    whole.into()
}

fn write_by_symlink(scene: &Scene) -> Verdict {
    let link = scene.own_file(0)?;
    symlink(scene.path(1)?, &link).setup("make the link")?;
    let finding = append(&link);
    fs::remove_file(&link).setup("remove the link")?;
    Ok(finding?)
}

fn write_by_dotdot(scene: &Scene) -> Verdict {
    let directory = scene.path(0)?;
    fs::read_dir(directory).setup("list the writable directory")?;
    Ok(append(&below(&directory.join(CLIMB).to_string_lossy(), scene.path(1)?))?)
}

fn write_by_proc_cwd(scene: &Scene) -> Verdict {
    env::set_current_dir(scene.path(0)?).setup("enter the writable directory")?;
    Ok(append(&below(&format!("/proc/self/cwd/{CLIMB}"), scene.path(1)?))?)
}

fn write_by_stdin_reopen(_: &Scene) -> Verdict {
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned().setup("copy descriptor 0")?);
    if !stdin.metadata().setup("look at descriptor 0")?.is_file() {
        return Ok(not_possible("standard input is not a regular file"));
    }
    Ok(append(Path::new("/proc/self/fd/0"))?)
}

/// What of the host a descriptor leads to can be changed without being opened.
fn change_mode(path: &Path) -> io::Result<Finding> {
    let mode = fs::metadata(path)?.mode() & 0o7777;
    // To the mode that it has: the same permission, no damage.
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    Ok(escaped(format!("changed the mode of {}", path.display())))
}

fn chmod_stdin(_: &Scene) -> Verdict {
    let stdin = Path::new("/proc/self/fd/0");
    if !fs::metadata(stdin).setup("look at descriptor 0")?.is_file() {
        return Ok(not_possible("standard input is not a regular file"));
    }
    Ok(change_mode(stdin)?)
}

/// A box that refuses to pass a directory on has nothing there.
fn stdin_directory() -> io::Result<PathBuf> {
    let stdin = PathBuf::from("/proc/self/fd/0");
    if fs::metadata(&stdin)?.is_dir() { Ok(stdin) } else { Err(io::Error::from_raw_os_error(libc::ENOTDIR)) }
}

/// Outside, the file belongs to whoever runs the box, and its mode counts again.
fn leave_setuid_program(scene: &Scene) -> Verdict {
    const SET_USER_ID: u32 = 0o4755;
    let path = scene.own_file(0)?;
    File::create_new(&path).setup("make a file in the writable directory")?;
    let changed = fs::set_permissions(&path, fs::Permissions::from_mode(SET_USER_ID));
    let mode = fs::metadata(&path).setup("look at the file")?.mode() & 0o7777;
    fs::remove_file(&path).setup("remove the file")?;
    let created =
        OpenOptions::new().write(true).create_new(true).mode(SET_USER_ID).open(&path).and_then(|file| file.metadata());
    // Where it was not made there is none to be removed.
    let _ = fs::remove_file(&path);
    if mode == SET_USER_ID || created.is_ok_and(|metadata| metadata.mode() & 0o4000 != 0) {
        return Ok(escaped("left a set-user-id file"));
    }
    changed?;
    Ok(blocked("the bit was not kept"))
}

/// Writing to the file would take the bit away; what is written to a shared mapping does not.
fn rewrite_setuid_program(scene: &Scene) -> Verdict {
    const MARK: u8 = b'!';
    let path = scene.path(0)?.join("program");
    let before = fs::metadata(&path).setup("look at the program")?;
    if before.mode() & 0o4000 == 0 {
        return Ok(not_possible("the program is not set-user-id"));
    }
    let file = OpenOptions::new().read(true).write(true).open(&path)?;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses the place of the new mapping, and the file has at least one byte.
    let place = unsafe { libc::mmap(std::ptr::null_mut(), 1, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error().into());
    }
    // SAFETY: mapped above for writing, and not taken down yet.
    unsafe { place.cast::<u8>().write_volatile(MARK) };
    // SAFETY: the mapping is the one above, and nothing uses it any more.
    unsafe { libc::munmap(place, 1) };
    let changed = fs::read(&path).setup("read the program")?.first() == Some(&MARK);
    let kept = fs::metadata(&path).setup("look at the program")?.mode() & 0o4000 != 0;
    Ok(if changed && kept { escaped("changed, and still set-user-id") } else { blocked("the bit was not kept") })
}

fn rename_out(scene: &Scene) -> Verdict {
    let inside = scene.own_file(0)?;
    let outside = scene.own_file(1)?;
    File::create_new(&inside).setup("make a file in the writable directory")?;
    let renamed = fs::rename(&inside, &outside);
    let leftover = if renamed.is_ok() { &outside } else { &inside };
    fs::remove_file(leftover).setup("remove the file")?;
    renamed?;
    Ok(escaped(format!("renamed to {}", outside.display())))
}

fn hard_link_outside(scene: &Scene) -> Verdict {
    write_by_link(scene.path(0)?, &scene.own_file(1)?)
}

/// Gives a file a second name where writing is allowed, and writes through that.
pub(crate) fn write_by_link(file: &Path, link: &Path) -> Result<Finding, Stop> {
    fs::hard_link(file, link)?;
    let finding = append(link);
    fs::remove_file(link).setup("remove the link")?;
    Ok(finding?)
}
