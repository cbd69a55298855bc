//! What of the caller's standard streams a box may have.

use crate::failure::Failure;
use kennel_box::EngineKind;
use rustix::fs::{FileType, fstat};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A pipe in place of a file to read.
///
/// Whoever has a file open can change its mode and times, whatever it was opened for; the box of an ordinary user is
/// that user outside. A file to be written is given to be changed, and passes as it is.
pub(crate) struct Relay {
    pub(crate) theirs: OwnedFd,
    ours: File,
    from: File,
}

impl Relay {
    /// Begins to pass the file on: not before the command runs, so that a box that was refused has taken nothing.
    pub(crate) fn begin(self) {
        let Self { ours: mut to, mut from, .. } = self;
        // Ends with the file, with the command's interest in it, or with Kennel.
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    }
}

/// Refuses streams through which a box could reach more than bytes, and relays standard input where it is a file.
pub(crate) fn check(engine: EngineKind) -> Result<Option<Relay>, Failure> {
    if engine == EngineKind::Host {
        return Ok(None);
    }
    let failed = |source| Failure::System { what: "looking at the standard streams", source };
    let kind = |stream: BorrowedFd<'_>| match fstat(stream) {
        Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode)),
        Err(errno) => Err(failed(errno.into())),
    };
    let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    for (name, stream) in [("input", stdin.as_fd()), ("output", stdout.as_fd()), ("error", stderr.as_fd())] {
        let what = match kind(stream)? {
            FileType::Directory => "directory",
            FileType::BlockDevice => "block device",
            _ => continue,
        };
        let problem = format!("standard {name} is a {what}; a box can have files, pipes and terminals");
        return Err(Failure::Argument(problem));
    }
    if kind(stdin.as_fd())? != FileType::RegularFile {
        return Ok(None);
    }
    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
    let from = stdin.as_fd().try_clone_to_owned().map_err(failed)?;
    Ok(Some(Relay { theirs, ours: ours.into(), from: from.into() }))
}
