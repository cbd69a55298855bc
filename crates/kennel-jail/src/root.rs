//! The box's root: granted paths, opened outside by the helper, and all of it put together inside by the init.

use crate::error::{InStage, Stage, StageError};
use crate::spec::{Access, FileIdentity, Grant, INNER_HOME, JailSpec};
use crate::standing::{Owner, Standing};
use crate::sys;
use rustix::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};
use rustix::process::Pid;
use std::fs;
use std::path::{Path, PathBuf};

/// The bytes and files the root itself may hold: mount points, links and a few small files.
const ROOT_OPTIONS: [(&str, &str); 3] = [("size", "4m"), ("nr_inodes", "16k"), ("mode", "0755")];
/// A scratch directory holds at most one file per this many bytes, so that empty files cannot fill memory.
const BYTES_PER_FILE: u64 = 4096;

/// The terminals of one box: the machine has some thousands for all.
const MOST_TERMINALS: &str = "32";

/// One thing in the root of a box.
pub(crate) enum Node {
    /// A link, as it is on the host.
    Link { at: PathBuf, to: PathBuf },
    /// A small file of the box's own.
    File { at: PathBuf, content: Vec<u8> },
    /// Something of the host, cloned into a mount that is not attached yet.
    Tree { at: PathBuf, tree: OwnedFd, directory: bool, owner: Option<Owner> },
}

impl Node {
    /// The descriptor that the node holds.
    pub(crate) fn descriptor(&self) -> Option<RawFd> {
        match self {
            Self::Tree { tree, .. } => Some(tree.as_raw_fd()),
            Self::Link { .. } | Self::File { .. } => None,
        }
    }
}

/// Opens what a box was granted. Done outside, where the paths mean what they say.
pub(crate) fn open_grants(spec: &JailSpec) -> Result<Vec<Node>, StageError> {
    let mut grants = spec.grants.iter().collect::<Vec<_>>();
    // What is mounted inside another grant comes after it.
    grants.sort_by_key(|grant| grant.target.components().count());
    grants.into_iter().map(open_grant).collect()
}

fn open_grant(grant: &Grant) -> Result<Node, StageError> {
    let source = &grant.source.display();
    let handle = rustix::fs::openat2(
        CWD,
        &grant.source,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    )
    .in_stage(Stage::Grant, source)?;
    let stat = rustix::fs::fstat(&handle).in_stage(Stage::Grant, source)?;
    if grant.identity != (FileIdentity { device: stat.st_dev, inode: stat.st_ino }) {
        return Err(Errno::STALE).in_stage(Stage::Grant, source);
    }
    let tree = clone_tree(&handle, "").in_stage(Stage::Grant, source)?;
    let attributes = match grant.access {
        Access::ReadOnly => READ_ONLY,
        Access::ReadWrite => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
    };
    set_attributes(&tree, attributes, None).in_stage(Stage::Grant, source)?;
    let directory = FileType::from_raw_mode(stat.st_mode).is_dir();
    let owner = grant.as_owner.then_some(Owner { uid: stat.st_uid, gid: stat.st_gid });
    Ok(Node::Tree { at: grant.target.clone(), tree, directory, owner })
}

/// Lets a box act as the owner of what it was granted to be. The mounts must not be attached yet.
pub(crate) fn map_owners(grants: &[Node], standing: &Standing, init: Pid) -> Result<(), StageError> {
    for node in grants {
        let Node::Tree { at, tree, owner: Some(owner), .. } = node else { continue };
        let Some(namespace) = standing.owner_namespace(*owner, init) else { continue };
        // Some file systems cannot be shown with another owner; there the plain permissions decide.
        match set_attributes(tree, libc::MOUNT_ATTR_IDMAP, Some(&namespace)) {
            Err(Errno::INVAL | Errno::PERM) => {}
            other => other.in_stage(Stage::Grant, at.display())?,
        }
    }
    Ok(())
}

/// The attributes of what is shown and must not be changed.
pub(crate) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Clones a path, with all that is mounted beneath it, into a mount that is not attached yet.
pub(crate) fn clone_tree(directory: impl AsFd, path: impl AsRef<Path>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(directory, path.as_ref(), flags)
}

/// Sets attributes of a mount and of all beneath it; with an owner, whose files become those of the box.
pub(crate) fn set_attributes(mount: impl AsFd, set: u64, owner: Option<&OwnedFd>) -> Result<(), Errno> {
    let userns_fd = owner.map_or(0, |namespace| namespace.as_raw_fd().unsigned_abs().into());
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd };
    sys::mount_setattr(mount, true, &attributes)
}

/// Puts the root together in the calling process's own mount namespace and moves there for good.
pub(crate) fn enter(base: Vec<Node>, grants: Vec<Node>, spec: &JailSpec) -> Result<(), StageError> {
    let own_size = spec.limits.scratch;
    let root = if spec.writable_root {
        scratch_space(own_size, "0755")
    } else {
        new_mount("tmpfs", &ROOT_OPTIONS, MountAttrFlags::empty())
    }
    .in_stage(Stage::Mount, "/")?;
    // Any directory will do to hang the new root from until the old one is gone; every Linux has this one.
    move_mount(&root, "", CWD, "/proc", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).in_stage(Stage::Mount, "/")?;
    let mut builder = Builder::new(root)?;
    for node in base {
        builder.add(node)?;
    }
    // Not a link to /tmp: a grant may lie in either, and no mount follows a link.
    let own = [("/tmp", "1777"), ("/var/tmp", "1777"), (INNER_HOME, "0700")];
    let own = own.map(|(at, mode)| (Path::new(at), own_size, mode));
    let mut asked = spec.scratch.iter().map(|place| (place.path.as_path(), place.size, "0755")).collect::<Vec<_>>();
    // What lies in another place comes after it.
    asked.sort_by_key(|(at, ..)| at.components().count());
    for (at, size, mode) in own.into_iter().chain(asked) {
        let mount = scratch_space(size, mode).in_stage(Stage::Mount, at.display())?;
        builder.own.push(device(&mount).in_stage(Stage::Mount, at.display())?);
        builder.attach(at, &mount, true)?;
    }
    let terminals = new_mount(
        "devpts",
        &[("newinstance", ""), ("ptmxmode", "0666"), ("mode", "0620"), ("max", MOST_TERMINALS)],
        MountAttrFlags::MOUNT_ATTR_NOEXEC,
    )
    .in_stage(Stage::Mount, "/dev/pts")?;
    builder.attach(Path::new("/dev/pts"), &terminals, true)?;
    let processes = new_mount("proc", &[], MountAttrFlags::MOUNT_ATTR_NOEXEC).in_stage(Stage::Proc, "")?;
    builder.attach(Path::new("/proc"), &processes, true)?;
    for node in grants {
        builder.add(node)?;
    }
    for directory in &spec.directories {
        builder.directory(directory)?;
    }
    builder.finish(spec.writable_root)
}

fn scratch_space(size: u64, mode: &str) -> Result<OwnedFd, Errno> {
    let files = (size / BYTES_PER_FILE).max(64).to_string();
    let options = [("size", size.to_string()), ("nr_inodes", files), ("mode", mode.to_owned())];
    new_mount("tmpfs", &options.each_ref().map(|(key, value)| (*key, value.as_str())), MountAttrFlags::empty())
}

/// Makes a file system that is not attached yet.
pub(crate) fn new_mount(kind: &str, options: &[(&str, &str)], attributes: MountAttrFlags) -> Result<OwnedFd, Errno> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        if value.is_empty() {
            rustix::mount::fsconfig_set_flag(&context, *key)?;
        } else {
            fsconfig_set_string(&context, *key, *value)?;
        }
    }
    fsconfig_create(&context)?;
    // Terminals are devices; the kernel makes those of this file system itself, and none can be added.
    let devices = if kind == "devpts" { MountAttrFlags::empty() } else { MountAttrFlags::MOUNT_ATTR_NODEV };
    let attributes = attributes | devices | MountAttrFlags::MOUNT_ATTR_NOSUID;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// A root under construction.
pub(crate) struct Builder {
    root: OwnedFd,
    /// The devices of the box's own file systems, in which mount points may be made.
    own: Vec<u64>,
}

impl Builder {
    pub(crate) fn new(root: OwnedFd) -> Result<Self, StageError> {
        let own = vec![device(&root).in_stage(Stage::Mount, "/")?];
        Ok(Self { root, own })
    }

    pub(crate) fn into_root(self) -> OwnedFd {
        self.root
    }

    /// Puts one thing in its place.
    pub(crate) fn add(&self, node: Node) -> Result<(), StageError> {
        match node {
            Node::Link { at, to } => {
                let (parent, name) = self.parent(&at)?;
                rustix::fs::symlinkat(&to, &parent, &name).in_stage(Stage::Mount, at.display())
            }
            Node::File { at, content } => {
                let (parent, name) = self.parent(&at)?;
                let file = create_file(&parent, &name).in_stage(Stage::Mount, at.display())?;
                std::io::Write::write_all(&mut fs::File::from(file), &content).in_stage(Stage::Mount, at.display())
            }
            Node::Tree { at, tree, directory, .. } => self.attach(&at, &tree, directory),
        }
    }

    /// Mounts a tree at a path of the new root, making the mount point where it is the root's own to make.
    fn attach(&self, at: &Path, tree: &OwnedFd, directory: bool) -> Result<(), StageError> {
        let point = if directory {
            self.directory(at)?
        } else {
            let (parent, name) = self.parent(at)?;
            match open_beneath(&parent, &name) {
                Err(Errno::NOENT) => {
                    self.must_own(&parent, at)?;
                    create_file(&parent, &name)
                }
                other => other,
            }
            .in_stage(Stage::Mount, at.display())?
        };
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(tree, "", &point, "", flags).in_stage(Stage::Mount, at.display())
    }

    /// Opens a directory of the new root, making what is missing of its path. No symlink is followed: a granted
    /// directory may hold any, planted to lead the mount elsewhere.
    pub(crate) fn directory(&self, path: &Path) -> Result<OwnedFd, StageError> {
        let relative = path.strip_prefix("/").ok().filter(|path| *path != Path::new("")).unwrap_or(Path::new("."));
        match open_beneath(&self.root, relative) {
            Err(Errno::NOENT) => {
                let (parent, name) = self.parent(path)?;
                self.must_own(&parent, path)?;
                rustix::fs::mkdirat(&parent, &name, Mode::from_raw_mode(0o755))
                    .and_then(|()| open_beneath(&parent, &name))
                    .in_stage(Stage::Mount, path.display())
            }
            other => other.in_stage(Stage::Mount, path.display()),
        }
    }

    fn parent(&self, path: &Path) -> Result<(OwnedFd, std::ffi::OsString), StageError> {
        let name = path.file_name().ok_or(Errno::INVAL).in_stage(Stage::Mount, path.display())?;
        Ok((self.directory(path.parent().unwrap_or(Path::new("/")))?, name.to_owned()))
    }

    /// Refuses to make a mount point in a directory of the host.
    fn must_own(&self, directory: &OwnedFd, path: &Path) -> Result<(), StageError> {
        let device = device(directory).in_stage(Stage::Mount, path.display())?;
        if self.own.contains(&device) { Ok(()) } else { Err(Errno::NOENT).in_stage(Stage::Mount, path.display()) }
    }

    /// Seals the root and leaves the host's behind.
    fn finish(self, writable: bool) -> Result<(), StageError> {
        if !writable {
            let read_only =
                libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
            sys::mount_setattr(&self.root, false, &read_only).in_stage(Stage::Mount, "/")?;
        }
        rustix::process::fchdir(&self.root).in_stage(Stage::PivotRoot, "")?;
        // With both arguments the same the old root ends up on top of the new one, from where it is taken off.
        rustix::process::pivot_root(".", ".").in_stage(Stage::PivotRoot, "")?;
        rustix::mount::unmount(".", UnmountFlags::DETACH).in_stage(Stage::PivotRoot, "")?;
        rustix::process::chdir("/").in_stage(Stage::PivotRoot, "")
    }
}

fn device(file: &OwnedFd) -> Result<u64, Errno> {
    rustix::fs::fstat(file).map(|stat| stat.st_dev)
}

fn open_beneath(directory: &OwnedFd, path: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    rustix::fs::openat2(
        directory,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    )
}

fn create_file(directory: &OwnedFd, name: &std::ffi::OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(0o644))
}
