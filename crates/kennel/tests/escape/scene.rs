//! The surroundings of one attempt: targets to attack, the grants it needs, and the witnesses beside the targets.

use crate::support::caller::{make_directory, make_file, needs_root};
use crate::support::ground::Ground;
use crate::support::processes::proc_text;
use crate::support::programs::copy;
use crate::support::running::Kept;
use crate::support::sharing::Sharing;
use crate::support::waiting::{PATIENCE, settle};
use crate::witness::{Echo, Witness};
use kennel_testkit::{Argument, Attempt, Caller, Setting};
use std::ffi::OsString;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Process numbers inside a box are small; those of the targets must be others.
const LEAST_OUTSIDE_PID: u32 = 300;

/// The surroundings of one attempt.
pub(crate) struct Scene {
    /// The arguments of the attempt.
    pub(crate) arguments: Vec<OsString>,
    /// The flags of `kennel exec`: grants and limits.
    pub(crate) flags: Vec<OsString>,
    /// A file for [`Setting::FileOnStdin`] and [`Setting::LeakedDescriptor`].
    pub(crate) file: PathBuf,
    directory: PathBuf,
    caller: Caller,
    witnesses: Vec<Witness>,
}

impl Scene {
    /// Puts everything in place; an error says what this machine does not have.
    pub(crate) fn new(ground: &Ground, name: &str, attempt: &Attempt) -> Result<Self, String> {
        let directory = ground.make_directory(name);
        let file = directory.join("file");
        let mut scene = Self {
            arguments: Vec::new(),
            flags: Vec::new(),
            file,
            directory,
            caller: ground.caller(),
            witnesses: Vec::new(),
        };
        let outside = scene.make_directory("outside");
        scene.make_file(&scene.file.clone());
        scene.make_file(&outside.join("file"));
        let (flags, amounts) = bomb(attempt.name, ground.caller());
        scene.flags.extend(flags.iter().map(OsString::from));
        let mut amounts = amounts.iter();
        for argument in attempt.arguments {
            let value = match argument {
                Argument::Amount | Argument::CpuAllowance => amounts.next().expect("a known bomb").to_string().into(),
                // What is granted for writing may be filled; the box's own space may not.
                Argument::WritableDirectory if attempt.name == "disk_bomb" => "/tmp".into(),
                other => scene.target(ground, *other)?,
            };
            scene.arguments.push(value);
        }
        scene.witnesses.push(Witness::of_files(&outside));
        if attempt.setting == Setting::FileOnStdin {
            scene.witnesses.push(Witness::of_files(&scene.file));
        }
        Ok(scene)
    }

    /// A directory for [`Setting::DirectoryOnStdin`].
    pub(crate) fn outside(&self) -> PathBuf {
        self.directory.join("outside")
    }

    /// What the witnesses saw; none of them may have seen anything.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.witnesses.iter_mut().filter_map(Witness::complaint).collect()
    }

    fn target(&mut self, ground: &Ground, argument: Argument) -> Result<OsString, String> {
        Ok(match argument {
            Argument::HomeDirectory => {
                let home = self.make_directory("home");
                self.make_file(&home.join("diary"));
                self.witnesses.push(Witness::of_files(&home));
                home.into()
            }
            Argument::OutsideFile => self.outside().join("file").into(),
            Argument::OutsideDirectory => self.outside().into(),
            Argument::ReadOnlyFile => self.readable().join("file").into(),
            Argument::ReadOnlyDirectory => self.readable().into(),
            Argument::WritableDirectory => {
                let writable = self.make_directory("writable");
                self.flags.extend(["--write".into(), writable.clone().into()]);
                writable.into()
            }
            Argument::UnixSocket => {
                let path = self.directory.join("socket");
                self.witnesses.push(Witness::unix(&path));
                fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
                path.into()
            }
            Argument::AbstractSocket => {
                let name = format!("kennel-test{}", self.directory.display());
                self.witnesses.push(Witness::abstract_unix(&name));
                name.into()
            }
            Argument::OutsidePid => self.outside_process(ground).to_string().into(),
            Argument::HostAddress => {
                host_address().ok_or("this machine has no address but loopback")?.to_string().into()
            }
            Argument::TcpPort => {
                let (witness, port) = Witness::tcp();
                self.witnesses.push(witness);
                port.to_string().into()
            }
            Argument::UdpPort => {
                let (echo, port) = Echo::start();
                self.witnesses.push(Witness::Udp(echo));
                port.to_string().into()
            }
            Argument::BlockDevice => block_device().ok_or("this machine has no block device")?.into(),
            Argument::SetuidProgram => self.setuid_program()?.into(),
            Argument::SetuidDirectory => {
                let directory = self.make_directory("programs");
                let program = directory.join("program");
                make_file(self.caller, &program, "#!/bin/sh\n", 0o755);
                // Now that it has its owner: a new one would take the bit away.
                fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
                self.flags.extend(["--write".into(), directory.clone().into()]);
                directory.into()
            }
            Argument::SharedMemory => self.shared(ground, 0),
            Argument::Semaphores => self.shared(ground, 1),
            Argument::MessageQueue => self.shared(ground, 2),
            Argument::PosixQueue => self.shared(ground, 3),
            Argument::Amount | Argument::CpuAllowance => unreachable!("given by the bomb"),
        })
    }

    /// A directory that anyone may write to by its mode.
    fn make_directory(&self, name: &str) -> PathBuf {
        let path = self.directory.join(name);
        make_directory(self.caller, &path, 0o777);
        path
    }

    /// A file that anyone may write to by its mode.
    fn make_file(&self, path: &Path) {
        make_file(self.caller, path, "not for boxes\n", 0o666);
    }

    fn readable(&mut self) -> PathBuf {
        let readable = self.make_directory("readable");
        self.make_file(&readable.join("file"));
        self.flags.extend(["--read".into(), readable.clone().into()]);
        self.witnesses.push(Witness::of_files(&readable));
        readable
    }

    /// One of the things that a process outside shares, all of which it looks at again in the end.
    fn shared(&mut self, ground: &Ground, index: usize) -> OsString {
        let sharing = Sharing::start(ground);
        let name = sharing.names[index].clone();
        self.witnesses.push(Witness::Sharing(sharing));
        name.into()
    }

    fn outside_process(&mut self, ground: &Ground) -> u32 {
        loop {
            let process = Kept::start(ground.command(["sleep", "300"]));
            let pid = process.pid();
            // Before it is executed it is still somebody else's.
            let is_early = || !proc_text(pid, "cmdline").starts_with("sleep");
            let early = || is_early().then(|| "no outside process comes up".to_owned());
            settle(PATIENCE, early).unwrap();
            if pid >= LEAST_OUTSIDE_PID {
                self.witnesses.push(Witness::Process(process));
                return pid;
            }
        }
    }

    fn setuid_program(&mut self) -> Result<PathBuf, String> {
        if !needs_root("a set-user-id root program") {
            return Err("only root can make a set-user-id root program".to_owned());
        }
        let directory = self.directory.join("setuid");
        make_directory(Caller::Root, &directory, 0o755);
        let program = copy(Path::new("/usr/bin/id"), &directory);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        self.flags.extend(["--read".into(), directory.into()]);
        Ok(program)
    }
}

/// The limits for a bomb, and what it asks for: far more than they allow.
fn bomb(name: &str, caller: Caller) -> (&'static [&'static str], &'static [u32]) {
    match (name, caller) {
        ("fork_bomb" | "thread_bomb", _) => (&["--pids", "20"], &[200]),
        ("memory_bomb" | "shared_memory_bomb", _) => (&["--memory", "64M"], &[256]),
        ("descriptor_bomb", _) => (&[], &[2000]),
        // Far more than a box gets, and far less than what would be missed outside.
        ("inotify_bomb", _) => (&[], &[64]),
        ("terminal_bomb", _) => (&[], &[200]),
        ("pending_signal_bomb", _) => (&[], &[4096]),
        ("message_queue_bomb", _) => (&[], &[5]),
        ("disk_bomb", _) => (&["--tmp-size", "16M"], &[64]),
        // With some room for the kernel's accounting; two threads without a box get far more.
        ("cpu_bomb", Caller::Root) => (&["--cpus", "0.5"], &[1500, 1000]),
        ("cpu_bomb", Caller::User) => (&["--cpus", "1"], &[1500, 1800]),
        _ => (&[], &[]),
    }
}

/// An address of this machine that is not loopback, from the kernel's own table of its addresses.
pub(crate) fn host_address() -> Option<Ipv4Addr> {
    let table = fs::read_to_string("/proc/net/fib_trie").ok()?;
    let lines: Vec<&str> = table.lines().map(str::trim).collect();
    lines
        .windows(2)
        .filter(|pair| pair[1] == "/32 host LOCAL")
        .filter_map(|pair| pair[0].strip_prefix("|-- ")?.parse::<Ipv4Addr>().ok())
        .find(|address| !address.is_loopback())
}

fn block_device() -> Option<PathBuf> {
    let names = fs::read_dir("/sys/class/block").ok()?.flatten().map(|entry| entry.file_name());
    names.map(|name| Path::new("/dev").join(name)).find(|path| path.exists())
}
