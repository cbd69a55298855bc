//! Which Python runs in the boxes: found once, asked who it is, and known by where its files are.

use super::error::StartError;
use kennel_box::{AccessMode, HostView, MountSpec};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// The first and the last version that can be used.
const VERSIONS: [(u32, u32); 2] = [(3, 9), (3, 14)];

/// How long a Python may take to say who it is.
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);

/// What a Python is asked. A shim of a version manager passes the question on to the one that it stands for.
const QUESTION: &str = "import json, sys; print(json.dumps({'name': sys.implementation.name, \
    'version': sys.version_info[:3], 'executable': sys.executable, 'prefixes': [sys.prefix, sys.base_prefix]}))";

#[derive(Deserialize)]
struct Answer {
    name: String,
    version: (u32, u32, u32),
    executable: PathBuf,
    prefixes: Vec<PathBuf>,
}

/// A Python that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python {
    program: PathBuf,
    version: (u32, u32, u32),
    prefixes: Vec<PathBuf>,
}

impl Python {
    /// The given Python, by its path or its name on the user's `PATH`, or the first `python3` there that can be used.
    pub async fn find(given: Option<&Path>, host: &HostView) -> Result<Self, StartError> {
        let name = given.unwrap_or(Path::new("python3"));
        let candidates = if name.components().count() > 1 { vec![host.cwd.join(name)] } else { on_path(name, host) };
        let mut tried = Vec::new();
        for candidate in candidates {
            match Self::ask(&candidate, host).await {
                Ok(python) => return Ok(python),
                Err(problem) => tried.push(format!("`{}` {problem}", candidate.display())),
            }
        }
        if tried.is_empty() {
            tried.push(format!("there is no `{}` on PATH", name.display()));
        }
        Err(StartError::NoPython { tried: tried.join(", ") })
    }

    /// Its program, as a box sees it.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    async fn ask(candidate: &Path, host: &HostView) -> Result<Self, String> {
        let mut command = tokio::process::Command::new(candidate);
        command.args(["-I", "-B", "-c", QUESTION]).stdin(Stdio::null()).kill_on_drop(true);
        command.env_clear().env("PATH", &host.path).env("HOME", &host.home).current_dir("/");
        let output = tokio::time::timeout(ANSWERS_WITHIN, command.output()).await;
        let output = output
            .map_err(|_| format!("does not say within {} s who it is", ANSWERS_WITHIN.as_secs()))?
            .map_err(|error| format!("cannot be run ({error})"))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("fails with {}: {}", output.status, errors.lines().next_back().unwrap_or_default()));
        }
        let answer: Answer = serde_json::from_slice(&output.stdout).map_err(|_| "is no Python".to_owned())?;
        Self::from_answer(answer)
    }

    fn from_answer(Answer { name, version, executable, prefixes }: Answer) -> Result<Self, String> {
        let [first, last] = VERSIONS;
        let (major, minor, _) = version;
        if name != "cpython" {
            return Err(format!("is {name}, but only CPython will do"));
        }
        if (major, minor) < first || (major, minor) > last {
            return Err(format!("is {major}.{minor}, but {}.{} to {}.{} will do", first.0, first.1, last.0, last.1));
        }
        if !executable.is_absolute() {
            return Err("does not know where it is".to_owned());
        }
        // A virtualenv is known by the place of the link that is its Python; any other by where it really is.
        let is_virtual = prefixes.first() != prefixes.last();
        let program = if is_virtual { executable } else { real(&executable) };
        Ok(Self { program, version, prefixes })
    }

    /// What a box must see so that it runs there, beside the base system.
    pub(super) fn mounts(&self) -> Vec<MountSpec> {
        // Where it really is, and where it is said to be: a configuration may name either.
        let named = self.prefixes.iter().cloned().chain(real_prefix(&self.program));
        let places = named.flat_map(|path| [(path.clone(), real(&path)), (real(&path), real(&path))]);
        let places = places.filter(|(_, real)| !real.starts_with("/usr")).collect::<BTreeSet<_>>();
        let mount = |(place, real): (PathBuf, PathBuf)| MountSpec {
            host_path: real,
            mount_path: Some(place),
            mode: AccessMode::ReadOnly,
        };
        places.into_iter().map(mount).collect()
    }
}

impl fmt::Display for Python {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.version;
        write!(f, "Python {major}.{minor}.{patch} ({})", self.program.display())
    }
}

/// Every program of this name on the user's `PATH`, in its order.
fn on_path(name: &Path, host: &HostView) -> Vec<PathBuf> {
    let directories = std::env::split_paths(&host.path).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(name)).filter(|path| path.is_file()).collect()
}

/// The installation that a program is part of: what its `bin` directory lies in.
fn real_prefix(program: &Path) -> Option<PathBuf> {
    let program = real(program);
    let directory = program.parent()?;
    (directory.ends_with("bin")).then(|| directory.parent().map(Path::to_path_buf))?
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
#[path = "python_tests.rs"]
mod tests;
