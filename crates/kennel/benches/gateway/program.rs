//! What is measured: the programs, how each is started, and the doors that it has.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

use crate::caller::{Caller, Door};
use crate::processes::{self, Process};

/// How long a program may take until it serves.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where things are.
pub(crate) struct Places {
    /// The server behind every program.
    pub(crate) fixture: PathBuf,
    /// A directory that goes away with the run.
    pub(crate) scratch: PathBuf,
}

/// Something that serves the fixture, or the fixture itself.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// What callers can go through, each with its name in tables.
    pub(crate) doors: Vec<(&'static str, Door)>,
    /// What it puts before the names of tools.
    pub(crate) tool_prefix: &'static str,
    /// Makes the command that serves on a port; none where callers start the fixture themselves.
    pub(crate) command: Option<Box<dyn Fn(u16) -> io::Result<Command>>>,
}

/// What a program is to the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The fixture alone.
    Direct,
    /// HTTP alone.
    Bare,
    /// What Kennel must not be slower than.
    Floor,
    /// Kennel with one process for all.
    Shared,
    /// Kennel with a process for each session.
    PerSession,
    /// Kennel with one process for all that speaks without sessions; only its traffic is measured.
    Modern,
    /// Somebody else's gateway.
    Peer,
}

impl Program {
    /// The door that stands for the program where only one is measured.
    pub(crate) fn main_door(&self) -> Door {
        self.doors.first().map_or(Door::Pipe, |(_, door)| *door)
    }

    /// Starts it, and returns without waiting until it serves.
    pub(crate) fn start(&self, places: &Places) -> io::Result<Running> {
        let Some(make) = &self.command else {
            return Ok(Running { child: None, port: 0, fixture: places.fixture.clone() });
        };
        let port = free_port()?;
        let log = File::create(places.scratch.join(format!("{}.log", self.name)))?;
        let mut command = make(port)?;
        command.current_dir(&places.scratch).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.kill_on_drop(true).spawn();
        let child = child.map_err(|error| io::Error::other(format!("{} does not start: {error}", self.name)))?;
        Ok(Running { child: Some(child), port, fixture: places.fixture.clone() })
    }

    /// A caller as soon as one gets through.
    pub(crate) async fn first_caller(&self, running: &Running, places: &Places) -> io::Result<Caller> {
        let start = Instant::now();
        loop {
            match running.connect(self.main_door()).await {
                Ok(caller) => return Ok(caller),
                Err(error) if start.elapsed() > PATIENCE => {
                    let log = fs::read_to_string(places.scratch.join(format!("{}.log", self.name)));
                    let log = log.unwrap_or_default();
                    return Err(io::Error::other(format!("{} does not serve: {error}\n{log}", self.name)));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    }
}

/// A program that was started; it ends, with all that it has started, when this is dropped.
pub(crate) struct Running {
    child: Option<Child>,
    pub(crate) port: u16,
    fixture: PathBuf,
}

impl Running {
    /// A new caller.
    pub(crate) async fn connect(&self, door: Door) -> io::Result<Caller> {
        Caller::connect(door, self.port, &self.fixture).await
    }

    /// The process, while it lives.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.as_ref()?.id()
    }

    /// What it has started.
    pub(crate) fn descendants(&self) -> Vec<Process> {
        self.id().map(processes::descendants).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let descendants = self.descendants();
        if let Some(id) = self.id() {
            processes::kill(id);
        }
        descendants.iter().for_each(Process::kill);
    }
}

/// A port that nobody has; somebody may take it before it is used, which ends the run with an error.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
