//! The interpreters that a user has on `PATH` outside of the base system: pyenv, nvm, cargo, virtualenvs and the like.

use crate::environment::HostView;
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
pub(crate) fn find(host: &HostView, programs: &[&Path]) -> Toolchains {
    let mut found = Toolchains::default();
    for directory in std::env::split_paths(&host.path).filter(|directory| directory.is_absolute()) {
        if is_system(&directory) || found.add(&directory, host) {
            found.path.push(directory);
        }
    }
    for program in programs.iter().filter(|program| program.is_absolute()) {
        found.add_target(program, host);
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
    fn add(&mut self, directory: &Path, host: &HostView) -> bool {
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
            self.add_target(&interpreter, host);
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
    fn add_target(&mut self, interpreter: &Path, host: &HostView) {
        let Ok(real) = fs::canonicalize(interpreter) else { return };
        if real == interpreter || is_system(&real) || self.roots.iter().any(|root| real.starts_with(root)) {
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

    /// Adds the installation that a `bin` directory is part of, or the directory alone where that would be too much.
    fn add_prefix(&mut self, directory: &Path, host: &HostView) {
        let prefix = directory.parent().filter(|prefix| {
            directory.ends_with("bin") && !host.home.starts_with(prefix) && prefix.components().count() > 2
        });
        self.roots.push(prefix.unwrap_or(directory).to_path_buf());
    }
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

#[cfg(test)]
#[path = "toolchain_tests.rs"]
mod tests;
