//! Owns whether a file can be written by somebody else than whoever operates Kennel: by a box, or by another user.

use crate::commands::belongings::Belongings;
use kennel_box::{Way, can_redirect};
use kennel_config::{Config, SystemSources};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The owner that a user namespace shows for all users that it does not know.
const UNKNOWN_USER: u32 = 65534;
/// Entries of such a directory can be replaced by their owners only.
const STICKY: u32 = 0o1000;
const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_ALL: u32 = 0o002;

/// Why a file may hold the words of somebody else, if it may: the first reason found.
pub(super) fn distrust(file: &Path, belongings: &Belongings, current: &Config) -> Option<String> {
    if let Some((server, path)) = belongings.box_that_redirects(file) {
        return Some(format!("the box of `{server}` can write `{}`", path.display()));
    }
    let sources = SystemSources::default();
    for (name, server) in current.enabled() {
        let written = server.written_paths(&current.directory, &sources);
        if let Some(path) = written.iter().find(|path| can_redirect(path, file)) {
            return Some(format!("the box of `{name}` is granted `{}` for writing", path.display()));
        }
    }
    for other in belongings.others().iter() {
        if let Some(path) = other.writes.iter().find(|path| can_redirect(path, file)) {
            let (pid, path) = (other.pid, path.display());
            return Some(format!("another Kennel (process {pid}) lets a box write `{path}`"));
        }
    }
    let path = writable_by_others(file)?;
    Some(format!("other users can write `{}`", path.display()))
}

/// The first thing on the way to a file that another user can write or replace.
fn writable_by_others(file: &Path) -> Option<PathBuf> {
    let Way { directories, end, .. } = Way::follow(file);
    let all = directories.into_iter().chain([end]);
    let users = Users::current();
    all.into_iter().find(|path| path.symlink_metadata().is_ok_and(|found| users.others_can_write(&found)))
}

/// Who counts as the operator.
struct Users {
    own: u32,
    is_in_user_namespace: bool,
    accounts: String,
    groups: String,
}

impl Users {
    fn current() -> Self {
        let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
        Self {
            own: rustix::process::geteuid().as_raw(),
            is_in_user_namespace: map.split_whitespace().ne(["0", "0", "4294967295"]),
            accounts: read("/etc/passwd"),
            groups: read("/etc/group"),
        }
    }

    fn others_can_write(&self, found: &Metadata) -> bool {
        let is_root = found.uid() == 0 || (self.is_in_user_namespace && found.uid() == UNKNOWN_USER);
        if found.uid() != self.own && !is_root {
            return true;
        }
        if found.is_dir() && found.mode() & STICKY != 0 {
            return false;
        }
        found.mode() & WRITABLE_BY_ALL != 0
            || (found.mode() & WRITABLE_BY_GROUP != 0 && !self.is_private_group(found.gid()))
    }

    /// Whether a group has nobody in it but the operator: on many systems each user has such a group, and files are made
    /// writable for it.
    fn is_private_group(&self, group: u32) -> bool {
        if group == 0 {
            return true;
        }
        let field = |line: &str, number: usize| line.split(':').nth(number).map(str::to_owned).unwrap_or_default();
        let has_number = |line: &&str, at: usize, number: u32| field(line, at).parse() == Ok(number);
        let mut sharing = self.accounts.lines().filter(|line| has_number(line, 3, group));
        let own_name = self.accounts.lines().find(|line| has_number(line, 2, self.own)).map(|line| field(line, 0));
        let Some(entry) = self.groups.lines().find(|line| has_number(line, 2, group)) else { return false };
        let members = field(entry, 3);
        let mut members = members.split(',').filter(|name| !name.is_empty());
        sharing.all(|line| has_number(&line, 2, self.own)) && members.all(|name| own_name.as_deref() == Some(name))
    }
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
