//! Owns where the socket of a gateway is, and that there is one gateway for it.

use crate::commands::server::data_directory;
use crate::failure::Failure;
use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Where a gateway listens for its operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SocketPlace(PathBuf);

/// The socket, taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) listener: UnixListener,
    place: SocketPlace,
    /// Held as long as this process lives, however it ends.
    #[expect(dead_code, reason = "held, not used")]
    lock: File,
}

impl SocketPlace {
    /// The one that is named; else in the data directory that is named; else where sockets of a user are, or in the usual
    /// data directory. A file has no say in this, so that commands find a gateway without reading one.
    pub(crate) fn find(named: Option<&Path>, data: Option<&Path>) -> Result<Self, Failure> {
        if let Some(named) = named {
            let path = std::path::absolute(named);
            return path.map(Self).map_err(|source| Failure::System { what: "finding --socket", source });
        }
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        match (data, runtime) {
            (None, Some(runtime)) => Ok(Self(runtime.join("kennel/admin.sock"))),
            (data, _) => Ok(Self(data_directory(data)?.join("run/admin.sock"))),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Takes the place, unless a gateway that lives has it.
    pub(super) fn take(&self) -> Result<Taken, Failure> {
        let path = self.path();
        let failed = |error: io::Error| {
            let hint = match error.kind() {
                io::ErrorKind::InvalidInput => "; its path is too long: name a shorter one with --socket",
                _ => "; name another place with --socket",
            };
            Failure::Argument(format!("the admin socket {} cannot be made: {error}{hint}", path.display()))
        };
        let directory = path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let beside = |ending: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(beside(".lock"));
        let lock = lock.map_err(failed)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Failure::Argument(format!(
                "another Kennel already serves with the admin socket {}\n  hint: change its servers with `kennel reload` \
                 after editing its file, see them with `kennel ps`, or run a second one with --socket PATH and --listen",
                path.display()
            )));
        }
        // Made under another name, so that it is nobody's before it is only ours; whatever is there is dead.
        let (new, listener) = (beside(".new"), |place: &Path| UnixListener::bind(place));
        let _ = std::fs::remove_file(&new);
        let listener = listener(&new).map_err(failed)?;
        std::fs::set_permissions(&new, Permissions::from_mode(0o600)).map_err(failed)?;
        std::fs::rename(&new, path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Taken { listener, place: self.clone(), lock })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // While the lock is held: what is there is ours. The file of the lock stays, for another may wait for it.
        let _ = std::fs::remove_file(self.place.path());
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
