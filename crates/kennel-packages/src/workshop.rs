//! The box in which an installer runs: writable is the install alone, and the network is on.

use crate::error::{Hint, InstallError};
use crate::foreign::{InstallLimits, judged};
use crate::output::{Observer, hint};
use crate::ports;
use crate::settings::{BOX_HOME, RegistrySettings};
use crate::staging::{REMOVAL, blocking, remove};
use kennel_box::{
    AccessMode, BoxError, BoxPlan, BoxSpec, Command, Engine, ExitCause, ExitReport, HostView, MountRules, MountSpec,
    Network, Profile, RunningBox, Size,
};
use kennel_tree::{TreeError, Trees};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// How long the streams of an installer may stay open after its end; what holds them is ended with the box.
const DRAIN: Duration = Duration::from_secs(2);

/// How often it is measured what an install takes of the disk, and how much of the time that may cost.
const MEASURE_INTERVAL: Duration = Duration::from_secs(3);
const MEASURE_SHARE: u32 = 20;

/// Where an install is while it is made, and where it will be.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// What holds the tree and the work directory.
    pub(crate) directory: PathBuf,
    /// What will be kept.
    pub(crate) tree: PathBuf,
    /// What is needed only while it is made.
    pub(crate) work: PathBuf,
    /// Where the tree will be, and where the installer sees it already, so that every path it writes stays true.
    pub(crate) final_tree: PathBuf,
    /// Where the installer sees the work directory.
    pub(crate) final_work: PathBuf,
}

/// What all steps of one install share.
pub(crate) struct Job<'a> {
    pub(crate) package: String,
    pub(crate) engine: &'a dyn Engine,
    pub(crate) trees: &'a Trees,
    pub(crate) limits: InstallLimits,
    /// Whether a box has worked here before.
    pub(crate) used: AtomicBool,
    pub(crate) host: &'a HostView,
    pub(crate) places: Places,
    pub(crate) settings: RegistrySettings,
    pub(crate) observer: Observer<'a>,
    pub(crate) budget: Duration,
    pub(crate) deadline: Instant,
}

/// Whether a box may hold the user's credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It runs nothing but the installer.
    Credentials,
    /// It runs foreign code.
    NoCredentials,
}

/// A box for an installer.
pub(crate) struct Workshop<'a> {
    job: &'a Job<'a>,
    running: Arc<dyn RunningBox>,
    variables: Vec<(OsString, OsString)>,
}

impl Job<'_> {
    /// Makes a box in which the given programs can run.
    pub(crate) async fn workshop(&self, trust: Trust, programs: &[&Path]) -> Result<Workshop<'_>, InstallError> {
        let settings = match trust {
            Trust::Credentials => self.settings.clone(),
            Trust::NoCredentials => self.settings.without_secrets(),
        };
        self.clear_work().await?;
        let plan = self.plan(&settings, programs).map_err(|source| self.boxed(source))?;
        let made = timeout_at(self.deadline, self.engine.create(&plan)).await;
        let running = made.map_err(|_| self.timeout())?.map_err(|source| self.boxed(source))?;
        let workshop = Workshop { job: self, running, variables: settings.variables };
        for file in &settings.files {
            let place = OsString::from(format!("{BOX_HOME}/{}", file.place));
            let script = "umask 077; mkdir -p \"${1%/*}\" && exec cat > \"$1\"";
            let command = Command {
                program: "/bin/sh".into(),
                args: vec!["-c".into(), script.into(), "sh".into(), place],
                ..Command::default()
            };
            workshop.run("cat", command, &file.content).await?;
        }
        Ok(workshop)
    }

    /// Leaves nothing of an earlier box to this one: its caches may hold addresses with secrets in them.
    async fn clear_work(&self) -> Result<(), InstallError> {
        if self.used.swap(true, Ordering::Relaxed) {
            remove(self.trees, &self.places.directory, "work", REMOVAL).await?;
        }
        make(self.places.work.join("tmp")).await
    }

    /// Begins the install itself anew.
    pub(crate) async fn clear_tree(&self) -> Result<(), InstallError> {
        remove(self.trees, &self.places.directory, "tree", REMOVAL).await?;
        make(self.places.tree.clone()).await
    }

    /// Ends when the install takes more of the disk than it may.
    async fn outgrown(&self) -> InstallError {
        let directory = &self.places.directory;
        let mut pause = MEASURE_INTERVAL;
        loop {
            sleep(pause).await;
            let begin = Instant::now();
            let bounds = self.limits.in_the_making(REMOVAL);
            let measured = match self.trees.open(directory, bounds).await {
                Ok(mut session) => session.measure(Path::new("")).await,
                Err(error) => Err(error),
            };
            match measured {
                Err(source @ TreeError::Exceeded { .. }) => {
                    return judged(&self.package, "measure", directory, source);
                }
                // What changes all the time cannot always be measured; the next time will do.
                _ => pause = MEASURE_INTERVAL.max(begin.elapsed() * MEASURE_SHARE),
            }
        }
    }

    fn plan(&self, settings: &RegistrySettings, programs: &[&Path]) -> Result<BoxPlan, BoxError> {
        let Places { tree, work, final_tree, final_work, .. } = &self.places;
        let place = |host_path: &Path, mount_path: Option<&Path>, mode| MountSpec {
            host_path: host_path.to_path_buf(),
            mount_path: mount_path.map(Path::to_path_buf),
            mode,
        };
        let mut mounts = vec![
            place(tree, Some(final_tree), AccessMode::ReadWrite),
            place(work, Some(final_work), AccessMode::ReadWrite),
        ];
        mounts.extend(settings.directories.iter().map(|path| place(path, None, AccessMode::ReadOnly)));
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(4);
        let spec = BoxSpec {
            engine: self.engine.kind(),
            profile: Profile::Default,
            network: Some(Network::On),
            connect_ports: Some(ports::allowed(settings, &self.package)),
            mounts,
            workdir: Some(final_tree.clone()),
            cpus: u32::try_from(processors).ok().map(f64::from),
            memory: Some(Size::mebibytes(4096)),
            pids: Some(512),
            tmp_size: Some(Size::mebibytes(512)),
            ..BoxSpec::default()
        };
        // The store is Kennel's own, wherever else the caller may grant paths.
        spec.plan(self.host, &MountRules::for_user(&self.host.home), programs)
    }

    pub(crate) fn timeout(&self) -> InstallError {
        InstallError::Timeout {
            package: self.package.clone(),
            phase: self.observer.phase(),
            budget: self.budget,
            output: self.observer.take_last_words(),
        }
    }

    fn boxed(&self, source: BoxError) -> InstallError {
        InstallError::Box { package: self.package.clone(), source }
    }
}

impl Workshop<'_> {
    /// Runs a command to its end, or ends the box with the budget.
    pub(crate) async fn run(
        &self,
        installer: &'static str,
        mut command: Command,
        input: &[u8],
    ) -> Result<(), InstallError> {
        let work = &self.job.places.final_work;
        let mut env = self.variables.clone();
        env.extend([
            ("TMPDIR".into(), work.join("tmp").into()),
            ("NO_COLOR".into(), "1".into()),
            ("CI".into(), "1".into()),
        ]);
        env.append(&mut command.env);
        command.env = env;
        let ended = tokio::select! {
            ended = timeout_at(self.job.deadline, self.run_to_end(&command, input)) => {
                ended.map_err(|_| self.job.timeout())
            }
            error = self.job.outgrown() => Err(error),
        };
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                self.end().await;
                return Err(error);
            }
        };
        let report = ended.map_err(|source| self.job.boxed(source))?;
        let output = self.job.observer.take_last_words();
        if report.success() {
            return Ok(());
        }
        let hint = if report.cause == ExitCause::OutOfMemory { Hint::Memory } else { hint(&output) };
        Err(InstallError::Failed {
            package: self.job.package.clone(),
            installer,
            phase: self.job.observer.phase(),
            exit: report.to_string(),
            hint,
            output,
        })
    }

    async fn run_to_end(&self, command: &Command, input: &[u8]) -> Result<ExitReport, BoxError> {
        let mut process = self.running.start(command).await?;
        let mut streams = pin!(async {
            // A program that does not read its input says why itself.
            let _ = process.stdin.write_all(input).await;
            drop(process.stdin);
            tokio::join!(self.job.observer.follow(process.stdout), self.job.observer.follow(process.stderr))
        });
        tokio::select! {
            report = process.handle.wait() => {
                // What it leaves running may hold the streams open; the box ends that.
                let _ = timeout(DRAIN, streams).await;
                Ok(report)
            }
            _ = &mut streams => Ok(process.handle.wait().await),
        }
    }

    /// Ends the box, and with it all that may still run; the install is Kennel's alone from then on.
    pub(crate) async fn end(&self) {
        // It can only fail because the box is gone.
        let _ = self.running.destroy().await;
    }
}

async fn make(path: PathBuf) -> Result<(), InstallError> {
    blocking(move || fs::create_dir_all(&path).map_err(InstallError::file("make anew", &path))).await
}
