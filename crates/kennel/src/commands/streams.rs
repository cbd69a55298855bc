//! What of the caller's standard streams a box may have.

use crate::failure::Failure;
use kennel_box::EngineKind;
use rustix::fs::{FileType, fstat};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

/// Refuses streams through which a box could reach more than bytes, and puts a pipe in place of a file to read.
///
/// Whoever has a file open can change its mode and times, whatever it was opened for; the box of an ordinary user is
/// that user outside. A file to be written is given to be changed, and passes as it is.
pub(crate) fn check_and_relay(engine: EngineKind) -> Result<Option<OwnedFd>, Failure> {
    if engine == EngineKind::Host {
        return Ok(None);
    }
    let failed = |source| Failure::System { what: "looking at the standard streams", source };
    let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    for (name, stream) in [("input", stdin.as_fd()), ("output", stdout.as_fd()), ("error", stderr.as_fd())] {
        let kind = FileType::from_raw_mode(fstat(stream).map_err(|errno| failed(errno.into()))?.st_mode);
        if kind.is_dir() || kind.is_block_device() {
            let what = if kind.is_dir() { "directory" } else { "block device" };
            return Err(Failure::Argument(format!(
                "standard {name} is a {what}; a box can have files, pipes and terminals"
            )));
        }
    }
    let stat = fstat(&stdin).map_err(|errno| failed(errno.into()))?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Ok(None);
    }
    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
    let mut from = File::from(stdin.as_fd().try_clone_to_owned().map_err(failed)?);
    // Ends with the file, with the command's interest in it, or with Kennel.
    std::thread::spawn(move || std::io::copy(&mut from, &mut File::from(ours)));
    Ok(Some(theirs))
}
