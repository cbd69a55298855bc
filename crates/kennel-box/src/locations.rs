//! Where something is on its file system, by whatever mount, symlink or name it is reached.

use kennel_jail::FileIdentity;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// How many symlinks are followed, as by the kernel.
const MOST_LINKS: usize = 40;

/// A place on one file system: two mounts of the same thing are the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The file system, as the kernel's table of mounts names it.
    file_system: String,
    path: PathBuf,
}

impl Location {
    /// Whether the other place is this one or in it.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.file_system == other.file_system && other.path.starts_with(&self.path)
    }
}

/// What is mounted where, as this process sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MountTable(Vec<Mount>);

#[derive(Debug, Clone)]
struct Mount {
    id: u64,
    file_system: String,
    /// What of the file system is mounted.
    root: PathBuf,
    point: PathBuf,
    kind: String,
}

impl MountTable {
    pub(crate) fn current() -> std::io::Result<Self> {
        Ok(Self::parse(&std::fs::read("/proc/self/mountinfo")?))
    }

    pub(crate) fn parse(table: &[u8]) -> Self {
        Self(table.split(|byte| *byte == b'\n').filter_map(Mount::parse).collect())
    }

    /// The first of these kinds that is mounted at or beneath a directory, with its place.
    pub(crate) fn kind_beneath(&self, kinds: &[&str], directory: &Path) -> Option<(&str, &Path)> {
        let mut found = self.0.iter().filter(|mount| mount.point.starts_with(directory));
        let found = found.find(|mount| kinds.contains(&mount.kind.as_str()))?;
        Some((&found.kind, &found.point))
    }

    /// The place of a path that has no symlinks in it, and what is there. `None` if nothing is.
    pub(crate) fn look(&self, path: &Path) -> Option<Found> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let stat = statx(CWD, path, flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID).ok()?;
        let named = self.0.iter().find(|mount| mount.id == stat.stx_mnt_id && path.starts_with(&mount.point));
        // The last one that is mounted over a place is the one that is seen.
        let around = || {
            let over = self.0.iter().filter(|mount| path.starts_with(&mount.point));
            over.max_by_key(|mount| mount.point.components().count())
        };
        let location = match named.or_else(around) {
            Some(mount) => mount.location(path),
            None => Location {
                file_system: format!("{}:{}", stat.stx_dev_major, stat.stx_dev_minor),
                path: path.to_owned(),
            },
        };
        let identity = FileIdentity { device: makedev(stat.stx_dev_major, stat.stx_dev_minor), inode: stat.stx_ino };
        let kind = FileType::from_raw_mode(stat.stx_mode.into());
        Some(Found { location, identity, kind, names: stat.stx_nlink })
    }

    /// All places that a box sees if it is granted a path without symlinks: what is mounted beneath comes along.
    pub(crate) fn granted(&self, path: &Path) -> Vec<Location> {
        let beneath = self.0.iter().filter(|mount| mount.point != path && mount.point.starts_with(path));
        let beneath =
            beneath.map(|mount| Location { file_system: mount.file_system.clone(), path: mount.root.clone() });
        self.look(path).map(|found| found.location).into_iter().chain(beneath).collect()
    }
}

impl Mount {
    /// A line of the kernel's table: `ID PARENT MAJOR:MINOR ROOT POINT OPTIONS … - KIND SOURCE OPTIONS`.
    fn parse(line: &[u8]) -> Option<Self> {
        let at = line.windows(3).position(|part| part == b" - ")?;
        let mut words = line[..at].split(|byte| *byte == b' ');
        let id = str::from_utf8(words.next()?).ok()?.parse().ok()?;
        let file_system = str::from_utf8(words.nth(1)?).ok()?.to_owned();
        let (root, point) = (unescaped(words.next()?), unescaped(words.next()?));
        let kind = str::from_utf8(line[at + 3..].split(|byte| *byte == b' ').next()?).ok()?.to_owned();
        Some(Self { id, file_system, root, point, kind })
    }

    fn location(&self, path: &Path) -> Location {
        let beneath = path.strip_prefix(&self.point).unwrap_or(path);
        // Joining nothing would add a slash.
        let path = if beneath.as_os_str().is_empty() { self.root.clone() } else { self.root.join(beneath) };
        Location { file_system: self.file_system.clone(), path }
    }
}

/// The kernel writes spaces, tabs, line ends and backslashes in paths as `\040` and the like.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            plain.push(byte);
            rest = &after[3..];
        } else {
            plain.push(*first);
            rest = after;
        }
    }
    PathBuf::from(OsString::from_vec(plain))
}

/// What is at a place.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) location: Location,
    pub(crate) identity: FileIdentity,
    pub(crate) kind: FileType,
    /// How many names it has.
    pub(crate) names: u32,
}

/// All that decides where a path leads: whoever can write any of it can make the path lead elsewhere.
#[derive(Debug, Clone)]
pub struct Way {
    /// The directories, free of symlinks, in which something on the way is looked up.
    pub directories: Vec<PathBuf>,
    /// Those of them in which a symlink was followed.
    pub links: Vec<PathBuf>,
    /// Where it leads, free of symlinks; nothing may be there.
    pub end: PathBuf,
}

/// What is known of paths on the way.
pub(crate) type Steps = BTreeMap<PathBuf, Step>;

/// What a path is for whoever follows it.
pub(crate) enum Step {
    Link(PathBuf),
    There,
    Nothing,
}

impl Step {
    fn look(path: &Path) -> Self {
        match std::fs::read_link(path) {
            Ok(target) => Self::Link(target),
            // What is there and no link is no valid argument.
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Self::There,
            Err(_) if path.symlink_metadata().is_ok() => Self::There,
            Err(_) => Self::Nothing,
        }
    }
}

impl Way {
    /// Follows an absolute path. What is not there ends the following: the rest of the path is what somebody may make.
    #[must_use]
    pub fn follow(path: &Path) -> Self {
        Self::follow_with(path, &mut Steps::new())
    }

    /// The same with the memory of other ways.
    pub(crate) fn follow_with(path: &Path, steps: &mut Steps) -> Self {
        let mut rest: Vec<OsString> = Vec::new();
        let push = |path: &Path, rest: &mut Vec<OsString>| {
            rest.extend(path.components().rev().filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_owned()),
                Component::ParentDir => Some("..".into()),
                _ => None,
            }));
        };
        push(path, &mut rest);
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        let (mut directories, mut followed) = (Vec::new(), Vec::new());
        while let Some(name) = rest.pop() {
            if name.as_bytes() == b".." {
                at.pop();
                continue;
            }
            if !directories.contains(&at) {
                directories.push(at.clone());
            }
            let next = at.join(&name);
            match steps.entry(next.clone()).or_insert_with(|| Step::look(&next)) {
                Step::Link(target) if links < MOST_LINKS => {
                    links += 1;
                    followed.push(at.clone());
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    push(target, &mut rest);
                }
                Step::Link(_) | Step::There => at = next,
                Step::Nothing => {
                    let end = rest.into_iter().rev().fold(next, |end, name| end.join(name));
                    return Self { directories, links: followed, end };
                }
            }
        }
        Self { directories, links: followed, end: at }
    }
}

#[cfg(test)]
#[path = "locations_tests.rs"]
mod tests;
