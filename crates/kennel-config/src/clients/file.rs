//! Owns how a file is replaced: all or nothing, its mode and its links kept, and what was there kept beside it.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// New files may hold secrets: they are the user's alone.
const PRIVATE: u32 = 0o600;
/// How many copies of one second are told apart.
const MOST_BACKUPS: u32 = 100;
/// How many links lead to a file at most, as for the kernel.
const MOST_LINKS: usize = 40;

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system refused something.
    #[error("{} was not changed: {what} failed: {source}", .file.display())]
    System {
        /// The file.
        file: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// Somebody else changed the file meanwhile.
    #[error("{} was changed by somebody else meanwhile, so it was left as it is; try again", .file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file itself, at the end of all links.
    pub file: PathBuf,
    /// The copy of what was there; `None` if nothing was.
    pub backup: Option<PathBuf>,
}

/// Replaces a file that still says `before` (`None`: is still not there).
pub fn replace(file: &Path, before: Option<&[u8]>, after: &[u8], now: SystemTime) -> Result<Written, WriteError> {
    let target = followed(file)?;
    let failed = |what| {
        let file = target.clone();
        move |source| WriteError::System { file, what, source }
    };
    let directory = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(failed("making its directory"))?;
    let current = match fs::read(&target) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(source) => return Err(failed("reading it")(source)),
    };
    if current.as_deref() != before {
        return Err(WriteError::Changed { file: target });
    }
    let old = fs::metadata(&target).ok();
    let backup = match &current {
        Some(bytes) => Some(back_up(&target, bytes, old.as_ref(), now).map_err(failed("keeping a copy of it"))?),
        None => None,
    };
    put(&target, directory, after, old.as_ref()).map_err(failed("writing it"))?;
    Ok(Written { file: target, backup })
}

/// Where the links of a path end, whether something is there or not.
fn followed(file: &Path) -> Result<PathBuf, WriteError> {
    let failed = |what| move |source| WriteError::System { file: file.to_owned(), what, source };
    let mut target = std::path::absolute(file).map_err(failed("finding it"))?;
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("/")).join(link),
            Err(_) => return Ok(target),
        }
    }
    Err(failed("following its links")(std::io::Error::other("there are too many")))
}

fn back_up(target: &Path, bytes: &[u8], old: Option<&fs::Metadata>, now: SystemTime) -> std::io::Result<PathBuf> {
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stamp = stamp(now);
    for number in 1..=MOST_BACKUPS {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let backup = target.with_file_name(format!("{name}.bak-{stamp}{suffix}"));
        match File::create_new(&backup) {
            Ok(mut copy) => {
                copy.set_permissions(Permissions::from_mode(mode_of(old)))?;
                copy.write_all(bytes)?;
                copy.sync_all()?;
                return Ok(backup);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other("there are too many copies of this second"))
}

fn mode_of(old: Option<&fs::Metadata>) -> u32 {
    old.map_or(PRIVATE, |old| old.permissions().mode() & 0o7777)
}

/// A new file takes the place of the old one only when it is whole and on the disk.
fn put(target: &Path, directory: &Path, bytes: &[u8], old: Option<&fs::Metadata>) -> std::io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".kennel-").tempfile_in(directory)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        // Only root may give files away; to everybody else the file belongs already.
        let owner = (rustix::fs::Uid::from_raw(old.uid()), rustix::fs::Gid::from_raw(old.gid()));
        let _ = rustix::fs::fchown(file.as_file(), Some(owner.0), Some(owner.1));
    }
    file.as_file().set_permissions(Permissions::from_mode(mode_of(old)))?;
    file.as_file().sync_all()?;
    file.persist(target)?;
    File::open(directory)?.sync_all()
}

/// A time as digits that sort: `20261116T045611Z`.
pub(crate) fn stamp(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

/// The date so many days after the first of January 1970, by years that begin in March and eras of 400 years.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
