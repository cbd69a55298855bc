//! The interpreters that a user has on `PATH` outside of the base system: pyenv, nvm, cargo, virtualenvs and the like.

use crate::environment::HostView;
use crate::planted::Written;
use kennel_jail::SYSTEM;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// What of the host a box must see so that the user's own interpreters run in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Toolchains {
    /// Directories to show read-only, at the same place.
    pub(crate) roots: Vec<PathBuf>,
    /// Directories of `PATH` that the box sees.
    pub(crate) path: Vec<PathBuf>,
    /// Variables that tell a tool where it lives, because the box's home is another.
    pub(crate) env: Vec<(OsString, OsString)>,
}

/// A version manager: where it lives under the home directory, what of it is needed, and the variable that says so.
struct Manager {
    on_path: &'static str,
    needs: &'static [&'static str],
    variable: Option<(&'static str, &'static str)>,
}

const fn manager(on_path: &'static str, needs: &'static [&'static str]) -> Manager {
    Manager { on_path, needs, variable: None }
}

const MANAGERS: [Manager; 13] = [
    Manager { on_path: ".cargo/bin", needs: &[".cargo/bin", ".rustup"], variable: Some(("RUSTUP_HOME", ".rustup")) },
    Manager { on_path: ".pyenv", needs: &[".pyenv"], variable: Some(("PYENV_ROOT", ".pyenv")) },
    Manager { on_path: ".volta", needs: &[".volta"], variable: Some(("VOLTA_HOME", ".volta")) },
    manager(".local/bin", &[".local/bin", ".local/share/uv", ".local/share/pipx/venvs"]),
    manager(".local/share/uv", &[".local/share/uv"]),
    manager(".local/share/fnm", &[".local/share/fnm"]),
    manager(".local/share/mise", &[".local/share/mise"]),
    manager(".local/share/pnpm", &[".local/share/pnpm"]),
    manager(".asdf", &[".asdf"]),
    manager(".bun", &[".bun/bin"]),
    manager(".deno", &[".deno/bin"]),
    manager(".nvm", &[".nvm"]),
    manager(".rbenv", &[".rbenv"]),
];

const INTERPRETERS: [&str; 10] = ["python3", "python", "node", "deno", "bun", "uv", "ruby", "java", "php", "perl"];

/// Finds the toolchains on the host's `PATH`, and those that the given programs are links into.
pub(crate) fn find(host: &HostView, programs: &[&Path], written: &Written) -> Toolchains {
    let mut found = Toolchains::default();
    for directory in std::env::split_paths(&host.path).filter(|directory| directory.is_absolute()) {
        if is_system(&directory) || found.add(&directory, host, written) {
            found.path.push(directory);
        }
    }
    for program in programs.iter().filter(|program| program.is_absolute()) {
        found.add_target(program, host, written);
    }
    found.roots.sort();
    found.roots.dedup();
    // What is inside another root needs no mount of its own.
    let all = found.roots.clone();
    found.roots.retain(|root| !all.iter().any(|other| root != other && root.starts_with(other)));
    found
}

impl Toolchains {
    /// Adds what a directory of `PATH` belongs to; false where it holds no interpreter.
    fn add(&mut self, directory: &Path, host: &HostView, written: &Written) -> bool {
        let Ok(real) = fs::canonicalize(directory) else { return false };
        if is_system(&real) {
            return true;
        }
        if let Some(manager) = MANAGERS.iter().find(|manager| directory.starts_with(host.home.join(manager.on_path))) {
            self.add_manager(manager, host);
            return true;
        }
        let interpreters =
            INTERPRETERS.iter().map(|name| directory.join(name)).filter(|path| path.exists()).collect::<Vec<_>>();
        if interpreters.is_empty() {
            return false;
        }
        self.add_prefix(directory, host);
        for interpreter in interpreters {
            self.add_target(&interpreter, host, written);
        }
        true
    }

    fn add_manager(&mut self, manager: &Manager, host: &HostView) {
        self.roots.extend(manager.needs.iter().map(|name| host.home.join(name)).filter(|path| path.exists()));
        if let Some((variable, place)) = manager.variable {
            let value = (OsString::from(variable), host.home.join(place).into_os_string());
            if !self.env.contains(&value) {
                self.env.push(value);
            }
        }
    }

    /// Adds what an interpreter is a link to: a virtualenv's python lives elsewhere.
    fn add_target(&mut self, interpreter: &Path, host: &HostView, written: &Written) {
        let Ok(real) = fs::canonicalize(interpreter) else { return };
        if real == interpreter || is_system(&real) || self.roots.iter().any(|root| real.starts_with(root)) {
            return;
        }
        if written.planted(interpreter).is_some() && !is_own(&real, host, written) {
            return;
        }
        match MANAGERS.iter().find(|manager| real.starts_with(host.home.join(manager.on_path))) {
            Some(manager) => self.add_manager(manager, host),
            None => {
                if let Some(directory) = real.parent() {
                    self.add_prefix(directory, host);
                }
            }
        }
    }

    /// Adds the installation that a `bin` directory is part of, or the directory alone where there is none.
    fn add_prefix(&mut self, directory: &Path, host: &HostView) {
        let prefix = directory.parent().filter(|prefix| {
            directory.ends_with("bin") && !host.home.starts_with(prefix) && prefix.components().count() > 2
        });
        match prefix.filter(|prefix| is_prefix(prefix)) {
            Some(prefix) if is_only_prefix(prefix) => self.roots.push(prefix.to_path_buf()),
            Some(prefix) => {
                let parts = PREFIX_PARTS.iter().map(|name| prefix.join(name)).filter(|path| path.exists());
                self.roots.extend(parts);
            }
            None => self.roots.push(directory.to_path_buf()),
        }
    }
}

/// What is in the directory that an interpreter is installed in, and in few others; a project has a `bin` too.
const PREFIX_MARKS: [&str; 8] =
    ["pyvenv.cfg", "conda-meta", "include/node", "lib/node_modules/npm", "lib/ruby", "lib/perl5", "lib/php", "jre/lib"];

/// The parts of an installation that an interpreter needs.
const PREFIX_PARTS: [&str; 13] = [
    "bin",
    "conf",
    "include",
    "jmods",
    "jre",
    "legal",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "pyvenv.cfg",
    "release",
    "share",
];

/// What lies beside them where there is nothing else.
const BESIDE_PREFIX: [&str; 9] =
    [".gitignore", ".lock", "CACHEDIR.TAG", "CHANGELOG.md", "COPYING", "LICENSE", "NOTICE", "README.md", "man"];

/// Whether a program, by its real path, belongs to an installation that holds nothing else, so that who chooses it shows
/// no more than an interpreter; and whether no box can have made it look like one.
pub(crate) fn is_own(program: &Path, host: &HostView, written: &Written) -> bool {
    let managed = MANAGERS.iter().any(|manager| program.starts_with(host.home.join(manager.on_path)));
    let prefix = program.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent);
    let installed = || prefix.is_some_and(|prefix| is_prefix(prefix) && is_only_prefix(prefix));
    !written.holds(program) && (managed || is_system(program) || installed())
}

/// Whether an interpreter is installed in a directory.
fn is_prefix(directory: &Path) -> bool {
    let is_python = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b"python");
    let has_python = || {
        let entries = fs::read_dir(directory.join("lib")).into_iter().flatten().flatten();
        entries.take(MOST_ENTRIES).any(|entry| is_python(&entry.file_name()) && entry.path().join("os.py").is_file())
    };
    PREFIX_MARKS.iter().any(|mark| directory.join(mark).exists())
        // Java's classes: a file, where projects may have a directory of that name.
        || directory.join("lib/modules").is_file()
        || has_python()
}

/// Whether nothing but an interpreter is in the directory that it is installed in: a project can be one as well.
fn is_only_prefix(directory: &Path) -> bool {
    if directory.join("conda-meta").exists() {
        // It has many more parts, and nobody works in one.
        return true;
    }
    let own = |name: &std::ffi::OsStr| PREFIX_PARTS.iter().chain(&BESIDE_PREFIX).any(|known| name == *known);
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().all(|entry| own(&entry.file_name()))
}

/// The most entries of a directory that are looked at.
const MOST_ENTRIES: usize = 4096;

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

#[cfg(test)]
#[path = "toolchain_tests.rs"]
mod tests;
