//! Makes the processes of one server: installs its package if need be, plans its box, starts it.

use crate::cli::BoxFlags;
use crate::commands::console::Console;
use crate::commands::sandbox;
use crate::failure::Failure;
use kennel_box::{BoxPlan, Command, Engine, HostView, MountRules, infer};
use kennel_exec::{Attachment, StartRequest};
use kennel_packages::{Hint, InstallContext, InstallError, InstallProgress, Installed, PackageCommand, Refresh, Store};
use kennel_supervisor::{BoxLauncher, LaunchFailure, LaunchFuture, LaunchSteps, Launcher, Permanence, Phase};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// Everything that is known of the server before anything of it is started.
pub(crate) struct Definition {
    pub(crate) command: Vec<OsString>,
    pub(crate) sandbox: BoxFlags,
    pub(crate) inference: Inference,
    /// Where packages are installed.
    pub(crate) store: PathBuf,
    pub(crate) refresh: Refresh,
    /// How long an install may take.
    pub(crate) install_budget: Duration,
}

/// Whether paths that the command names are granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inference {
    Granted,
    Off,
}

/// Starts processes of one server. What has to be found out is found out at the first start.
pub(crate) struct ServerLauncher {
    definition: Definition,
    attachment: Arc<Attachment>,
    console: Arc<Console>,
    /// Makes the boxes in which packages are installed.
    installer: Arc<dyn Engine>,
    prepared: OnceCell<BoxLauncher>,
}

/// What runs, whichever way it was found.
struct Runnable {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    /// What it needs to read, whatever the command names.
    reads: Vec<PathBuf>,
}

impl ServerLauncher {
    pub(crate) fn new(
        definition: Definition,
        attachment: Arc<Attachment>,
        console: Arc<Console>,
        installer: Arc<dyn Engine>,
    ) -> Self {
        Self { definition, attachment, console, installer, prepared: OnceCell::new() }
    }

    async fn prepare(&self, steps: &dyn LaunchSteps) -> Result<BoxLauncher, LaunchFailure> {
        let command = &self.definition.command;
        let recognised = PackageCommand::recognise(command)
            .map_err(|error| failure(Phase::Install, error.to_string(), Permanence::Permanent))?;
        let run = match recognised {
            Some(package) => self.install(&package, steps).await?.into(),
            None => Runnable::of(command)
                .ok_or_else(|| failure(Phase::CreateBox, "no command was given".to_owned(), Permanence::Permanent))?,
        };
        let plan = self.plan(&run).map_err(|error| LaunchFailure {
            hint: error.hint(),
            ..failure(Phase::CreateBox, error.to_string(), Permanence::Permanent)
        })?;
        let Runnable { program, args, env, .. } = run;
        let command = Command { program, args, env, ..Command::default() };
        let request = StartRequest { plan: Arc::new(plan), command };
        Ok(BoxLauncher::new(Arc::clone(&self.attachment), "server", request))
    }

    /// Has the package in the store, from before or from now on.
    async fn install(&self, package: &PackageCommand, steps: &dyn LaunchSteps) -> Result<Installed, LaunchFailure> {
        let failed = |error: InstallError| {
            let permanence = match &error {
                InstallError::Failed { hint: Hint::Offline | Hint::Unknown | Hint::DiskFull, .. }
                | InstallError::Timeout { .. }
                | InstallError::File { .. } => Permanence::Transient,
                _ => Permanence::Permanent,
            };
            failure(Phase::Install, error.to_string(), permanence)
        };
        steps.entered(Phase::Install);
        let host = HostView::current();
        let store = Store::open(&self.definition.store).map_err(failed)?;
        let variables: Vec<_> = std::env::vars_os().collect();
        let context = InstallContext {
            engine: Arc::clone(&self.installer),
            host: &host,
            variables: &variables,
            budget: self.definition.install_budget,
            refresh: self.definition.refresh,
        };
        let progress = Steps(steps);
        let installed = tokio::select! {
            installed = store.ensure(package, &context, &progress) => installed.map_err(failed)?,
            () = steps.cancelled().cancelled() => {
                let text = "the install was called off".to_owned();
                return Err(failure(Phase::Install, text, Permanence::Transient));
            }
        };
        let Installed { name, version, integrity, .. } = &installed;
        let members = json!({ "package": name, "version": version, "integrity": integrity });
        self.console.say("package", &format!("{name} {version}, from the store"), members);
        steps.entered(Phase::CreateBox);
        Ok(installed)
    }

    fn plan(&self, run: &Runnable) -> Result<BoxPlan, Failure> {
        let host = HostView::current();
        let rules = MountRules::for_user(&host.home);
        let mut spec = sandbox::spec(&self.definition.sandbox, &host.cwd)?;
        spec.mounts.extend(run.reads.iter().cloned().map(sandbox::read_only));
        if self.definition.inference == Inference::Granted {
            let words: Vec<OsString> = [&run.program].into_iter().chain(&run.args).cloned().collect();
            let inferred = infer(&words, &host, &rules);
            for (path, why) in inferred.refused {
                let text = format!("{} is named in the command but not granted: {why}", path.display());
                self.console.say("not_granted", &text, json!({ "path": path }));
            }
            for path in inferred.grants {
                if sandbox::grants(&spec, &path) {
                    continue;
                }
                let text = format!("read {} (named in the command; --no-infer to turn this off)", path.display());
                self.console.say("granted", &text, json!({ "path": path, "access": "read" }));
                spec.mounts.push(sandbox::read_only(path));
            }
        }
        let programs = sandbox::programs(&run.program, &host);
        let programs: Vec<&Path> = programs.iter().map(PathBuf::as_path).collect();
        Ok(spec.plan(&host, &rules, &programs)?)
    }
}

impl Launcher for ServerLauncher {
    fn launch<'a>(&'a self, steps: &'a dyn LaunchSteps) -> LaunchFuture<'a> {
        Box::pin(async move {
            let launcher = self.prepared.get_or_try_init(|| self.prepare(steps)).await?;
            launcher.launch(steps).await
        })
    }
}

impl Runnable {
    fn of(command: &[OsString]) -> Option<Self> {
        let (program, args) = command.split_first()?;
        Some(Self { program: program.clone(), args: args.to_vec(), env: Vec::new(), reads: Vec::new() })
    }
}

impl From<Installed> for Runnable {
    fn from(installed: Installed) -> Self {
        let Installed { program, args, reads, env, .. } = installed;
        Self { program: program.into_os_string(), args, env, reads }
    }
}

/// Passes on how an install gets on.
struct Steps<'a>(&'a dyn LaunchSteps);

impl InstallProgress for Steps<'_> {
    fn step(&self, text: &str) {
        self.0.progress(text);
    }
}

fn failure(phase: Phase, text: String, permanence: Permanence) -> LaunchFailure {
    LaunchFailure { phase, text, hint: None, permanence, stderr: Vec::new() }
}
