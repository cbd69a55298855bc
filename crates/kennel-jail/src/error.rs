//! Why a box could not be made: the stage, the thing it was about, the kernel's answer, and what to do.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A step on the way to a running process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Reading what the box should be.
    Spec,
    /// A user namespace for the maker of boxes, where it is not root.
    UserNamespace,
    /// A mount namespace of its own for the maker of boxes.
    MountNamespace,
    /// Opening a granted path.
    Grant,
    /// The box's cgroup.
    Cgroup,
    /// Processor limit without cgroups.
    CpuLimit,
    /// Cloning the box's init into its namespaces.
    Clone,
    /// Mapping the box's user and group.
    IdMap,
    /// Becoming the box's user.
    Identity,
    /// The box's network.
    Network,
    /// A mount inside the box.
    Mount,
    /// A fresh `/proc`.
    Proc,
    /// Leaving the host's root.
    PivotRoot,
    /// Dropping privileges.
    Privileges,
    /// A limit on resources.
    Rlimit,
    /// The seccomp filter.
    Seccomp,
    /// The Landlock rules.
    Landlock,
    /// A terminal for the process.
    Terminal,
    /// Cloning the process itself.
    Fork,
    /// The process's working directory.
    WorkingDirectory,
    /// Executing the program.
    Execute,
}

impl Stage {
    fn what(self) -> &'static str {
        match self {
            Self::Spec => "reading the spec of the box",
            Self::UserNamespace => "making a user namespace",
            Self::MountNamespace => "making a mount namespace",
            Self::Grant => "opening the granted path",
            Self::Cgroup => "making the cgroup",
            Self::CpuLimit => "limiting processor time",
            Self::Clone => "cloning the init of the box into new namespaces",
            Self::IdMap => "mapping the user of the box",
            Self::Identity => "becoming the user of the box",
            Self::Network => "bringing up the loopback of the box",
            Self::Mount => "mounting",
            Self::Proc => "mounting a fresh /proc",
            Self::PivotRoot => "changing to the root of the box",
            Self::Privileges => "dropping privileges",
            Self::Rlimit => "setting a resource limit",
            Self::Seccomp => "installing the seccomp filter",
            Self::Landlock => "applying the Landlock rules",
            Self::Terminal => "making a terminal",
            Self::Fork => "forking in the box",
            Self::WorkingDirectory => "entering the working directory",
            Self::Execute => "executing",
        }
    }

    fn hint(self, errno: Errno) -> Option<&'static str> {
        match (self, errno) {
            (
                Self::UserNamespace | Self::IdMap | Self::Clone | Self::MountNamespace,
                Errno::PERM | Errno::ACCESS | Errno::NOSPC | Errno::USERS | Errno::INVAL,
            ) => Some(
                "user namespaces are blocked here (sysctl, AppArmor, a container or a chroot); run `kennel doctor` for the exact cause and fix, or accept a weaker box with --accept-missing namespaces",
            ),
            (Self::Proc, Errno::PERM) => Some(
                "the surrounding container masks /proc; run it with an unmasked /proc (Docker: --security-opt systempaths=unconfined)",
            ),
            (Self::PivotRoot, Errno::INVAL) => {
                Some("the root file system is the initial ramfs; switch to a real root first")
            }
            (Self::Grant, Errno::NOENT) => Some("the path is gone since it was checked; check it and start again"),
            (Self::Grant, Errno::STALE) => Some("the path has become another file since it was checked; start again"),
            (Self::CpuLimit, _) => Some(
                "there is no cpu cgroup for this user; use a whole number of processors, accept it with --accept-missing cpu, or delegate cgroups: systemd-run --user --scope -p Delegate=yes kennel …",
            ),
            (Self::Clone, Errno::AGAIN) => Some(
                "the user or the machine has no room for another process; end some, or raise `ulimit -u` or the cgroup's pids.max",
            ),
            (Self::Fork, Errno::AGAIN) => Some("the box is at its process limit; raise --pids"),
            (_, Errno::MFILE) => Some("Kennel may have too few descriptors open; raise `ulimit -n`"),
            (_, Errno::NOMEM) => Some("the machine has no memory left for another box"),
            (Self::Execute, Errno::NOENT) => {
                Some("not in the box, or its interpreter is not; grant its directory with --read")
            }
            (Self::Execute, Errno::ACCESS) => Some("not executable for the user of the box"),
            (Self::WorkingDirectory, Errno::NOENT) => Some("not in the box; grant it with --read or --write"),
            (_, Errno::NOSYS) => Some("the kernel is too old for the native box; Linux 5.12 or newer is needed"),
            _ => None,
        }
    }
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageError {
    /// The step.
    pub stage: Stage,
    /// What the step was about: a path, a name, a value.
    pub subject: String,
    /// The kernel's answer.
    pub errno: i32,
}

impl StageError {
    /// The kernel's answer as a type.
    #[must_use]
    pub fn errno(&self) -> Errno {
        Errno::from_raw_os_error(self.errno)
    }

    /// What to do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        self.stage.hint(self.errno())
    }
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.stage.what())?;
        if !self.subject.is_empty() {
            write!(f, " `{}`", self.subject)?;
        }
        write!(f, ": {}", std::io::Error::from_raw_os_error(self.errno))
    }
}

impl std::error::Error for StageError {}

/// Names the step in which a system call failed.
pub(crate) trait InStage<T> {
    fn in_stage(self, stage: Stage, subject: impl fmt::Display) -> Result<T, StageError>;
}

impl<T> InStage<T> for Result<T, Errno> {
    fn in_stage(self, stage: Stage, subject: impl fmt::Display) -> Result<T, StageError> {
        self.map_err(|errno| StageError { stage, subject: subject.to_string(), errno: errno.raw_os_error() })
    }
}

impl<T> InStage<T> for std::io::Result<T> {
    fn in_stage(self, stage: Stage, subject: impl fmt::Display) -> Result<T, StageError> {
        self.map_err(|error| StageError {
            stage,
            subject: subject.to_string(),
            errno: error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()),
        })
    }
}

/// Why a native box could not be made, or was lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JailError {
    /// The process that makes boxes could not be started.
    #[error("the helper that makes boxes could not be started from `{program}`: {source}")]
    HelperStart {
        /// The program executed as the helper.
        program: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The process that makes boxes is gone.
    #[error("the helper that makes boxes has ended; start Kennel again")]
    HelperGone,
    /// A step failed.
    #[error("the box was refused while {0}")]
    Refused(StageError),
    /// The program could not be started in the box.
    #[error("the program could not be started while {0}")]
    NotStarted(StageError),
    /// The box ended.
    #[error("the box has ended")]
    BoxEnded,
    /// Talking to the box failed.
    #[error("talking to the box failed: {0}")]
    Channel(#[from] std::io::Error),
}

impl JailError {
    /// Whether the box was refused because this machine does not let this user have namespaces.
    #[must_use]
    pub fn lacks_namespaces(&self) -> bool {
        let stages = [Stage::UserNamespace, Stage::MountNamespace, Stage::Clone, Stage::IdMap, Stage::Proc];
        matches!(self, Self::Refused(error) if stages.contains(&error.stage)) && !self.is_exhaustion()
    }

    /// Whether the machine, or the user, has for the moment no more of what a box needs: processes, memory or
    /// descriptors. Another attempt can help.
    #[must_use]
    pub fn is_exhaustion(&self) -> bool {
        let errno = match self {
            Self::HelperStart { source, .. } | Self::Channel(source) => source.raw_os_error(),
            Self::Refused(error) | Self::NotStarted(error) => Some(error.errno),
            Self::HelperGone | Self::BoxEnded => None,
        };
        let exhausted = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::TOOMANYREFS];
        errno.is_some_and(|errno| exhausted.contains(&Errno::from_raw_os_error(errno)))
    }

    /// What to do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Refused(error) | Self::NotStarted(error) => error.hint(),
            _ => None,
        }
    }
}
