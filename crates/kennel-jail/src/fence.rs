//! Landlock, the second wall: the paths a process may touch even if a mount or a descriptor slipped through.

use crate::base;
use crate::error::{InStage, Stage, StageError};
use crate::spec::{self, INNER_HOME, JailSpec, Network};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// The newest version whose rights are known here; an older kernel enforces what it knows.
const NEWEST: ABI = ABI::V6;

/// The directories of every box that can be changed, if only as far as their files' permissions go.
const WRITABLE: [&str; 5] = ["/tmp", "/var/tmp", INNER_HOME, "/dev/pts", "/proc"];

/// What a process may touch.
pub(crate) struct Fence {
    readable: Vec<PathBuf>,
    devices: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    /// The TCP ports that may be connected to, if not all.
    ports: Option<Vec<u16>>,
}

impl Fence {
    /// Around a box with a root of its own: all that it shows may be read.
    pub(crate) fn around_root(spec: &JailSpec) -> Self {
        let root = PathBuf::from("/");
        let own = WRITABLE.iter().map(PathBuf::from).chain(spec.writable_root.then(|| root.clone()));
        let own = own.chain(spec.scratch.iter().map(|place| place.path.clone()));
        let writable = own.chain(targets(spec, spec::Access::ReadWrite)).collect();
        Self { readable: vec![root], devices: vec!["/dev".into()], writable, ports: ports(spec) }
    }

    /// Around a process on the host's own root: the base system, the grants and a scratch directory.
    pub(crate) fn on_host(spec: &JailSpec, scratch: &Path) -> Self {
        Self {
            readable: base::readable_paths().chain(targets(spec, spec::Access::ReadOnly)).collect(),
            devices: base::DEVICES.iter().map(PathBuf::from).collect(),
            writable: targets(spec, spec::Access::ReadWrite).chain([scratch.to_path_buf()]).collect(),
            ports: ports(spec),
        }
    }

    /// Confines the calling process.
    ///
    /// A standard stream that is a file may be opened again by its `/proc` name just as it was passed, no further.
    pub(crate) fn apply(&self, stdio: &[BorrowedFd<'_>]) -> Result<(), StageError> {
        self.confine(stdio).map_err(|_| Errno::INVAL).in_stage(Stage::Landlock, "")
    }

    fn confine(&self, stdio: &[BorrowedFd<'_>]) -> Result<(), landlock::RulesetError> {
        let everything = AccessFs::from_all(NEWEST);
        let read = AccessFs::from_read(NEWEST);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(everything)?
            .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
        if self.ports.is_some() {
            rules = rules.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
        }
        let mut rules = rules.create()?;
        for port in self.ports.iter().flatten() {
            rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
        let use_device = read | AccessFs::WriteFile | AccessFs::IoctlDev;
        for (paths, access) in [(&self.readable, read), (&self.devices, use_device), (&self.writable, everything)] {
            for path in paths {
                rules = allow(rules, path, access)?;
            }
        }
        for stream in stdio {
            if let Some(access) = reopening(*stream) {
                rules = rules.add_rule(PathBeneath::new(*stream, access))?;
            }
        }
        rules.restrict_self()?;
        Ok(())
    }
}

/// A box with a network of its own has nobody there to connect to but itself.
fn ports(spec: &JailSpec) -> Option<Vec<u16>> {
    spec.connect_ports.clone().filter(|_| spec.network == Network::On)
}

fn targets(spec: &JailSpec, access: spec::Access) -> impl Iterator<Item = PathBuf> {
    spec.grants.iter().filter(move |grant| grant.access == access).map(|grant| grant.target.clone())
}

fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    // What is not there cannot be touched either.
    let Ok(handle) = PathFd::new(path) else { return Ok(rules) };
    let is_file = rustix::fs::stat(path).is_ok_and(|stat| !FileType::from_raw_mode(stat.st_mode).is_dir());
    let access = if is_file { access & AccessFs::from_file(NEWEST) } else { access };
    rules.add_rule(PathBeneath::new(handle, access))
}

/// The rights to open a stream's file again that its descriptor already has.
fn reopening(stream: BorrowedFd<'_>) -> Option<BitFlags<AccessFs>> {
    let stat = rustix::fs::fstat(stream).ok()?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return None;
    }
    let flags = rustix::fs::fcntl_getfl(stream).ok()?;
    Some(match flags & OFlags::ACCMODE {
        OFlags::RDONLY => AccessFs::ReadFile.into(),
        OFlags::WRONLY => AccessFs::WriteFile | AccessFs::Truncate,
        _ => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate,
    })
}
