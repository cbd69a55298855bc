//! What can go wrong with an install, said with the phase, the installer's last words and what to do.

use kennel_box::BoxError;
use kennel_tree::TreeError;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What an install was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallPhase {
    /// Waiting for the end of another install of the same.
    Waiting,
    /// Making the box.
    Preparing,
    /// Finding out which versions are wanted.
    Resolving,
    /// Fetching them.
    Downloading,
    /// Running the packages' own steps, without network credentials.
    Building,
    /// Writing down what was installed.
    Recording,
}

impl fmt::Display for InstallPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting for another install of the same",
            Self::Preparing => "preparing the box",
            Self::Resolving => "resolving",
            Self::Downloading => "downloading",
            Self::Building => "building",
            Self::Recording => "recording",
        })
    }
}

/// What the installer said last, without secrets, the oldest line first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastWords(pub Vec<String>);

impl fmt::Display for LastWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() {
            f.write_str("\n  the installer's last words:")?;
        }
        self.0.iter().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}

/// Why a failed installer failed, as far as its words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// No registry was reached.
    Offline,
    /// The registry's certificate is not trusted.
    Certificate,
    /// The registry wants other credentials.
    Credentials,
    /// The registry has no such package.
    NoSuchPackage,
    /// The package has no such version.
    NoSuchVersion,
    /// The package wants another Python or Node.
    OtherInterpreter,
    /// Python cannot make virtualenvs.
    NoVirtualenvs,
    /// The disk is full.
    DiskFull,
    /// The install wants more memory than its box has.
    Memory,
    /// A step of the package itself failed.
    Build,
    /// The words tell nothing.
    Unknown,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Offline => "; no registry was reached: is this machine offline, or behind a proxy (HTTPS_PROXY)?",
            Self::Certificate => {
                "; the registry's certificate is not trusted: name your CA with NODE_EXTRA_CA_CERTS \
                                  (npm), PIP_CERT (pip) or SSL_CERT_FILE (uv)"
            }
            Self::Credentials => "; the registry refused the credentials: check .npmrc, pip.conf or uv.toml",
            Self::NoSuchPackage => {
                "; the registry has no such package: check the name for a typo, and which registry \
                                    is asked"
            }
            Self::NoSuchVersion => "; the package has no such version: check it, or leave it out for the latest",
            Self::OtherInterpreter => {
                "; the package wants another version of Node or Python: install that, or choose \
                                       it with --python"
            }
            Self::NoVirtualenvs => "; this Python cannot make virtualenvs: install python3-venv, or uv",
            Self::DiskFull => "; the disk is full: make room where the store is",
            Self::Memory => "; it needs more memory than an install has",
            Self::Build => {
                "; a step of the package itself failed; it runs in a box with network and without your \
                            credentials"
            }
            Self::Unknown => "",
        })
    }
}

/// Why a package is not ready to run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The installer failed.
    #[error("`{package}` could not be installed: {installer} failed while {phase} ({exit}){hint}{output}")]
    Failed {
        /// What was to be installed.
        package: String,
        /// The installer.
        installer: &'static str,
        /// What it was doing.
        phase: InstallPhase,
        /// How it ended.
        exit: String,
        /// Why, as far as its words tell.
        hint: Hint,
        /// What it said last.
        output: LastWords,
    },
    /// The install took longer than it may.
    #[error("`{package}` was not installed within {} s: it was still {phase}; what was there has been removed, so try \
             again with a longer budget{output}", .budget.as_secs())]
    Timeout {
        /// What was to be installed.
        package: String,
        /// What it was doing.
        phase: InstallPhase,
        /// How long it might take.
        budget: Duration,
        /// What the installer said last.
        output: LastWords,
    },
    /// A program that is needed is not on `PATH`.
    #[error("`{package}` needs `{program}`, which is not on PATH; {advice}")]
    Missing {
        /// What was to be installed or run.
        package: String,
        /// The program.
        program: String,
        /// How to get it.
        advice: &'static str,
    },
    /// The packages have no such program.
    #[error("`{package}` has no program `{program}`; {}", offer(.offered))]
    NoProgram {
        /// The package asked for.
        package: String,
        /// The program asked for.
        program: String,
        /// The programs it has.
        offered: Vec<String>,
    },
    /// An engine that makes no boxes on this machine.
    #[error("packages are installed in a native box, whatever their programs run in; give the store a native engine")]
    Engine,
    /// The box for the install could not be made or used.
    #[error("`{package}` could not be installed: {source}")]
    Box {
        /// What was to be installed.
        package: String,
        /// Why.
        source: BoxError,
    },
    /// A file of the store could not be used.
    #[error("the package store could not {what} `{path}`: {source}")]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A tree in the store, which foreign code wrote, could not be used.
    #[error("the package store could not {what} `{path}`: {source}{}", advice(.source))]
    Tree {
        /// What was tried.
        what: &'static str,
        /// The tree, or what was meant in it.
        path: PathBuf,
        /// Why it failed.
        source: TreeError,
    },
    /// The install is more than it may be.
    #[error(
        "`{package}` was not installed, because it is too large: {source}; what was there has been removed; if it is \
             meant to be so large, raise max-install or max-install-files"
    )]
    TooLarge {
        /// What was to be installed.
        package: String,
        /// Which bound it exceeds, and where.
        source: TreeError,
    },
    /// The program of a package is none that can be run.
    #[error(
        "`{package}` cannot be run: its program `{program}` {problem}; use another version of the package, or refresh it"
    )]
    NotAProgram {
        /// The package asked for.
        package: String,
        /// The program.
        program: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An install is not what it should be.
    #[error("the install at `{path}` cannot be used: {problem}; refresh the package to install it anew")]
    Broken {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl InstallError {
    /// A file that could not be used.
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}

/// What to do about a tree that could not be used.
fn advice(source: &TreeError) -> &'static str {
    match source {
        TreeError::Start { .. } | TreeError::Ended { .. } | TreeError::Garbage { .. } => "; try again",
        TreeError::Timeout { .. } => "; try again when the machine is less busy, or remove it by hand",
        TreeError::Stuck { .. } => "; remove it by hand",
        _ => "; refresh the package to install it anew",
    }
}

fn offer(offered: &[String]) -> String {
    match offered {
        [] => "it has none at all, so it is a library".to_owned(),
        names => format!("it has `{}`", names.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("`, `")),
    }
}
