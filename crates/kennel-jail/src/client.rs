//! Kennel's side of the jail: the helper it starts, and the boxes it holds.

use crate::error::JailError;
use crate::open_files;
use crate::report::ExitReport;
use crate::spec::{Isolation, JailSpec, ProcessSpec, Walls};
use crate::wire::{self, Event, HelperRequest, Request, Stdio, Tombstone};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::io::Errno;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// The arguments that make Kennel's program act as the helper, for boxes with all walls, with fences and with none.
const HELPER_ARGUMENTS: [(Isolation, &str); 3] =
    [(Isolation::Full, "__jail-helper"), (Isolation::Fenced, "__fence-helper"), (Isolation::None, "__host-helper")];

/// Turns the calling process into the helper, if it was started as one. To be called before anything else in `main`.
pub fn run_if_helper() {
    let Some(asked) = std::env::args_os().nth(1) else { return };
    if let Some((isolation, _)) = HELPER_ARGUMENTS.iter().find(|(_, argument)| asked == *argument) {
        let inherited = std::env::args().nth(2).and_then(|limit| limit.parse().ok());
        std::process::exit(i32::from(crate::helper::run(*isolation, inherited).is_err()));
    }
}

/// The process that makes boxes. Dropping it ends all of them.
#[derive(Debug)]
pub struct Helper {
    control: Option<OwnedFd>,
    child: Child,
    /// Whether dropping waits for the end of the helper.
    waits: bool,
}

impl Helper {
    /// Starts a helper by executing a program whose `main` begins with [`run_if_helper`], normally the caller's own.
    pub fn start(program: &Path, isolation: Isolation) -> Result<Self, JailError> {
        let failed = |source| JailError::HelperStart { program: program.to_path_buf(), source };
        let (control, theirs) = wire::pair().map_err(|errno| failed(errno.into()))?;
        // Programs without walls are to find the limit that Kennel was started with.
        let inherited = open_files::inherited().filter(|_| isolation == Isolation::None);
        // Nothing of the environment: the helper needs none, and secrets in it would be readable in its /proc.
        let child = Command::new(program)
            .arg0("kennel")
            .args(HELPER_ARGUMENTS.iter().filter(|(kind, _)| *kind == isolation).map(|(_, argument)| argument))
            .args(inherited.map(|limit| limit.to_string()))
            .env_clear()
            .stdin(theirs)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .map_err(failed)?;
        Ok(Self { control: Some(control), child, waits: true })
    }

    /// The program to start as helper: the caller's own, even if its file has been replaced since.
    #[must_use]
    pub fn own_program() -> PathBuf {
        PathBuf::from("/proc/self/exe")
    }

    /// Asks for a box. Its first event says whether it stands.
    pub fn create(&self, spec: &JailSpec) -> Result<Jail, JailError> {
        let spec = wire::store(spec)?;
        let (channel, theirs) = wire::pair().map_err(std::io::Error::from)?;
        let (tombstone, their_tombstone) = wire::pair().map_err(std::io::Error::from)?;
        let descriptors = [spec.as_fd(), theirs.as_fd(), their_tombstone.as_fd()];
        self.send(&HelperRequest::CreateBox, &descriptors)?;
        Ok(Jail { channel: Channel(channel), remains: Remains(tombstone) })
    }

    /// Asks for the removal of what earlier Kennels left behind.
    pub fn end_leftovers(&self) -> Result<Leftovers, JailError> {
        let (answer, theirs) = wire::pair().map_err(std::io::Error::from)?;
        self.send(&HelperRequest::EndLeftovers, &[theirs.as_fd()])?;
        Ok(Leftovers(answer))
    }

    /// Lets go of the helper without waiting: it ends its boxes, cleans up and ends by itself.
    pub fn release(mut self) {
        drop(self.control.take());
        self.waits = false;
    }

    fn send(&self, request: &HelperRequest, descriptors: &[BorrowedFd<'_>]) -> Result<(), JailError> {
        let control = self.control.as_ref().ok_or(JailError::HelperGone)?;
        match wire::send(control, request, descriptors) {
            Err(Errno::PIPE | Errno::CONNRESET) => Err(JailError::HelperGone),
            other => other.map_err(|errno| JailError::Channel(errno.into())),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.control.take());
        if self.waits {
            // It ends by itself now, after the last box; an error would say that it is gone already.
            let _ = self.child.wait();
        }
    }
}

/// A box as Kennel holds it.
#[derive(Debug)]
pub struct Jail {
    /// Its lifeline.
    pub channel: Channel,
    /// What is left when it is gone.
    pub remains: Remains,
}

/// The lifeline of a box. Closing it, by dropping it or by dying, ends every process in the box.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// The place where the helper says that nothing of a box is left: no process, mount or cgroup.
#[derive(Debug)]
pub struct Remains(OwnedFd);

/// Where a standard stream of a new process leads.
#[derive(Debug)]
pub enum Stream<'a> {
    /// To this descriptor, which the process gets as it is.
    Descriptor(BorrowedFd<'a>),
    /// To the process's own new terminal.
    Terminal,
}

/// What a box says.
#[derive(Debug)]
pub enum JailEvent {
    /// It stands.
    Ready(Walls),
    /// A process runs; with the outer side of its terminal where it has one.
    Started {
        /// The number given to it by [`Jail::start`].
        process: u32,
        /// Kennel's side of the terminal.
        terminal: Option<OwnedFd>,
    },
    /// A process could not be started.
    NotStarted {
        /// The number given to it by [`Jail::start`].
        process: u32,
        /// Why.
        error: JailError,
    },
    /// A process ended.
    Exited {
        /// The number given to it by [`Jail::start`].
        process: u32,
        /// How and why.
        report: ExitReport,
    },
}

impl Channel {
    /// Asks for a process; an event with the same number follows.
    pub fn start(&self, process: u32, spec: &ProcessSpec, streams: &[Stream<'_>; 3]) -> Result<(), JailError> {
        self.request_start(process, spec, streams, None)
    }

    /// Asks for a process that has the given socket as its descriptor [`CHANNEL`](crate::CHANNEL), out of reach of all but `sendmsg` and
    /// `recvmsg` where the box has a filter at all; an event with the same number follows.
    pub fn start_with_channel(
        &self,
        process: u32,
        spec: &ProcessSpec,
        streams: &[Stream<'_>; 3],
        channel: BorrowedFd<'_>,
    ) -> Result<(), JailError> {
        self.request_start(process, spec, streams, Some(channel))
    }

    fn request_start(
        &self,
        process: u32,
        spec: &ProcessSpec,
        streams: &[Stream<'_>; 3],
        channel: Option<BorrowedFd<'_>>,
    ) -> Result<(), JailError> {
        let spec = wire::store(spec)?;
        let stdio = streams.each_ref().map(|stream| match stream {
            Stream::Descriptor(_) => Stdio::Passed,
            Stream::Terminal => Stdio::Terminal,
        });
        let passed = streams.iter().filter_map(|stream| match stream {
            Stream::Descriptor(descriptor) => Some(*descriptor),
            Stream::Terminal => None,
        });
        let passed = passed.inspect(|stream| open_to_all(*stream));
        let descriptors = [spec.as_fd()].into_iter().chain(passed).chain(channel).collect::<Vec<_>>();
        self.send(&Request::Start { process, stdio, channel: channel.is_some() }, &descriptors)
    }

    /// Sends a signal to one process, or to every process in the box.
    pub fn signal(&self, process: Option<u32>, signal: i32) -> Result<(), JailError> {
        self.send(&Request::Signal { process, signal }, &[])
    }

    /// The next event of the box; an error where it was refused or has ended.
    pub fn receive(&self) -> Result<JailEvent, JailError> {
        let received = wire::receive(&self.0).map_err(std::io::Error::from)?;
        let (event, descriptors) = received.ok_or(JailError::BoxEnded)?;
        Ok(match event {
            Event::Ready(walls) => JailEvent::Ready(walls),
            Event::Refused(error) => return Err(JailError::Refused(error)),
            Event::Started { process } => JailEvent::Started { process, terminal: descriptors.into_iter().next() },
            Event::NotStarted { process, error } => {
                JailEvent::NotStarted { process, error: JailError::NotStarted(error) }
            }
            Event::Exited { process, report } => JailEvent::Exited { process, report },
        })
    }

    fn send(&self, request: &Request, descriptors: &[BorrowedFd<'_>]) -> Result<(), JailError> {
        match wire::send(&self.0, request, descriptors) {
            Err(Errno::PIPE | Errno::CONNRESET) => Err(JailError::BoxEnded),
            other => other.map_err(|errno| JailError::Channel(errno.into())),
        }
    }
}

/// Lets a box of another user open a pipe by its name, as in `echo … > /dev/stderr`.
///
/// The kernel decides that by the pipe's owner and mode. Only whoever may look into a process that has the pipe finds
/// its name, so that the mode keeps nobody else out. Named pipes belong to the host and stay as they are.
fn open_to_all(stream: BorrowedFd<'_>) {
    let name = std::fs::read_link(format!("/proc/self/fd/{}", stream.as_raw_fd()));
    if name.is_ok_and(|name| name.as_os_str().as_encoded_bytes().starts_with(b"pipe:[")) {
        // A pipe of somebody else keeps its mode; then only its name is of no use.
        let _ = rustix::fs::fchmod(stream, rustix::fs::Mode::from_raw_mode(0o666));
    }
}

impl Remains {
    /// Waits until nothing of the box is left, and says whether want of memory ended it.
    pub fn wait(&self) -> Result<bool, JailError> {
        let received = wire::receive::<Tombstone>(&self.0).map_err(std::io::Error::from)?;
        received.map(|(tombstone, _)| tombstone.out_of_memory).ok_or(JailError::HelperGone)
    }
}

/// The place where the helper says how much it has removed.
#[derive(Debug)]
pub struct Leftovers(OwnedFd);

impl Leftovers {
    /// Waits for the number of things removed.
    pub fn count(&self) -> Result<usize, JailError> {
        let received = wire::receive(&self.0).map_err(std::io::Error::from)?;
        received.map(|(count, _)| count).ok_or(JailError::HelperGone)
    }
}

/// Descriptors can be waited for by any poller.
macro_rules! descriptor {
    ($name:ident) => {
        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.0.as_raw_fd()
            }
        }
    };
}

descriptor!(Channel);
descriptor!(Remains);
descriptor!(Leftovers);
