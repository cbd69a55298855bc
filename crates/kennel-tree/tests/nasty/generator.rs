//! Makes trees that nobody would want: by chance, or of one extreme shape.

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat};
use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Something in a tree.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    File(Vec<u8>),
    /// A file of nothing but holes.
    Sparse(u64),
    Fifo,
    Socket,
    /// A device, where the maker may make one; else a pipe.
    Device,
    Link(Link),
    /// Another name for the file that is outside.
    HardLink,
    /// Directories in one another.
    Chain(u16),
    /// Many small files.
    Wide(u16),
    Directory(Vec<(Vec<u8>, Node)>),
    /// Something with other permissions.
    Mode(u32, Box<Node>),
}

#[derive(Debug, Clone)]
pub(crate) enum Link {
    Outside,
    OutsideFile,
    Root,
    Parent,
    Itself,
    Up,
    Absent,
    Neighbour(Vec<u8>),
}

pub(crate) fn tree() -> impl Strategy<Value = Vec<(Vec<u8>, Node)>> {
    let leaf = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..2000).prop_map(Node::File),
        1 => (0_u64..(4 << 40)).prop_map(Node::Sparse),
        1 => Just(Node::Fifo),
        1 => Just(Node::Socket),
        1 => Just(Node::Device),
        2 => link().prop_map(Node::Link),
        1 => Just(Node::HardLink),
        1 => (1_u16..400).prop_map(Node::Chain),
        1 => (1_u16..400).prop_map(Node::Wide),
    ];
    let node = leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            3 => prop::collection::vec((name(), inner.clone()), 0..8).prop_map(Node::Directory),
            1 => (mode(), inner).prop_map(|(mode, node)| Node::Mode(mode, Box::new(node))),
        ]
    });
    prop::collection::vec((name(), node), 0..10)
}

fn mode() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0o000), Just(0o111), Just(0o444), Just(0o555), Just(0o4755), Just(0o1777), 0_u32..0o7777]
}

fn link() -> impl Strategy<Value = Link> {
    prop_oneof![
        Just(Link::Outside),
        Just(Link::OutsideFile),
        Just(Link::Root),
        Just(Link::Parent),
        Just(Link::Itself),
        Just(Link::Up),
        Just(Link::Absent),
        name().prop_map(Link::Neighbour),
    ]
}

/// Names that are allowed, and no more than that.
fn name() -> impl Strategy<Value = Vec<u8>> {
    const CHOSEN: &[&[u8]] = &[
        b"plain",
        b"new\nline",
        b"\x1b]0;title\x07",
        b"\xff\xfe",
        b" ",
        b"-rf",
        b"%41",
        b"...",
        b"*",
        b"\\",
        b"'\"",
        b".kennel-1",
        b".kennel-2",
        b".kennel-new",
        b"files",
        "\u{202e}txt".as_bytes(),
        &[b'n'; 255],
    ];
    prop_oneof![
        2 => prop::sample::select(CHOSEN).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>().prop_filter("no name has it", |byte| !b"/\0".contains(byte)), 1..40)
            .prop_filter("it means something else", |name| name != b"." && name != b".."),
    ]
}

/// Makes what was thought up; what a file system refuses is left out.
pub(crate) fn make(parent: &Path, outside: &Path, nodes: &[(Vec<u8>, Node)]) {
    for (name, node) in nodes {
        let path = parent.join(OsStr::from_bytes(name));
        // Another may have the name.
        if path.symlink_metadata().is_err() {
            make_node(&path, outside, node);
        }
    }
}

fn make_node(path: &Path, outside: &Path, node: &Node) {
    let special = |kind, mode| {
        let _ = mknodat(CWD, path, kind, Mode::from_raw_mode(mode), rustix::fs::makedev(1, 5));
    };
    match node {
        Node::File(content) => fs::write(path, content).unwrap(),
        Node::Sparse(size) => sparse(path, *size),
        Node::Device if rustix::process::geteuid().is_root() => special(FileType::CharacterDevice, 0o666),
        Node::Fifo | Node::Device => special(FileType::Fifo, 0o666),
        // The name of a socket must be short; where this one's is not, there is none.
        Node::Socket => drop(UnixListener::bind(path)),
        Node::Link(link) => make_link(path, outside, link),
        // Another owner's file may be protected from that.
        Node::HardLink => drop(fs::hard_link(outside.join("secret"), path)),
        Node::Chain(depth) => drop(chain(path, usize::from(*depth))),
        Node::Wide(count) => wide(path, usize::from(*count)),
        Node::Directory(nodes) => {
            fs::create_dir(path).unwrap();
            make(path, outside, nodes);
        }
        Node::Mode(mode, node) => {
            make_node(path, outside, node);
            let is_own = !matches!(**node, Node::Link(_) | Node::HardLink);
            if is_own && path.symlink_metadata().is_ok_and(|there| !there.is_symlink()) && !shares_inode(path) {
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
            }
        }
    }
}

/// Whether changing it would change what is outside.
fn shares_inode(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.symlink_metadata().is_ok_and(|there| there.is_file() && there.nlink() > 1)
}

fn make_link(path: &Path, outside: &Path, link: &Link) {
    let target = match link {
        Link::Outside => outside.to_path_buf(),
        Link::OutsideFile => outside.join("secret"),
        Link::Root => PathBuf::from("/"),
        Link::Parent => PathBuf::from("."),
        Link::Itself => PathBuf::from(path.file_name().unwrap()),
        Link::Up => PathBuf::from("../".repeat(50)),
        Link::Absent => PathBuf::from("no/such/thing"),
        Link::Neighbour(name) => PathBuf::from(OsStr::from_bytes(name)),
    };
    symlink(target, path).unwrap();
}

/// A file of holes.
pub(crate) fn sparse(path: &Path, size: u64) {
    fs::File::create(path).unwrap().set_len(size).unwrap();
}

/// So many files in one directory.
pub(crate) fn wide(path: &Path, count: usize) {
    fs::create_dir(path).unwrap();
    for number in 0..count {
        fs::write(path.join(number.to_string()), "").unwrap();
    }
}

/// So many directories in one another; returns the innermost.
pub(crate) fn chain(path: &Path, depth: usize) -> OwnedFd {
    let open = |at: &OwnedFd| {
        mkdirat(at, "d", Mode::RWXU).unwrap();
        openat(at, "d", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    };
    fs::create_dir(path).unwrap();
    let mut inner: OwnedFd = fs::File::open(path).unwrap().into();
    for _ in 0..depth {
        inner = open(&inner);
    }
    inner
}
