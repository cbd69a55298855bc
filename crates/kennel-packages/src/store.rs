//! The store: installs that are made once, whole or not at all, and found again without network.
//!
//! | in the store | what it is |
//! |---|---|
//! | `installs/<id>` | a finished install: its `tree`, its `manifest.json` and the list of its `files` |
//! | `requests/<key>.json` | which install a request was pinned to |
//! | `locks/<key>.lock` | held by whoever installs for that request |
//! | `staging/<id>` | an install in the making, and the lock of its maker |
//!
//! An install gets its name before its versions are known, because the files in it hold their own paths. It is made
//! under `staging` and renamed when it is complete; then the request is pinned to it, by another rename. Whoever is
//! killed in between leaves the store as it was, and a directory that the next install sweeps away.

use crate::command::{PackageCommand, Request};
use crate::error::{InstallError, InstallPhase};
use crate::installed::{Installed, is_usable, named_python, resolve};
use crate::manifest::{Manifest, PinnedPackage, read_json, to_json, write_whole};
use crate::output::{InstallProgress, Observer};
use crate::settings::RegistrySettings;
use crate::spec::Ecosystem;
use crate::staging::{Staging, blocking, remove, sweep, take_lock};
use crate::tree::{self, Change, hex};
use crate::workshop::Job;
use crate::{npm, python};
use kennel_box::{Engine, EngineKind, HostView};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a lock that somebody else holds is tried again.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// Whether a request that is installed already is resolved anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refresh {
    /// No: what is pinned runs, and no network is needed.
    #[default]
    Never,
    /// Yes: the registry is asked, and the request pinned to what it says now.
    Now,
}

/// What an install depends on.
#[derive(Clone)]
pub struct InstallContext<'a> {
    /// Makes the boxes in which installers run; a native engine.
    pub engine: Arc<dyn Engine>,
    /// The user's surroundings.
    pub host: &'a HostView,
    /// The user's variables, of which the installers get their own settings and those about the network.
    pub variables: &'a [(OsString, OsString)],
    /// How long it may take, with all waiting.
    pub budget: Duration,
    /// Whether what is installed already counts.
    pub refresh: Refresh,
}

/// A directory of installs.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// A finished install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallRecord {
    /// Its name in the store.
    pub id: String,
    /// What is written down of it.
    pub manifest: Manifest,
    /// How many requests are pinned to it; none once a refresh has replaced it.
    pub pins: usize,
}

/// Which install a request is pinned to.
#[derive(Serialize, Deserialize)]
struct Pin {
    install: String,
    request: Request,
}

impl Store {
    /// Opens a store, making it where there is none.
    pub fn open(directory: &Path) -> Result<Self, InstallError> {
        fs::create_dir_all(directory).map_err(InstallError::file("make", directory))?;
        let root = fs::canonicalize(directory).map_err(InstallError::file("find", directory))?;
        for name in ["installs", "requests", "locks", "staging"] {
            let path = root.join(name);
            fs::create_dir_all(&path).map_err(InstallError::file("make", &path))?;
        }
        Ok(Self { root })
    }

    /// Makes sure that a command can run, and says how. Only an install needs the network, and only the first call for
    /// a request installs, however many there are at once and in however many processes.
    ///
    /// Dropping the future ends the install and leaves the store as it was.
    pub async fn ensure(
        &self,
        command: &PackageCommand,
        context: &InstallContext<'_>,
        progress: &dyn InstallProgress,
    ) -> Result<Installed, InstallError> {
        let request = &command.request;
        let before = self.pinned(request);
        if let (Some((id, manifest)), Refresh::Never) = (&before, context.refresh) {
            return resolve(id, &self.tree(id), manifest, command, context.host);
        }
        if context.engine.kind() != EngineKind::Native {
            return Err(InstallError::Engine);
        }
        let deadline = Instant::now() + context.budget;
        let observer = Observer::new(progress);
        let _flight = self.take_flight(request, context, &observer, deadline).await?;
        // Whoever had the lock may have installed what is wanted here.
        if let Some((id, manifest)) = self.pinned(request)
            && (context.refresh == Refresh::Never || before.is_none_or(|(old, _)| old != id))
        {
            return resolve(&id, &self.tree(&id), &manifest, command, context.host);
        }
        let (id, manifest) = self.install(request, context, observer, deadline).await?;
        resolve(&id, &self.tree(&id), &manifest, command, context.host)
    }

    /// The install that a command would run now, if there is one.
    #[must_use]
    pub fn find(&self, command: &PackageCommand, host: &HostView) -> Option<Result<Installed, InstallError>> {
        let (id, manifest) = self.pinned(&command.request)?;
        Some(resolve(&id, &self.tree(&id), &manifest, command, host))
    }

    async fn take_flight(
        &self,
        request: &Request,
        context: &InstallContext<'_>,
        observer: &Observer<'_>,
        deadline: Instant,
    ) -> Result<File, InstallError> {
        let path = self.root.join("locks").join(format!("{}.lock", request.key()));
        let mut waiting = false;
        loop {
            if let Some(lock) = take_lock(&path)? {
                return Ok(lock);
            }
            if Instant::now() >= deadline {
                return Err(InstallError::Timeout {
                    package: request.to_string(),
                    phase: InstallPhase::Waiting,
                    budget: context.budget,
                    output: observer.take_last_words(),
                });
            }
            if !waiting {
                observer.step(&format!("waiting for another install of {request}"));
                waiting = true;
            }
            sleep(LOCK_INTERVAL).await;
        }
    }

    async fn install(
        &self,
        request: &Request,
        context: &InstallContext<'_>,
        observer: Observer<'_>,
        deadline: Instant,
    ) -> Result<(String, Manifest), InstallError> {
        let staging_parent = self.root.join("staging");
        blocking(move || sweep(&staging_parent)).await?;
        let id = new_id(request)?;
        let destination = self.root.join("installs").join(&id);
        let staging = Staging::create(&self.root.join("staging"), &id)?;
        let mut settings =
            RegistrySettings::gather(request.ecosystem, context.host, context.variables, Path::new("/etc"));
        settings.directories.extend(named_python(request, context.host));
        let observer = observer.with_secrets(settings.secrets.clone());
        observer.enter(InstallPhase::Preparing, &format!("installing {request}"));
        let job = Job {
            package: request.to_string(),
            engine: &*context.engine,
            host: context.host,
            places: staging.places(&destination),
            settings,
            observer,
            budget: context.budget,
            deadline,
        };
        let packages = match request.ecosystem {
            Ecosystem::Npm => npm::install(&job, request).await?,
            Ecosystem::Python => python::install(&job, request).await?,
        };
        job.observer.enter(InstallPhase::Recording, "recording what was installed");
        let this = self.clone();
        let (recorded, wanted) = (request.clone(), id.clone());
        let manifest = blocking(move || this.finish(staging, &wanted, &recorded, packages)).await?;
        job.observer.step(&format!("installed {} {}", request.name(), manifest.version));
        Ok((id, manifest))
    }

    /// Writes down what was installed, puts it into place and pins the request to it.
    fn finish(
        &self,
        staging: Staging,
        id: &str,
        request: &Request,
        packages: Vec<PinnedPackage>,
    ) -> Result<Manifest, InstallError> {
        let directory = staging.directory();
        let main = packages.iter().find(|package| package.name == request.name()).cloned();
        let main = main.ok_or_else(|| InstallError::Broken {
            path: directory.to_path_buf(),
            problem: format!("the installer did not install `{}`", request.name()),
        })?;
        let work = directory.join("work");
        remove(&work).map_err(InstallError::file("remove", &work))?;
        let files = tree::to_text(&tree::list(&directory.join("tree"))?);
        write_whole(&directory.join("files"), files.as_bytes())?;
        let manifest = Manifest::new(request, &main, packages, tree::text_digest(&files));
        write_whole(&directory.join("manifest.json"), &to_json(&manifest)?)?;
        let installs = self.root.join("installs");
        // A power cut must not leave a finished name on unfinished files.
        let sync = |path: &Path| File::open(path).and_then(|file| Ok(rustix::fs::syncfs(&file)?));
        sync(&installs).map_err(InstallError::file("write out", &installs))?;
        let destination = installs.join(id);
        fs::rename(directory, &destination).map_err(InstallError::file("put into place", &destination))?;
        drop(staging);
        self.pin(request, id)?;
        // Whoever asks for just this version needs no install of its own.
        if let [only] = &request.packages[..] {
            let exact = only.pinned(request.ecosystem, &manifest.version);
            let exact = Request { packages: vec![exact], ..request.clone() };
            if self.pinned(&exact).is_none() {
                self.pin(&exact, id)?;
            }
        }
        Ok(manifest)
    }

    fn pin(&self, request: &Request, id: &str) -> Result<(), InstallError> {
        let pin = Pin { install: id.to_owned(), request: request.clone() };
        write_whole(&self.pin_path(request), &to_json(&pin)?)
    }

    /// The usable install that a request is pinned to.
    fn pinned(&self, request: &Request) -> Option<(String, Manifest)> {
        let pin: Pin = read_json(&self.pin_path(request)).ok()?;
        let manifest = Manifest::read(&self.directory(&pin.install).ok()?.join("manifest.json")).ok()?;
        is_usable(&self.tree(&pin.install), &manifest).then_some((pin.install, manifest))
    }

    fn pin_path(&self, request: &Request) -> PathBuf {
        self.root.join("requests").join(format!("{}.json", request.key()))
    }

    fn tree(&self, id: &str) -> PathBuf {
        self.root.join("installs").join(id).join("tree")
    }

    fn directory(&self, id: &str) -> Result<PathBuf, InstallError> {
        let path = self.root.join("installs").join(id);
        if id.is_empty() || id.starts_with('.') || id.contains('/') || !path.is_dir() {
            return Err(InstallError::Broken { path, problem: "there is no such install".to_owned() });
        }
        Ok(path)
    }
}

mod upkeep;

/// A name that no install had before.
fn new_id(request: &Request) -> Result<String, InstallError> {
    let mut random = [0; 6];
    getrandom::fill(&mut random).map_err(|error| InstallError::File {
        what: "find a name in",
        path: PathBuf::from("the store"),
        source: std::io::Error::other(error.to_string()),
    })?;
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '_' };
    let name = request.name().trim_start_matches('@').chars().take(60).map(plain).collect::<String>();
    Ok(format!("{name}-{}", hex(&random)))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
