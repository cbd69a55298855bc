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
use crate::foreign::{InstallLimits, failed, hex, judged};
use crate::installed::{Installed, Pinned, named_python, resolve};
use crate::manifest::{Contents, Manifest, read_json, to_json, write_whole};
use crate::output::{InstallProgress, Observer};
use crate::settings::RegistrySettings;
use crate::spec::Ecosystem;
use crate::staging::{Staging, blocking, sweep, take_lock};
use crate::workshop::Job;
use crate::{npm, python};
use kennel_box::{Engine, EngineKind, HostView};
use kennel_tree::{Bound, TreeError, Trees};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How often a lock that somebody else holds is tried again.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// How long an install waits at its end for the removal of what earlier ones left, which goes on beside it.
const SWEEP_GRACE: Duration = Duration::from_secs(5);

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
    /// The most that the install may be.
    pub limits: InstallLimits,
}

/// A directory of installs.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    /// Look at what is in it. They are this same program, whose `main` begins with [`kennel_tree::run_if_helper`].
    trees: Trees,
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
    /// Opens a store, making it where there is none. The disk is waited for.
    pub fn open(directory: &Path) -> Result<Self, InstallError> {
        fs::create_dir_all(directory).map_err(InstallError::file("make", directory))?;
        let root = fs::canonicalize(directory).map_err(InstallError::file("find", directory))?;
        for name in ["installs", "requests", "locks", "staging"] {
            let path = root.join(name);
            fs::create_dir_all(&path).map_err(InstallError::file("make", &path))?;
        }
        Ok(Self { root, trees: Trees::default() })
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
        let before = self.pinned(request).await?;
        if let (Some(pinned), Refresh::Never) = (&before, context.refresh)
            && let Some(installed) = resolve(&self.trees, pinned, command, context.host).await?
        {
            return Ok(installed);
        }
        if context.engine.kind() != EngineKind::Native {
            return Err(InstallError::Engine);
        }
        let deadline = Instant::now() + context.budget;
        let observer = Observer::new(progress);
        let _flight = self.take_flight(request, context, &observer, deadline).await?;
        // Whoever had the lock may have installed what is wanted here.
        if let Some(pinned) = self.pinned(request).await?
            && (context.refresh == Refresh::Never || before.is_none_or(|old| old.id != pinned.id))
            && let Some(installed) = resolve(&self.trees, &pinned, command, context.host).await?
        {
            return Ok(installed);
        }
        let pinned = Box::pin(self.install(request, context, observer, deadline)).await?;
        let installed = resolve(&self.trees, &pinned, command, context.host).await?;
        installed.ok_or_else(|| InstallError::Broken {
            path: pinned.tree,
            problem: "what was just installed cannot be used".to_owned(),
        })
    }

    /// The install that a command would run now, if there is one.
    pub async fn find(&self, command: &PackageCommand, host: &HostView) -> Result<Option<Installed>, InstallError> {
        let Some(pinned) = self.pinned(&command.request).await? else { return Ok(None) };
        resolve(&self.trees, &pinned, command, host).await
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
            let lock = path.clone();
            if let Some(lock) = blocking(move || take_lock(&lock)).await? {
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

    /// Installs, and meanwhile removes what earlier installs left: that delays nobody, and its failure is no error.
    async fn install(
        &self,
        request: &Request,
        context: &InstallContext<'_>,
        observer: Observer<'_>,
        deadline: Instant,
    ) -> Result<Pinned, InstallError> {
        let parent = self.root.join("staging");
        let progress = observer.progress();
        let warn = |text: &str| progress.step(text);
        let mut sweeping = pin!(sweep(&self.trees, &parent, &warn));
        let mut swept = false;
        let mut installing = pin!(self.install_anew(request, context, observer, deadline));
        loop {
            tokio::select! {
                biased;
                outcome = &mut installing => {
                    if !swept {
                        // What is not removed by then stays for the next time.
                        let _ = timeout(SWEEP_GRACE, sweeping).await;
                    }
                    return outcome;
                }
                () = &mut sweeping, if !swept => swept = true,
            }
        }
    }

    async fn install_anew(
        &self,
        request: &Request,
        context: &InstallContext<'_>,
        observer: Observer<'_>,
        deadline: Instant,
    ) -> Result<Pinned, InstallError> {
        let id = new_id(request)?;
        let (parent, name) = (self.root.join("staging"), id.clone());
        let staging = blocking(move || Staging::create(&parent, &name)).await?;
        let outcome = self.install_into(&staging, &id, request, context, observer, deadline).await;
        match outcome {
            Ok(manifest) => {
                let tree = self.tree(&id);
                blocking(move || {
                    staging.release();
                    Ok(Pinned { id, manifest, tree })
                })
                .await
            }
            Err(error) => {
                // What is left is removed before a later install, which says what is wrong with it.
                let _ = staging.discard(&self.trees).await;
                Err(error)
            }
        }
    }

    async fn install_into(
        &self,
        staging: &Staging,
        id: &str,
        request: &Request,
        context: &InstallContext<'_>,
        observer: Observer<'_>,
        deadline: Instant,
    ) -> Result<Manifest, InstallError> {
        let destination = self.root.join("installs").join(id);
        let (wanted, host, variables) = (request.clone(), context.host.clone(), context.variables.to_vec());
        let settings = blocking(move || {
            let mut settings = RegistrySettings::gather(wanted.ecosystem, &host, &variables, Path::new("/etc"));
            settings.directories.extend(named_python(&wanted, &host));
            Ok(settings)
        });
        let settings = settings.await?;
        let observer = observer.with_secrets(settings.secrets.clone());
        for note in &settings.notes {
            observer.step(note);
        }
        observer.enter(InstallPhase::Preparing, &format!("installing {request}"));
        let job = Job {
            package: request.to_string(),
            engine: &*context.engine,
            trees: &self.trees,
            limits: context.limits,
            used: AtomicBool::new(false),
            host: context.host,
            places: staging.places(&destination),
            settings,
            observer,
            budget: context.budget,
            deadline,
        };
        let contents = match request.ecosystem {
            Ecosystem::Npm => npm::install(&job, request).await?,
            Ecosystem::Python => python::install(&job, request).await?,
        };
        job.observer.enter(InstallPhase::Recording, "recording what was installed");
        let files = self.record(&job).await?;
        let (this, recorded, directory) = (self.clone(), request.clone(), staging.directory());
        let finish = move || this.finish(&directory, &destination, &recorded, contents, files);
        let manifest = blocking(finish).await?;
        job.observer.step(&format!("installed {} {}", request.name(), manifest.version));
        Ok(manifest)
    }

    /// Lists all that was installed, within the limits; returns the digest of the list.
    async fn record(&self, job: &Job<'_>) -> Result<String, InstallError> {
        let directory = &job.places.directory;
        let left = job.deadline.saturating_duration_since(Instant::now());
        let judged = |source| match source {
            TreeError::Exceeded { bound: Bound::Time, .. } | TreeError::Timeout { .. } => job.timeout(),
            source => judged(&job.package, "record", directory, source),
        };
        let session = self.trees.open(directory, job.limits.bounds(left)).await;
        let mut session = session.map_err(failed("record", directory))?;
        session.remove(Path::new("work")).await.map_err(judged)?;
        let recorded = session.record(Path::new("tree"), Path::new("files")).await.map_err(judged)?;
        Ok(recorded.digest)
    }

    /// Writes down what was installed, puts it into place and pins the request to it.
    fn finish(
        &self,
        directory: &Path,
        destination: &Path,
        request: &Request,
        contents: Contents,
        files: String,
    ) -> Result<Manifest, InstallError> {
        let main = contents.packages.iter().find(|package| package.name == request.name()).cloned();
        let main = main.ok_or_else(|| InstallError::Broken {
            path: directory.to_path_buf(),
            problem: format!("the installer did not install `{}`", request.name()),
        })?;
        let manifest = Manifest::new(request, &main, contents, files);
        write_whole(&directory.join("manifest.json"), &to_json(&manifest)?)?;
        let installs = self.root.join("installs");
        // A power cut must not leave a finished name on unfinished files.
        let sync = |path: &Path| File::open(path).and_then(|file| Ok(rustix::fs::syncfs(&file)?));
        sync(&installs).map_err(InstallError::file("write out", &installs))?;
        fs::rename(directory, destination).map_err(InstallError::file("put into place", destination))?;
        let id = destination.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.pin(request, id)?;
        // Whoever asks for just this version needs no install of its own.
        if let [only] = &request.packages[..] {
            let exact = only.pinned(request.ecosystem, &manifest.version);
            let exact = Request { packages: vec![exact], ..request.clone() };
            if self.pinned_now(&exact).is_none() {
                self.pin(&exact, id)?;
            }
        }
        Ok(manifest)
    }

    fn pin(&self, request: &Request, id: &str) -> Result<(), InstallError> {
        let pin = Pin { install: id.to_owned(), request: request.clone() };
        write_whole(&self.pin_path(request), &to_json(&pin)?)
    }

    /// The install that a request is pinned to.
    async fn pinned(&self, request: &Request) -> Result<Option<Pinned>, InstallError> {
        let (this, request) = (self.clone(), request.clone());
        blocking(move || Ok(this.pinned_now(&request))).await
    }

    fn pinned_now(&self, request: &Request) -> Option<Pinned> {
        let pin: Pin = read_json(&self.pin_path(request)).ok()?;
        let manifest = Manifest::read(&self.directory(&pin.install).ok()?.join("manifest.json")).ok()?;
        Some(Pinned { tree: self.tree(&pin.install), id: pin.install, manifest })
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
