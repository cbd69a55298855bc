//! What every box shows of the host: the base system, a small `/etc` and a minimal `/dev`.
//!
//! `/etc` and `/dev` are put together once, on a workbench in the helper's own mount namespace, and cloned whole for
//! each box: a mount made anew for every file and device would cost more than anything else about a box.

use crate::error::{InStage, Stage, StageError};
use crate::root::{Builder, Node, READ_ONLY, clone_tree, new_mount, set_attributes};
use crate::spec::{INNER_HOME, INNER_ID, Network};
use rustix::fd::OwnedFd;
use rustix::fs::CWD;
use rustix::mount::{MountAttrFlags, MoveMountFlags, move_mount};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the workbench hangs in the helper's namespace: a directory that every Linux has and the helper never needs.
const WORKBENCH: &str = "/dev/pts";

/// The base system: directories that every box shows read-only, or as the links they are.
pub const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/// Directories of `/etc` that programs need; nothing here names users, hosts or secrets.
const ETC_DIRECTORIES: [&str; 6] = [
    "/etc/alternatives",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
];

/// Files of `/etc` that programs need, copied.
const ETC_FILES: [&str; 12] = [
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/ld.so.cache",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// The largest file that is copied; a larger one is left out.
const LARGEST_COPY: u64 = 1024 * 1024;

/// The devices of every box.
pub(crate) const DEVICES: [&str; 6] =
    ["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];

/// Links of the box's own; the names of hosts are each box's own files, because they depend on its network.
const LINKS: [(&str, &str); 8] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/ptmx", "pts/ptmx"),
    ("/dev/shm", "/tmp"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/etc/hosts", "/run/kennel/hosts"),
    ("/etc/resolv.conf", "/run/kennel/resolv.conf"),
];

/// What a box without a root of its own may read of the host's.
pub(crate) fn readable_paths() -> impl Iterator<Item = PathBuf> {
    let names = ["/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf", "/proc"];
    let all = SYSTEM.iter().chain(&ETC_DIRECTORIES).chain(&ETC_FILES).copied().chain(names);
    all.map(PathBuf::from)
}

/// The parts that all boxes of a helper share.
pub(crate) struct Base {
    workbench: OwnedFd,
}

impl Base {
    /// Puts the shared parts together. The calling process must have a mount namespace of its own.
    pub(crate) fn build() -> Result<Self, StageError> {
        let options = [("size", "8m"), ("nr_inodes", "1k"), ("mode", "0755")];
        let workbench = new_mount("tmpfs", &options, MountAttrFlags::empty()).in_stage(Stage::Mount, WORKBENCH)?;
        move_mount(&workbench, "", CWD, WORKBENCH, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
            .in_stage(Stage::Mount, WORKBENCH)?;
        let builder = Builder::new(workbench)?;
        for path in ETC_DIRECTORIES.iter().chain(&ETC_FILES).map(Path::new) {
            if let Some(node) = open_system(path)? {
                builder.add(node)?;
            }
        }
        for path in DEVICES {
            let tree = clone_tree(CWD, path).in_stage(Stage::Mount, path)?;
            let attributes = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
            set_attributes(&tree, attributes, None).in_stage(Stage::Mount, path)?;
            builder.add(Node::Tree { at: path.into(), tree, directory: false, owner: None })?;
        }
        for (at, to) in LINKS {
            builder.add(Node::Link { at: at.into(), to: to.into() })?;
        }
        for (at, text) in own_files() {
            builder.add(Node::File { at: at.into(), content: text.into_bytes() })?;
        }
        builder.directory(Path::new("/dev/pts"))?;
        Ok(Self { workbench: builder.into_root() })
    }

    /// The base of one box.
    pub(crate) fn nodes(&self, network: Network) -> Result<Vec<Node>, StageError> {
        let mut nodes = Vec::new();
        for path in SYSTEM.iter().map(Path::new) {
            nodes.extend(open_system(path)?);
        }
        for name in ["etc", "dev"] {
            let tree = clone_tree(&self.workbench, name).in_stage(Stage::Mount, name)?;
            set_attributes(&tree, libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID, None)
                .in_stage(Stage::Mount, name)?;
            nodes.push(Node::Tree { at: Path::new("/").join(name), tree, directory: true, owner: None });
        }
        nodes.extend(host_names(network));
        Ok(nodes)
    }
}

/// A path of the base system as it is: a link, a small file, or a directory to be mounted read-only.
fn open_system(path: &Path) -> Result<Option<Node>, StageError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(None) };
    let at = path.to_path_buf();
    if metadata.is_symlink() {
        let to = fs::read_link(path).in_stage(Stage::Mount, path.display())?;
        return Ok(Some(Node::Link { at, to }));
    }
    if metadata.is_file() {
        // One that is too large or that the user may not read is as good as absent.
        let content = if metadata.len() <= LARGEST_COPY { fs::read(path).ok() } else { None };
        return Ok(content.map(|content| Node::File { at, content }));
    }
    let tree = clone_tree(CWD, path).in_stage(Stage::Mount, path.display())?;
    set_attributes(&tree, READ_ONLY, None).in_stage(Stage::Mount, path.display())?;
    Ok(Some(Node::Tree { at, tree, directory: true, owner: None }))
}

/// The files that describe the box to the programs in it; none of them says anything of the host.
fn own_files() -> [(&'static str, String); 3] {
    let passwd = format!(
        "root:x:0:0:root:/root:/usr/sbin/nologin\n\
         kennel:x:{INNER_ID}:{INNER_ID}:kennel:{INNER_HOME}:/bin/sh\n\
         nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    );
    let group = format!("root:x:0:\nkennel:x:{INNER_ID}:\nnogroup:x:65534:\n");
    [("/etc/passwd", passwd), ("/etc/group", group), ("/etc/hostname", "kennel\n".to_owned())]
}

/// Who is who on the network that the box sees; what the host knows of that is part of its network.
fn host_names(network: Network) -> Vec<Node> {
    let file = |name: &str, content| Node::File { at: PathBuf::from("/run/kennel").join(name), content };
    match network {
        Network::Off => vec![file("hosts", b"127.0.0.1 localhost kennel\n::1 localhost\n".to_vec())],
        Network::On => ["hosts", "resolv.conf"]
            .into_iter()
            .filter_map(|name| Some(file(name, fs::read(Path::new("/etc").join(name)).ok()?)))
            .collect(),
    }
}
