//! Owns which things on this machine are Kennel's own, and so in nobody's box: the configuration, the data, the sockets and
//! the program of this Kennel and of the user's others, clients' files that it edits, package caches, and what runs unboxed.

use crate::commands::admin::SocketPlace;
use crate::commands::neighbours::{self, Neighbour};
use crate::commands::server::data_directory;
use kennel_box::{MountRules, Own, Protection, WriteGrants};
use kennel_config::Config;
use kennel_config::clients::{Client, Surroundings};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long it is remembered which other Kennels there are: servers may be started many times in a second.
const REMEMBERED: Duration = Duration::from_secs(1);

/// Caches from which package managers install, below the home directory.
const CACHES: [&str; 12] = [
    ".bun/install",
    ".cargo/registry",
    ".local/share/pnpm",
    ".local/share/uv",
    ".npm",
    ".yarn",
    ".cache/deno",
    ".cache/node",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/uv",
    ".cache/yarn",
];

/// Variables that move caches.
const CACHE_VARIABLES: [&str; 8] = [
    "BUN_INSTALL_CACHE_DIR",
    "DENO_DIR",
    "NPM_CONFIG_CACHE",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "YARN_CACHE_FOLDER",
    "npm_config_cache",
    "npm_config_store_dir",
];

/// What is Kennel's own.
#[derive(Default)]
pub(crate) struct Belongings {
    config: Option<PathBuf>,
    data: Option<PathBuf>,
    socket: Option<PathBuf>,
    /// Files that are run without a box.
    unboxed: Mutex<Vec<PathBuf>>,
    /// What boxes of this Kennel may write, by their servers.
    granted: Mutex<Vec<(String, WriteGrants)>>,
    others: Mutex<Option<(Instant, Arc<Vec<Neighbour>>)>>,
}

impl Belongings {
    /// Those of a Kennel that keeps its data here.
    pub(crate) fn new(data: Option<PathBuf>) -> Self {
        Self { data, ..Self::default() }
    }

    /// The same with the file and the socket in use.
    pub(crate) fn using(self, config: &Path, socket: Option<&Path>) -> Self {
        Self { config: Some(config.to_owned()), socket: socket.map(Path::to_owned), ..self }
    }

    /// The rules on what may be granted to boxes.
    pub(crate) fn rules(self: &Arc<Self>, home: &Path) -> MountRules {
        let (belongings, home) = (Arc::clone(self), home.to_owned());
        MountRules::for_user(&home.clone()).protecting(move || belongings.list(&home))
    }

    /// All of it, as it is now.
    pub(crate) fn list(&self, home: &Path) -> Vec<Own> {
        let mut all = Vec::new();
        let mut add = |path: Option<PathBuf>, what: &'static str, protection| {
            all.extend(path.filter(|path| path.is_absolute()).map(|path| Own { path, what, protection }));
        };
        add(self.config.clone(), "the configuration file in use", Protection::Private);
        add(self.data.clone(), "Kennel's data directory", Protection::Hidden);
        add(self.socket.clone(), "Kennel's admin socket", Protection::Hidden);
        let usual = Config::usual_file(|name| std::env::var_os(name));
        add(usual, "Kennel's usual configuration file", Protection::Private);
        add(data_directory(None).ok(), "Kennel's usual data directory", Protection::Hidden);
        let usual = SocketPlace::find(None, None).ok();
        add(usual.map(|place| place.path().to_owned()), "Kennel's usual admin socket", Protection::Hidden);
        add(std::env::current_exe().ok(), "Kennel's own program", Protection::ReadOnly);
        for other in self.others().iter() {
            add(other.config.clone(), "the configuration file of another Kennel", Protection::Private);
            add(other.data.clone(), "the data directory of another Kennel", Protection::Hidden);
            add(other.socket.clone(), "the admin socket of another Kennel", Protection::Hidden);
            add(Some(other.program.clone()), "the program of another Kennel", Protection::ReadOnly);
        }
        for path in lock(&self.unboxed).iter() {
            add(Some(path.clone()), "which Kennel runs without a box", Protection::ReadOnly);
        }
        if let Some(surroundings) = Surroundings::current() {
            let surroundings = Surroundings { project: None, ..surroundings };
            for place in Client::ALL.iter().flat_map(|client| surroundings.places(*client)) {
                add(Some(place.file), "which tells an MCP client what to run", Protection::ReadOnly);
            }
        }
        for cache in caches(home) {
            add(Some(cache), "from which packages are installed", Protection::ReadOnly);
        }
        all
    }

    /// Takes note of what a configuration has run without a box.
    pub(crate) fn note_unboxed(&self, config: &Config) {
        let files = config.unboxed_words().into_iter().filter(|word| word.contains('/') || word.contains('.'));
        let files = files.map(|word| config.directory.join(word)).filter(|path| path.is_file());
        *lock(&self.unboxed) = files.collect();
    }

    /// Takes note of what the boxes of a server may write.
    pub(crate) fn note_grants(&self, server: &str, grants: WriteGrants) {
        let mut granted = lock(&self.granted);
        granted.retain(|(_, grants)| !grants.are_gone());
        granted.push((server.to_owned(), grants));
    }

    /// The first server whose box was granted something by which it can change what a path leads to, and what that is.
    pub(crate) fn box_that_redirects(&self, path: &Path) -> Option<(String, PathBuf)> {
        let granted = lock(&self.granted).clone();
        granted.into_iter().find_map(|(server, grants)| Some((server, grants.redirecting(path)?)))
    }

    /// The other Kennels of this user that run now.
    pub(crate) fn others(&self) -> Arc<Vec<Neighbour>> {
        let mut others = lock(&self.others);
        if let Some((_, known)) = others.as_ref().filter(|(since, _)| since.elapsed() < REMEMBERED) {
            return Arc::clone(known);
        }
        let found = Arc::new(neighbours::find());
        *others = Some((Instant::now(), Arc::clone(&found)));
        found
    }
}

fn caches(home: &Path) -> Vec<PathBuf> {
    let moved = CACHE_VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let in_base = base.iter().flat_map(|base| {
        let names = CACHES.iter().filter_map(|name| name.strip_prefix(".cache/"));
        names.map(|name| base.join(name)).collect::<Vec<_>>()
    });
    CACHES.iter().map(|name| home.join(name)).chain(in_base).chain(moved).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
