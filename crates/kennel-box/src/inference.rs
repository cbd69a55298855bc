//! Which paths a command names, and so may read: found in its words, decided by the rules.
//!
//! A path that exists and is named in a word is granted read-only. A word can be a path, `--flag=PATH`, `KEY=VALUE`, a
//! `file://` URL, or a list of paths with commas; a relative path counts from the caller's working directory.
//!
//! A script needs what lies beside it, so it brings its project: the nearest directory around it that may be granted
//! and has a mark of one (`package.json`, `pyproject.toml` and the like), else its own directory, else itself alone. One
//! that was installed by npm brings the `node_modules` that it lies in.
//! Nothing else that is not named is ever granted. Interpreters on `PATH` are no concern of this module: every plan
//! shows those. What is granted is to be mounted at the path returned, because the command goes on to use that path.

use crate::environment::HostView;
use crate::mounts::MountRules;
use crate::planted::Written;
use crate::spec::BoxSpec;
use crate::toolchain;
use kennel_jail::{Access, INNER_HOME, SYSTEM};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// What a command may read because its words name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inferred {
    /// Absolute paths to grant read-only, each at its own place; none lies in another.
    pub grants: Vec<PathBuf>,
    /// Paths that exist and are named, but may not be granted, each with the reason.
    pub refused: Vec<(PathBuf, String)>,
}

/// What marks the directory of a project.
const PROJECT_MARKS: [&str; 6] =
    ["package.json", "pyproject.toml", "node_modules", "requirements.txt", "setup.py", ".venv"];

/// What marks a virtualenv, which cannot be run in part.
const VIRTUALENV_MARK: &str = "pyvenv.cfg";

/// The endings of files that an interpreter runs, and that load their neighbours.
const SCRIPT_ENDINGS: [&str; 15] =
    ["bash", "cjs", "cts", "js", "jsx", "mjs", "mts", "php", "pl", "py", "pyw", "rb", "sh", "ts", "tsx"];

/// Places of which every box has its own; the host's would hide it.
const OWN_PLACES: [&str; 3] = ["/tmp", "/var/tmp", INNER_HOME];

/// Devices that every box has.
const OWN_DEVICES: [&str; 9] = [
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// Finds the paths that a command names and that its box, of the given spec, may be shown.
#[must_use]
pub fn infer(command: &[OsString], host: &HostView, rules: &MountRules, spec: &BoxSpec) -> Inferred {
    let mut inference = Inference { host, rules, written: Written::by(spec), found: Inferred::default() };
    if let Some((program, args)) = command.split_first() {
        // A bare name is looked up on `PATH`, never in the working directory.
        if program.as_bytes().contains(&b'/') {
            inference.consider(Path::new(program));
        }
        for word in args {
            inference.word(word);
        }
    }
    inference.finish()
}

struct Inference<'a> {
    host: &'a HostView,
    rules: &'a MountRules,
    written: Written,
    found: Inferred,
}

impl Inference<'_> {
    /// Takes a word as the path it is, or else as what it may hold one in.
    fn word(&mut self, word: &OsStr) {
        let bytes = word.as_bytes();
        if !bytes.starts_with(b"-") && self.consider(Path::new(word)) {
            return;
        }
        if let Some(path) = file_url(bytes) {
            self.consider(&path);
        } else if let Some(at) = bytes.iter().position(|byte| *byte == b'=') {
            self.word(OsStr::from_bytes(&bytes[at + 1..]));
        } else if bytes.contains(&b',') && !bytes.starts_with(b"-") {
            for part in bytes.split(|byte| *byte == b',') {
                self.consider(Path::new(OsStr::from_bytes(part)));
            }
        }
    }

    /// Grants a path, or notes why not; false where there is no such thing.
    fn consider(&mut self, named: &Path) -> bool {
        if named.as_os_str().is_empty() {
            return false;
        }
        let path = self.host.cwd.join(named);
        let Ok(real) = path.canonicalize() else { return false };
        if SYSTEM.iter().any(|system| real.starts_with(system)) || OWN_DEVICES.iter().any(|own| path == Path::new(own))
        {
            return true;
        }
        if let Some(planted) = self.written.planted(&path) {
            // An interpreter is shown by every plan, and has nothing else beside it.
            if !toolchain::is_own(&real, self.host, &self.written) {
                self.refuse(plain(&path), planted.problem());
            }
            return true;
        }
        // Without `..` a path says where it leads; with it, only the kernel knows.
        let path = if path.components().any(|part| part == Component::ParentDir) { real.clone() } else { plain(&path) };
        if let Err(reason) = self.allows(&path) {
            self.refuse(path, reason);
            return true;
        }
        if !is_script(&path, &real) {
            self.found.grants.push(path);
            return true;
        }
        let project = self.project(&path).unwrap_or_else(|| path.clone());
        // An interpreter looks for the neighbours of what a link leads to.
        if real != path && self.allows(&real).is_ok() {
            let real_project = self.project(&real).unwrap_or(real);
            self.found.grants.push(real_project);
        }
        self.found.grants.push(project);
        true
    }

    fn allows(&self, path: &Path) -> Result<(), String> {
        if OWN_PLACES.iter().any(|own| Path::new(own).starts_with(path)) {
            return Err(format!("every box has a `{}` of its own; name what is needed in it", path.display()));
        }
        self.rules.check(path, Access::ReadOnly).map(drop).map_err(|error| error.to_string())
    }

    /// The directory that a script needs around it, where that may be granted.
    fn project(&self, script: &Path) -> Option<PathBuf> {
        let around =
            script.ancestors().skip(1).take_while(|directory| self.allows(directory).is_ok()).collect::<Vec<_>>();
        // An installed package loads its neighbours, which lie beside it or further up.
        if let Some(modules) = around.iter().rev().find(|directory| directory.ends_with("node_modules")) {
            return Some(modules.to_path_buf());
        }
        let marked = around.iter().position(|directory| is_project(directory) || has(directory, VIRTUALENV_MARK));
        let directory = match marked {
            // A project's own virtualenv often leads back into the project.
            Some(at) if !is_project(around[at]) && around.get(at + 1).is_some_and(|outer| is_project(outer)) => at + 1,
            Some(at) => at,
            None => 0,
        };
        around.get(directory).map(|directory| directory.to_path_buf())
    }

    fn refuse(&mut self, path: PathBuf, reason: String) {
        if !self.found.refused.iter().any(|(other, _)| *other == path) {
            self.found.refused.push((path, reason));
        }
    }

    /// Leaves out what lies in another grant. A link in there cannot be mounted over, so what it leads to comes instead.
    fn finish(mut self) -> Inferred {
        let all = std::mem::take(&mut self.found.grants);
        let in_another =
            |path: &Path, all: &[PathBuf]| all.iter().any(|other| path != other && path.starts_with(other));
        let mut grants = Vec::with_capacity(all.len());
        for path in &all {
            if !in_another(path, &all) {
                grants.push(path.clone());
            } else if let Ok(real) = path.canonicalize() {
                grants.push(real);
            }
        }
        grants.sort();
        grants.dedup();
        let all = grants.clone();
        grants.retain(|path| !in_another(path, &all));
        self.found.grants = grants;
        self.found
    }
}

fn is_project(directory: &Path) -> bool {
    PROJECT_MARKS.iter().any(|mark| has(directory, mark))
}

fn has(directory: &Path, name: &str) -> bool {
    directory.join(name).symlink_metadata().is_ok()
}

/// Whether a file is run by an interpreter, or is part of a virtualenv's programs.
fn is_script(path: &Path, real: &Path) -> bool {
    if !real.is_file() {
        return false;
    }
    let ending = |path: &Path| {
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
        SCRIPT_ENDINGS.contains(&ending.as_str())
    };
    let in_virtualenv = path.parent().and_then(Path::parent).is_some_and(|prefix| has(prefix, VIRTUALENV_MARK));
    ending(path) || ending(real) || in_virtualenv || begins_as_script(real)
}

fn begins_as_script(file: &Path) -> bool {
    let mut first = [0; 2];
    std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut first)).is_ok() && &first == b"#!"
}

/// The path without `.` and doubled slashes.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// The path of a `file://` URL of this machine.
fn file_url(text: &[u8]) -> Option<PathBuf> {
    let rest = text.strip_prefix(b"file://")?;
    let rest = rest.strip_prefix(b"localhost").unwrap_or(rest);
    if !rest.starts_with(b"/") {
        return None;
    }
    let end = rest.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(rest.len());
    let mut path = Vec::with_capacity(end);
    let mut bytes = rest[..end].iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            path.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        path.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    Some(PathBuf::from(OsString::from_vec(path)))
}

#[cfg(test)]
#[path = "inference_tests.rs"]
mod tests;
