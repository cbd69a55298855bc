//! Removes a tree, however deep, with a constant number of descriptors and no recursion.
//!
//! A directory inside a directory that is not empty is moved up to the top first, and emptied there. So every directory
//! is moved once at most, nothing is ever opened more than two levels down, and depth costs neither stack nor handles.

use crate::beneath::{open_directory, unlock, unlock_directory};
use crate::clock::Clock;
use crate::protocol::Failure;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, RenameFlags, renameat_with, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};

/// Removes what a name in a directory stands for; nothing is done where there is nothing.
pub(crate) fn remove(parent: BorrowedFd<'_>, name: &CStr, clock: &Clock) -> Result<(), Failure> {
    let failed = |errno| Failure::system("removed", name.to_bytes())(errno);
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // A directory, by the word of Linux or of POSIX.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(failed(errno)),
    }
    let top = match enter(parent, name) {
        Err(Errno::NOTDIR) => return Err(failed(Errno::PERM)),
        other => other.map_err(failed)?,
    };
    let mut removal = Removal { top, clock, moved: 0, done: 0, left: Left::default() };
    removal.empty_top()?;
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(removal.left.failure(name, errno)),
    }
}

struct Removal<'a> {
    top: OwnedFd,
    clock: &'a Clock,
    /// How many directories were moved to the top: their names there.
    moved: u64,
    /// How much was removed or moved in this pass.
    done: u64,
    left: Left,
}

/// What cannot be removed.
#[derive(Default)]
struct Left {
    count: u64,
    first: Option<(CString, Errno)>,
}

impl Left {
    fn note(&mut self, name: &CStr, errno: Errno) {
        self.count += 1;
        self.first.get_or_insert_with(|| (name.to_owned(), errno));
    }

    fn failure(self, name: &CStr, errno: Errno) -> Failure {
        let (path, errno) = self.first.unwrap_or_else(|| (name.to_owned(), errno));
        Failure::Stuck { count: self.count.max(1), path: path.into_bytes(), errno: errno.raw_os_error() }
    }
}

impl Removal<'_> {
    /// Passes over the top until nothing is left, or nothing more can be done.
    fn empty_top(&mut self) -> Result<(), Failure> {
        loop {
            (self.done, self.left) = (0, Left::default());
            let mut seen = false;
            let mut listing = list(self.top.as_fd())?;
            while let Some(name) = next(&mut listing)? {
                seen = true;
                self.clock.check(name.to_bytes())?;
                if let Err(errno) = self.remove_from_top(&name)? {
                    self.left.note(&name, errno);
                }
            }
            if !seen || self.done == 0 {
                return Ok(());
            }
        }
    }

    /// Removes one entry of the top, or all of it that can be.
    fn remove_from_top(&mut self, name: &CStr) -> Result<Result<(), Errno>, Failure> {
        let plain = unlink_any(self.top.as_fd(), name);
        if !matches!(plain, Err(Errno::NOTEMPTY | Errno::EXIST)) {
            return Ok(self.count(plain));
        }
        let directory = match enter(self.top.as_fd(), name) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(Ok(())),
            Err(errno) => return Ok(Err(errno)),
        };
        let mut listing = list(directory.as_fd())?;
        let mut stuck = None;
        while let Some(inner) = next(&mut listing)? {
            self.clock.check(inner.to_bytes())?;
            let outcome = match unlink_any(directory.as_fd(), &inner) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => self.move_up(directory.as_fd(), &inner),
                other => other,
            };
            if let Err(errno) = self.count(outcome) {
                stuck = Some(errno);
            }
        }
        let emptied = unlinkat(&self.top, name, AtFlags::REMOVEDIR);
        Ok(self.count(emptied).map_err(|errno| stuck.unwrap_or(errno)))
    }

    /// Moves a directory to the top, under a name that nothing there has.
    fn move_up(&mut self, directory: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        let mut unlocked = false;
        loop {
            self.moved += 1;
            let target = format!(".kennel-{}", self.moved);
            match renameat_with(directory, name, &self.top, target, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                // To move a directory is to change its `..`.
                Err(Errno::ACCESS) if !unlocked => {
                    unlock_directory(directory, name)?;
                    unlock(self.top.as_fd())?;
                    unlocked = true;
                }
                other => return other,
            }
        }
    }

    fn count(&mut self, outcome: Result<(), Errno>) -> Result<(), Errno> {
        match outcome {
            Err(Errno::NOENT) => Ok(()),
            Ok(()) => {
                self.done += 1;
                Ok(())
            }
            other => other,
        }
    }
}

/// Removes a file or an empty directory.
fn unlink_any(directory: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    let unlink = || match unlinkat(directory, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => unlinkat(directory, name, AtFlags::REMOVEDIR),
        Err(Errno::PERM) => match unlinkat(directory, name, AtFlags::REMOVEDIR) {
            Err(Errno::NOTDIR) => Err(Errno::PERM),
            other => other,
        },
        other => other,
    };
    match unlink() {
        Err(Errno::ACCESS) => {
            unlock(directory)?;
            unlink()
        }
        other => other,
    }
}

/// Opens a directory, whatever it allows.
fn enter(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    match open_directory(parent, name) {
        Err(Errno::ACCESS) => {
            unlock_directory(parent, name)?;
            open_directory(parent, name)
        }
        other => other,
    }
}

fn list(directory: BorrowedFd<'_>) -> Result<Dir, Failure> {
    let open = || open_directory(directory, c".");
    let handle = match open() {
        // It may be read but not searched.
        Err(Errno::ACCESS) => unlock(directory).and_then(|()| open()),
        other => other,
    };
    handle.and_then(Dir::new).map_err(Failure::system("listed", b"."))
}

fn next(listing: &mut Dir) -> Result<Option<CString>, Failure> {
    loop {
        let Some(entry) = listing.read() else { return Ok(None) };
        let entry = entry.map_err(Failure::system("listed", b"."))?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            return Ok(Some(entry.file_name().to_owned()));
        }
    }
}
