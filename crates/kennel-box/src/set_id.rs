//! Programs in a path granted for writing that run with more than their caller's rights: set-user-id, set-group-id, or
//! with file capabilities.
//!
//! The kernel takes these rights away when such a file is written to, but not when it is changed by a shared mapping. A
//! box that may write it could so leave a program of its own that anybody outside runs as the file's owner. No mount
//! option or filter tells such a mapping from the many harmless ones, so a path with such a program is not granted. No
//! box can make one, and one that comes there later is not seen: a grant is searched once for each plan.

use crate::error::BoxError;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat};
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How far a grant is searched, so that the start of a box in a large tree does not wait for it.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    entries: usize,
    time: Duration,
}

const BOUNDS: Bounds = Bounds { entries: 50_000, time: Duration::from_millis(100) };

/// What a search came to.
#[derive(Debug, PartialEq, Eq)]
enum Search {
    /// There is none.
    Clean,
    /// The first one.
    Found(PathBuf, Right),
    /// There is none in that part which was searched.
    Unfinished,
}

/// Why a program has more rights than its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Right {
    SetId,
    Capabilities,
}

/// Refuses a path to write in which there is such a program; a notice says where the search has not come to its end.
pub(crate) fn check(path: &Path) -> Result<Option<String>, BoxError> {
    match search(path, BOUNDS) {
        Search::Clean => Ok(None),
        Search::Found(program, right) => {
            let (what, cure) = match right {
                Right::SetId => ("a set-user-id or set-group-id program", "chmod ug-s"),
                Right::Capabilities => ("a program with file capabilities", "setcap -r"),
            };
            let program = program.display();
            Err(BoxError::Mount {
                path: path.to_path_buf(),
                problem: format!(
                    "`{program}` is {what}, which the box could rewrite without it losing its rights; \
                     take them away (`{cure} {program}`), or grant what is needed beside it"
                ),
            })
        }
        Search::Unfinished => Ok(Some(format!(
            "`{}` is too large to be searched for set-user-id programs, which the box could rewrite without them losing \
             their rights; grant less where there may be any",
            path.display()
        ))),
    }
}

fn search(path: &Path, bounds: Bounds) -> Search {
    let end = Instant::now() + bounds.time;
    // What cannot be opened here cannot be searched, and whether it is granted is not decided here.
    let Ok(root) = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { return Search::Clean };
    let Ok(stat) = fstat(&root) else { return Search::Clean };
    let writer = Writer::of(&stat);
    if !FileType::from_raw_mode(stat.st_mode).is_dir() {
        let place = PathBuf::from(format!("/proc/self/fd/{}", root.as_raw_fd()));
        return writer.right(&stat, &place).map_or(Search::Clean, |right| Search::Found(path.to_path_buf(), right));
    }
    let mut left = bounds.entries;
    let mut unseen = false;
    let mut open = vec![PathBuf::from(".")];
    while let Some(directory) = open.pop() {
        // A directory that the box cannot list either may still be passed through; those are few.
        let Ok((handle, entries)) = list(&root, &directory) else { continue };
        for entry in entries {
            let Ok(entry) = entry else {
                unseen = true;
                break;
            };
            let name = entry.file_name();
            if [c".", c".."].contains(&name) {
                continue;
            }
            if left == 0 || Instant::now() >= end {
                return Search::Unfinished;
            }
            left -= 1;
            let place = || directory.join(OsStr::from_bytes(name.to_bytes()));
            match entry.file_type() {
                FileType::Directory => open.push(place()),
                FileType::RegularFile | FileType::Unknown => match look(&handle, name, &writer) {
                    Look::Directory => open.push(place()),
                    Look::Program(right) => {
                        let place = place();
                        return Search::Found(path.join(place.strip_prefix(".").unwrap_or(&place)), right);
                    }
                    Look::Nothing => {}
                },
                _ => {}
            }
        }
    }
    if unseen { Search::Unfinished } else { Search::Clean }
}

/// Opens a directory of the grant; no link leads out of it, whoever plants one meanwhile.
fn list(root: &OwnedFd, directory: &Path) -> rustix::io::Result<(OwnedFd, Dir)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = openat2(root, directory, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)?;
    let entries = Dir::read_from(&handle)?;
    Ok((handle, entries))
}

enum Look {
    Directory,
    Program(Right),
    Nothing,
}

fn look(directory: &OwnedFd, name: &CStr, writer: &Writer) -> Look {
    let Ok(stat) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT) else {
        return Look::Nothing;
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Look::Directory,
        FileType::RegularFile => {
            let place = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string());
            writer.right(&stat, &place.join(OsStr::from_bytes(name.to_bytes()))).map_or(Look::Nothing, Look::Program)
        }
        _ => Look::Nothing,
    }
}

/// As whom the box changes what is in a grant.
struct Writer {
    uid: u32,
}

impl Writer {
    /// Root's boxes act as the owner of the granted path, all others as the user.
    fn of(granted: &Stat) -> Self {
        let own = rustix::process::geteuid();
        Self { uid: if own.is_root() { granted.st_uid } else { own.as_raw() } }
    }

    /// The right that the box could make use of: the file must be one that it can write, and that others can execute.
    fn right(&self, stat: &Stat, place: &Path) -> Option<Right> {
        const SET_USER_ID: u32 = 0o4000;
        const SET_GROUP_ID: u32 = 0o2010;
        let mode = stat.st_mode;
        let writable = stat.st_uid == self.uid || mode & 0o022 != 0;
        if !writable || mode & 0o111 == 0 {
            return None;
        }
        // Without the group's right to execute, the second bit means something else.
        if mode & SET_USER_ID != 0 || mode & SET_GROUP_ID == SET_GROUP_ID {
            return Some(Right::SetId);
        }
        let capabilities = rustix::fs::lgetxattr(place, c"security.capability", &mut [0_u8; 64]);
        capabilities.is_ok().then_some(Right::Capabilities)
    }
}

#[cfg(test)]
#[path = "set_id_tests.rs"]
mod tests;
