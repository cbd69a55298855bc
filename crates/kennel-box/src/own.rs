//! What belongs to Kennel itself, and so is nobody's grant, by whatever path, symlink, mount or hard link it is reached.

use crate::locations::{Location, MountTable, Steps, Way};
use kennel_jail::{Access, FileIdentity};
use rustix::fs::FileType;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Something of Kennel's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// What it is, for messages: `the configuration file in use`.
    pub what: &'static str,
    /// What is kept from boxes.
    pub protection: Protection,
}

/// What is kept from boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Everything: it is not seen, nor is anything in it.
    Hidden,
    /// It is not granted by itself, and never written or replaced. A directory around it may be read.
    Private,
    /// It is never written or replaced, but may be read.
    ReadOnly,
}

/// Kennel's own things, found.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnThings {
    things: Vec<Thing>,
}

#[derive(Debug, Clone)]
struct Thing {
    own: Own,
    /// Where something can be done so that the path leads elsewhere.
    directories: Vec<Location>,
    /// Where it is, or would be.
    end: Option<Location>,
    found: Option<(FileIdentity, FileType, u32)>,
}

impl OwnThings {
    pub(crate) fn find(own: Vec<Own>, mounts: &MountTable) -> Self {
        // Most of them share most of their way.
        let mut known: BTreeMap<PathBuf, Option<Location>> = BTreeMap::new();
        let mut place = |path: &Path| {
            let look = || mounts.look(path).map(|found| found.location);
            known.entry(path.to_owned()).or_insert_with(look).clone()
        };
        let mut steps = Steps::new();
        let things = own.into_iter().map(|own| {
            let Way { directories, end, .. } = Way::follow_with(&own.path, &mut steps);
            let directories = directories.iter().filter_map(|path| place(path)).collect();
            let found = mounts.look(&end);
            Thing {
                end: found.as_ref().map(|found| found.location.clone()),
                found: found.map(|found| (found.identity, found.kind, found.names)),
                directories,
                own,
            }
        });
        Self { things: things.collect() }
    }

    /// Refuses what holds, or is part of, something of Kennel's own.
    pub(crate) fn decide(&self, granted: &Granted<'_>, access: Access) -> Result<(), String> {
        self.things.iter().try_for_each(|thing| thing.decide(granted, access))
    }
}

/// What is to be granted.
pub(crate) struct Granted<'a> {
    pub(crate) identity: FileIdentity,
    pub(crate) is_directory: bool,
    /// It, and all that is mounted in it.
    pub(crate) places: &'a [Location],
}

impl Thing {
    fn decide(&self, granted: &Granted<'_>, access: Access) -> Result<(), String> {
        let Own { path, what, protection } = &self.own;
        let (path, writes) = (path.display(), access == Access::ReadWrite);
        let holds = |place: &Location| granted.places.iter().any(|granted| granted.holds(place));
        let is_it = self.found.is_some_and(|(identity, ..)| identity == granted.identity);
        let is_in_it = self.end.as_ref().is_some_and(|end| granted.places.iter().any(|granted| end.holds(granted)));
        if is_it && (writes || *protection != Protection::ReadOnly) {
            let verb = if writes { "write" } else { "see" };
            return Err(format!("it is `{path}`, {what}, which no box may {verb}"));
        }
        if is_in_it && (writes || *protection == Protection::Hidden) {
            return Err(format!("it lies in `{path}`, {what}, of which no box is granted anything"));
        }
        let reaches = match (writes, protection) {
            // Whoever can rename a directory on the way, or make what is not there, decides what the path leads to.
            (true, _) => self.end.iter().chain(&self.directories).any(holds),
            (false, Protection::Hidden) => self.end.as_ref().is_some_and(holds),
            (false, Protection::Private | Protection::ReadOnly) => false,
        };
        if reaches {
            let verb = if writes { "write or replace" } else { "see" };
            return Err(format!("it holds `{path}`, {what}, which no box may {verb}; grant what is needed beside it"));
        }
        match self.found {
            Some((identity, kind, names)) if *protection == Protection::Private && kind.is_file() && names > 1 => {
                if writes && granted.is_directory && identity.device == granted.identity.device {
                    return Err(format!(
                        "`{path}`, {what}, has {names} names (hard links), and one of them may be in it; give it one name \
                         only: copy it, and move the copy to its place"
                    ));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "own_tests.rs"]
mod tests;
