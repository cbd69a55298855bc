//! What the maker of boxes is told: one box, and one process in it.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The user and group id that a process has inside a box, whoever runs Kennel.
pub const INNER_ID: u32 = 1000;

/// The home directory inside a box: empty, writable, gone with the box.
pub const INNER_HOME: &str = "/home/kennel";

/// One box. Everything in it is already checked; the jail carries it out or refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JailSpec {
    /// Whether the box shares the host's network.
    pub network: Network,
    /// The TCP ports that the box may connect to where it shares the host's network, and then it may listen on none;
    /// all where nothing is said.
    pub connect_ports: Option<Vec<u16>>,
    /// Paths of the host that the box sees beside the base system.
    pub grants: Vec<Grant>,
    /// Directories that are there, with nothing in them but what was granted.
    pub directories: Vec<PathBuf>,
    /// Empty places beside those that every box has.
    pub scratch: Vec<ScratchPlace>,
    /// What the box may use up.
    pub limits: Limits,
    /// Whether the root of the box, apart from what is mounted on it, can be written.
    pub writable_root: bool,
    /// Walls whose absence the definition accepts.
    pub accept_missing: Vec<Wall>,
}

/// Which walls stand around a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// All of them: namespaces, a root of its own, seccomp, Landlock, no privileges.
    Full,
    /// Landlock, seccomp and dropped privileges on the host's own root: weaker, for machines without user namespaces,
    /// and only where the definition accepts it.
    Fenced,
    /// None: the process is supervised and reaped, but may do whatever the user may.
    None,
}

/// What a box sees of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// A loopback interface of its own and nothing else.
    #[default]
    Off,
    /// The host's network, its loopback included.
    On,
}

/// A path of the host made visible in the box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The path outside, absolute and free of symlinks.
    #[serde(with = "raw_path")]
    pub source: PathBuf,
    /// The device and inode that were checked; a path that has become another file is refused.
    pub identity: FileIdentity,
    /// The path inside.
    #[serde(with = "raw_path")]
    pub target: PathBuf,
    /// Whether the box may change what is there.
    pub access: Access,
    /// Whether the box acts as the owner of the path, where Kennel runs as root and can arrange it.
    pub as_owner: bool,
}

/// A directory of the box's own: empty, writable, gone with the box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScratchPlace {
    /// The path inside.
    #[serde(with = "raw_path")]
    pub path: PathBuf,
    /// Bytes that it may hold.
    pub size: u64,
}

/// What the box may do with a granted path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Look, and execute.
    ReadOnly,
    /// Change as well.
    ReadWrite,
}

/// A file by what it is, not by how it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// The device number.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
}

/// What a box may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory for the whole box, without swap.
    pub memory: u64,
    /// Processes and threads in the box, its init not counted.
    pub pids: u32,
    /// Processor time in thousandths of one processor.
    pub milli_cpus: u32,
    /// Open descriptors of one process.
    pub open_files: u64,
    /// Bytes that `/tmp`, `/var/tmp` and the home directory may hold, each.
    pub scratch: u64,
}

/// A wall that a definition may accept to be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// Everything that needs namespaces, where the machine does not let this user have them.
    Namespaces,
    /// The processor limit, where there are no cgroups and it is not a whole number of processors.
    Cpu,
}

/// The walls a box really has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Namespaces, own root, seccomp and dropped privileges.
    pub isolation: Isolation,
    /// What holds the memory limit.
    pub memory: Hold,
    /// What holds the limit on processes.
    pub pids: Hold,
    /// What holds the processor limit.
    pub cpu: Hold,
    /// The version of Landlock in force as the second wall.
    pub landlock: Option<u32>,
    /// Descriptors that a process may have open: fewer than asked for where Kennel itself may have no more.
    pub open_files: u64,
    /// What holds the box to the TCP ports that it may connect to.
    pub ports: PortWall,
}

/// What holds a box to the TCP ports that it may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortWall {
    /// Nothing needs to: it has no network of the host's, or may connect to any.
    NotAsked,
    /// Landlock.
    Landlock,
    /// Nothing: this kernel's Landlock knows no ports. Linux 6.7 or newer is needed.
    Missing,
}

/// What holds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// A cgroup of version 2.
    CgroupV2,
    /// A cgroup of version 1.
    CgroupV1,
    /// The box's init, which adds up what all processes use; memory has a limit per process as well.
    Watchdog,
    /// A limit that the kernel counts per user namespace, so per box.
    Rlimit,
    /// The box is pinned to as many processors as it may use.
    Affinity,
    /// Nothing; the definition accepts that.
    Nothing,
}

/// One process to start in a box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// The program and its arguments; a program without a slash is looked up on `PATH`.
    pub argv: Vec<OsString>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where it starts.
    #[serde(with = "raw_path")]
    pub cwd: PathBuf,
    /// Milliseconds after which it is ended.
    pub deadline_ms: Option<u64>,
    /// How its terminal is set up before it starts, where it gets one.
    pub terminal: Option<TerminalSettings>,
}

/// The size and the modes of a terminal, in the words of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSettings {
    /// Lines.
    pub rows: u16,
    /// Letters in a line.
    pub columns: u16,
    /// What is done to what is typed.
    pub input: u32,
    /// What is done to what is shown.
    pub output: u32,
    /// How a person edits and interrupts.
    pub local: u32,
}

/// Paths as their bytes: serde's own form takes only text.
mod raw_path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(deserializer).map(PathBuf::from)
    }
}

impl ProcessSpec {
    /// Moves home and scratch to a directory of the host, for a box that has no root of its own.
    pub(crate) fn live_in(&mut self, directory: &Path) {
        for (name, value) in &mut self.env {
            if (name == "HOME" && value == INNER_HOME) || (name == "TMPDIR" && value == "/tmp") {
                directory.as_os_str().clone_into(value);
            }
        }
        if self.cwd == Path::new(INNER_HOME) {
            self.cwd = directory.to_path_buf();
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CgroupV2 => "cgroup v2",
            Self::CgroupV1 => "cgroup v1",
            Self::Watchdog => "watchdog (fall-back)",
            Self::Rlimit => "rlimit (fall-back)",
            Self::Affinity => "processor affinity (fall-back)",
            Self::Nothing => "nothing (accepted)",
        })
    }
}
