//! Handles beneath a root: how anything in a foreign tree is opened.
//!
//! The kernel never follows a link here. Where a link must be followed, as npm's `.bin` and virtualenvs need it, each
//! step is taken by hand, so that the place it leads to is known before anything there is opened.

use crate::protocol::{Failure, Kind, LONGEST_PATH, WirePlace};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, chmodat, fstat, openat2, readlinkat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
/// The most parts of a path, with those that links add.
const MOST_PARTS: usize = 4096;

/// The one way in which anything is opened, so that no link, pipe or device is ever followed or waited for.
const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Opens for reading, without waiting for anybody.
pub(crate) fn open_to_read(at: impl AsFd, path: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    openat2(at, path, flags, Mode::empty(), RESOLVE)
}

/// Opens a directory.
pub(crate) fn open_directory(at: impl AsFd, path: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat2(at, path, flags, Mode::empty(), RESOLVE)
}

/// Gives the owner all rights on a directory, whatever it allows now.
pub(crate) fn unlock_directory(at: impl AsFd, name: &CStr) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let handle = openat2(at, name, flags, Mode::empty(), RESOLVE)?;
    unlock(handle.as_fd())
}

/// The same for one that is held already.
pub(crate) fn unlock(handle: BorrowedFd<'_>) -> Result<(), Errno> {
    // By the handle's own name: the directory it stands for cannot be swapped for a link.
    chmodat(CWD, format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU, AtFlags::empty())
}

/// The root of a session.
#[derive(Debug)]
pub(crate) struct Root {
    handle: OwnedFd,
    /// The parts of another absolute path by which links call the root.
    alias: Option<Vec<Vec<u8>>>,
}

/// Something that was found at the end of a path.
enum Step {
    Directory,
    Other(Stat),
    Link(Vec<u8>),
}

impl Root {
    pub(crate) fn open(path: &[u8], alias: Option<&[u8]>) -> Result<Self, Failure> {
        let failed = |errno| Failure::system("opened", path)(errno);
        // The root itself is Kennel's; what is in it is not.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let open = || rustix::fs::openat(CWD, path, flags, Mode::empty());
        let handle = match open() {
            Err(Errno::ACCESS) => {
                let locked = rustix::fs::openat(CWD, path, flags | OFlags::PATH, Mode::empty()).map_err(failed)?;
                unlock(locked.as_fd()).map_err(failed)?;
                open()
            }
            other => other,
        };
        Ok(Self { handle: handle.map_err(failed)?, alias: alias.map(|path| parts(path).collect()) })
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Opens a directory by a path without links; the root itself by an empty one.
    pub(crate) fn directory(&self, path: &[u8]) -> Result<OwnedFd, Failure> {
        let path = if path.is_empty() { b"." } else { path };
        open_directory(&self.handle, path).map_err(Failure::system("opened", path))
    }

    /// Follows a path step by step.
    pub(crate) fn resolve(&self, path: &[u8]) -> Result<WirePlace, Failure> {
        let mut to_go = parts(path).collect::<VecDeque<_>>();
        let mut gone: Vec<Vec<u8>> = Vec::new();
        let mut links = 0;
        let mut steps = 0;
        let mut last = None;
        while let Some(part) = to_go.pop_front() {
            steps += 1;
            if steps > MOST_PARTS || to_go.len() > MOST_PARTS {
                return Err(Failure::refused(path, "has too many parts"));
            }
            if last.is_some() {
                return Ok(WirePlace::Absent);
            }
            if part == b".." {
                if gone.pop().is_none() {
                    return Ok(outside(b"..", to_go));
                }
                continue;
            }
            gone.push(part);
            match self.step(&gone.join(&b'/'))? {
                None => return Ok(WirePlace::Absent),
                Some(Step::Directory) => {}
                Some(Step::Other(stat)) => last = Some(stat),
                Some(Step::Link(target)) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(Failure::refused(path, "leads through too many links"));
                    }
                    gone.pop();
                    let rest = if target.first() == Some(&b'/') {
                        let Some(rest) = self.called(&target) else { return Ok(outside(&target, to_go)) };
                        gone.clear();
                        rest
                    } else {
                        parts(&target).collect()
                    };
                    rest.into_iter().rev().for_each(|part| to_go.push_front(part));
                }
            }
        }
        let (kind, executable) = last.map_or((Kind::Directory, false), |stat| {
            let kind = if is_regular(&stat) { Kind::File } else { Kind::Special };
            (kind, stat.st_mode & 0o111 != 0)
        });
        Ok(WirePlace::Inside { path: gone.join(&b'/'), kind, executable })
    }

    /// What an absolute path means in the tree, where it is in it by its other name.
    fn called(&self, target: &[u8]) -> Option<Vec<Vec<u8>>> {
        let alias = self.alias.as_ref()?;
        let mut rest = parts(target).collect::<Vec<_>>();
        rest.starts_with(alias).then(|| rest.split_off(alias.len()))
    }

    /// Looks at the end of a path that is free of links but for its last part.
    fn step(&self, path: &[u8]) -> Result<Option<Step>, Failure> {
        if path.len() > LONGEST_PATH {
            return Err(Failure::refused(path, "is too long"));
        }
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = match openat2(&self.handle, path, flags, Mode::empty(), RESOLVE) {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(errno) => return Err(Failure::system("opened", path)(errno)),
        };
        let stat = fstat(&handle).map_err(Failure::system("looked at", path))?;
        Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Step::Directory,
            FileType::Symlink => {
                let target = readlinkat(&handle, c"", Vec::new()).map_err(Failure::system("read", path))?;
                Step::Link(target.into_bytes())
            }
            _ => Step::Other(stat),
        }))
    }

    /// Reads a regular file as a whole; nothing where there is none.
    pub(crate) fn read(&self, path: &[u8], largest: u64) -> Result<Option<Vec<u8>>, Failure> {
        let Some((file, size)) = self.file(path)? else { return Ok(None) };
        let too_large = || Failure::refused(path, &format!("has more than {largest} bytes"));
        if size > largest {
            return Err(too_large());
        }
        let content = taken(file, largest.saturating_add(1), path)?;
        if content.len() as u64 > largest { Err(too_large()) } else { Ok(Some(content)) }
    }

    /// Reads the first bytes of a regular file; nothing where there is none.
    pub(crate) fn read_start(&self, path: &[u8], count: u64) -> Result<Option<Vec<u8>>, Failure> {
        let Some((file, _)) = self.file(path)? else { return Ok(None) };
        taken(file, count, path).map(Some)
    }

    /// Opens a regular file, with its size.
    fn file(&self, path: &[u8]) -> Result<Option<(File, u64)>, Failure> {
        let real = match self.resolve(path)? {
            WirePlace::Absent => return Ok(None),
            WirePlace::Outside { .. } => return Err(Failure::refused(path, "leads out of the tree")),
            WirePlace::Inside { path, .. } => path,
        };
        // Between the look and this, anything may have changed: what is opened is looked at again.
        let file = open_to_read(&self.handle, real.as_slice()).map_err(Failure::system("opened", &real))?;
        let stat = fstat(&file).map_err(Failure::system("looked at", &real))?;
        if !is_regular(&stat) {
            return Err(Failure::refused(path, "is not a regular file"));
        }
        Ok(Some((file.into(), u64::try_from(stat.st_size).unwrap_or(u64::MAX))))
    }
}

fn taken(file: File, count: u64, path: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    let outcome = file.take(count).read_to_end(&mut content);
    outcome.map_err(|error| Failure::system("read", path)(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    Ok(content)
}

pub(crate) fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

fn outside(target: &[u8], to_go: VecDeque<Vec<u8>>) -> WirePlace {
    let mut target = target.to_vec();
    for part in to_go {
        target.push(b'/');
        target.extend(part);
    }
    target.truncate(LONGEST_PATH);
    WirePlace::Outside { target }
}

fn parts(path: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").map(<[u8]>::to_vec)
}
