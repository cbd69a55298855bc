//! Walks through a tree: depth first, on handles, with one descriptor for each level and no recursion.

use crate::beneath::open_directory;
use crate::bounds::{Bound, Bounds};
use crate::clock::Clock;
use crate::protocol::{Failure, LONGEST_PATH, Usage};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;
use std::ffi::CStr;

/// How much of the bounds is used up.
#[derive(Debug)]
pub(crate) struct Account {
    bounds: Bounds,
    clock: Clock,
    names: u64,
    pub(crate) usage: Usage,
}

impl Account {
    pub(crate) fn new(bounds: Bounds, clock: Clock) -> Self {
        Self { bounds, clock, names: 0, usage: Usage::default() }
    }

    /// What may still be read.
    pub(crate) fn bytes_left(&self) -> u64 {
        self.bounds.bytes.saturating_sub(self.usage.bytes)
    }

    /// Counts bytes.
    pub(crate) fn bytes(&mut self, count: u64, at: &[u8]) -> Result<(), Failure> {
        self.clock.check(at)?;
        self.usage.bytes = self.usage.bytes.saturating_add(count);
        within(Bound::Bytes, self.usage.bytes, self.bounds.bytes, at)
    }

    fn entry(&mut self, depth: usize, at: &[u8]) -> Result<(), Failure> {
        self.clock.check(at)?;
        self.usage.entries += 1;
        self.names = self.names.saturating_add(at.len() as u64);
        within(Bound::Entries, self.usage.entries, self.bounds.entries, at)?;
        within(Bound::Names, self.names, self.bounds.names, at)?;
        within(Bound::Depth, depth as u64, self.bounds.depth.into(), at)
    }
}

fn within(bound: Bound, used: u64, limit: u64, at: &[u8]) -> Result<(), Failure> {
    if used > limit { Err(Failure::Exceeded { bound, limit, at: shortened(at) }) } else { Ok(()) }
}

fn shortened(path: &[u8]) -> Vec<u8> {
    path[..path.len().min(LONGEST_PATH)].to_vec()
}

/// Something that a walk came by.
pub(crate) struct Entry<'a> {
    /// The directory that it is in.
    pub(crate) directory: BorrowedFd<'a>,
    pub(crate) name: &'a CStr,
    /// Its path from where the walk began.
    pub(crate) path: &'a [u8],
    pub(crate) kind: FileType,
    /// A directory that cannot be entered.
    pub(crate) closed: bool,
}

/// Visits all that lies beneath a directory, following no link. Directories are visited before what is in them.
pub(crate) fn walk(
    top: OwnedFd,
    account: &mut Account,
    mut visit: impl FnMut(&Entry<'_>, &mut Account) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let listed = |path: &[u8]| Failure::system("listed", path);
    let mut path: Vec<u8> = Vec::new();
    // With the length of the path of each.
    let mut open = vec![(Dir::new(top).map_err(listed(&path))?, 0)];
    loop {
        let depth = open.len();
        let Some((directory, length)) = open.last_mut() else { return Ok(()) };
        path.truncate(*length);
        let entry = match directory.read() {
            None => {
                open.pop();
                continue;
            }
            Some(entry) => entry.map_err(listed(&path))?,
        };
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend(name.to_bytes());
        let handle = directory.fd().map_err(listed(&path))?;
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                // Its directory may be read but not searched.
                Err(Errno::ACCESS) => FileType::Unknown,
                Err(errno) => return Err(Failure::system("looked at", &path)(errno)),
            },
            kind => kind,
        };
        let inner = match kind {
            FileType::Directory => match open_directory(handle, name) {
                Ok(inner) => Some(inner),
                Err(Errno::ACCESS) => None,
                // It was another a moment ago.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                Err(errno) => return Err(Failure::system("opened", &path)(errno)),
            },
            _ => None,
        };
        let closed = kind == FileType::Directory && inner.is_none();
        let entry = Entry { directory: handle, name, path: &path, kind, closed };
        account.entry(depth, &path)?;
        visit(&entry, account)?;
        if let Some(inner) = inner {
            let length = path.len();
            open.push((Dir::new(inner).map_err(listed(&path))?, length));
        }
    }
}
