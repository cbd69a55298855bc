//! Owns the description of one attempt: what it needs and what it does without a box.

use std::fs;
use std::path::Path;

/// One way to break out of a box, as the program `kennel-hostile` tries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The name on the command line of `kennel-hostile`.
    pub name: &'static str,
    /// What is tried, in one line.
    pub description: &'static str,
    /// The arguments after the name, in order.
    pub arguments: &'static [Argument],
    /// What must surround the program beside its arguments.
    pub setting: Setting,
    /// What root sees without a box.
    pub as_root: HostExpectation,
    /// What an ordinary user sees without a box.
    pub as_user: HostExpectation,
    /// What differs from host to host.
    pub condition: Option<Condition>,
}

/// What the harness has to give as an argument. Everything is the harness's own and may be damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A directory that stands for the user's home, with at least one file, not granted to the box.
    HomeDirectory,
    /// A file that the box's user could read and write by its mode, not granted to the box.
    OutsideFile,
    /// A directory that the box's user could write to by its mode, not granted to the box.
    OutsideDirectory,
    /// A file granted to the box read-only, owned by the user that runs unconfined.
    ReadOnlyFile,
    /// A directory granted to the box read-only; never a mount point of the host.
    ReadOnlyDirectory,
    /// A directory granted to the box for writing; on the host on the file system of the outside files.
    WritableDirectory,
    /// A Unix stream socket in listening state, not granted to the box.
    UnixSocket,
    /// The name of an abstract Unix stream socket on which the harness listens.
    AbstractSocket,
    /// A process of the harness outside the box, of the same user; some attempts end it.
    /// Its number must not be in use inside the box.
    OutsidePid,
    /// An IP address of the host that is not a loopback address.
    HostAddress,
    /// A TCP port on which the harness listens.
    TcpPort,
    /// A UDP port on which the harness sends back what it gets.
    UdpPort,
    /// A block device of the host; it is opened, never read or written.
    BlockDevice,
    /// A set-user-id root copy of `/usr/bin/id`, visible inside the box.
    SetuidProgram,
    /// A directory granted to the box for writing that holds a set-user-id program `program` of the caller's.
    SetuidDirectory,
    /// The number of a System V shared memory segment of a process outside, open to everyone by its mode.
    SharedMemory,
    /// The number of a System V semaphore set of a process outside, open to everyone by its mode.
    Semaphores,
    /// The number of a System V message queue of a process outside, open to everyone by its mode, with a message in it.
    MessageQueue,
    /// The name of a POSIX message queue of a process outside, open to everyone by its mode, with a message in it.
    PosixQueue,
    /// How much a bomb asks for: processes, threads, descriptors, MiB, milliseconds or whatever else it piles up.
    Amount,
    /// The CPU milliseconds that the box's limit allows in that time.
    CpuAllowance,
}

/// What must surround the program beside its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Nothing.
    Plain,
    /// Standard input is a regular file opened for reading only, writable by its mode.
    FileOnStdin,
    /// Standard input is a directory that the box's user could write to by its mode, with a file `file` in it.
    DirectoryOnStdin,
    /// Standard input is the controlling terminal.
    TerminalOnStdin,
    /// Without a box, a descriptor above 2 is left open; an engine must close its own.
    LeakedDescriptor,
    /// Without a box, the harness gives a PID namespace whose init is its own
    /// (`unshare --pid --fork --mount-proc`), so that the machine's init is never touched.
    OwnInit,
}

/// Who runs the attempt without a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// User 0 with the usual capabilities.
    Root,
    /// Any other user, without capabilities.
    User,
}

/// What an attempt does without a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostExpectation {
    /// It works, so a box that stops it has done something.
    Escapes,
    /// The machine itself is in the way; nothing is asserted, and this is why.
    NotPossible(&'static str),
}

/// What a host must have or must not have set for an attempt to work without a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// The file exists; kernels and machines differ in this.
    FileExists(&'static str),
    /// A kernel setting does not refuse it to ordinary users.
    NotRefusedBy(Sysctl),
}

/// A kernel setting by which a host refuses an attempt to ordinary users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sysctl {
    /// The file under `/proc/sys`.
    pub file: &'static str,
    /// The values that refuse, from the lowest to the highest.
    pub refusing: (i64, i64),
    /// Why the attempt is then not possible.
    pub reason: &'static str,
}

impl Condition {
    /// Why this host keeps the caller from the attempt, if it does.
    fn obstacle(&self, caller: Caller) -> Option<&'static str> {
        match (self, caller) {
            (Self::FileExists(path), _) => (!Path::new(path).exists()).then_some("this machine does not have the file"),
            (Self::NotRefusedBy(sysctl), Caller::User) => sysctl.refuses_here().then_some(sysctl.reason),
            (Self::NotRefusedBy(_), Caller::Root) => None,
        }
    }
}

impl Sysctl {
    /// Whether this host refuses; a host without the setting does not.
    fn refuses_here(&self) -> bool {
        let (lowest, highest) = self.refusing;
        fs::read_to_string(format!("/proc/sys/{}", self.file))
            .ok()
            .and_then(|text| text.trim().parse::<i64>().ok())
            .is_some_and(|value| (lowest..=highest).contains(&value))
    }
}

impl Attempt {
    /// What this attempt does on this host without a box, its condition considered.
    #[must_use]
    pub fn host_expectation(&self, caller: Caller) -> HostExpectation {
        let expected = match caller {
            Caller::Root => self.as_root,
            Caller::User => self.as_user,
        };
        let obstacle = self.condition.and_then(|condition| condition.obstacle(caller));
        match (expected, obstacle) {
            (HostExpectation::Escapes, Some(reason)) => HostExpectation::NotPossible(reason),
            (expected, _) => expected,
        }
    }

    /// An attempt without arguments that escapes for every caller.
    pub(crate) const fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            arguments: &[],
            setting: Setting::Plain,
            as_root: HostExpectation::Escapes,
            as_user: HostExpectation::Escapes,
            condition: None,
        }
    }

    pub(crate) const fn needs(mut self, arguments: &'static [Argument]) -> Self {
        self.arguments = arguments;
        self
    }

    pub(crate) const fn setting(mut self, setting: Setting) -> Self {
        self.setting = setting;
        self
    }

    pub(crate) const fn only_root(mut self, reason: &'static str) -> Self {
        self.as_user = HostExpectation::NotPossible(reason);
        self
    }

    pub(crate) const fn nobody(mut self, reason: &'static str) -> Self {
        self.as_root = HostExpectation::NotPossible(reason);
        self.as_user = HostExpectation::NotPossible(reason);
        self
    }

    pub(crate) const fn unless(mut self, sysctl: Sysctl) -> Self {
        self.condition = Some(Condition::NotRefusedBy(sysctl));
        self
    }

    pub(crate) const fn if_exists(mut self, path: &'static str) -> Self {
        self.condition = Some(Condition::FileExists(path));
        self
    }
}
