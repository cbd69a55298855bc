//! Makes the processes of one server: fetches its secrets, installs its package if need be, plans its box, starts it.

use crate::commands::belongings::Belongings;
use crate::commands::console::Console;
use crate::commands::definition::Definition;
use crate::commands::fetching::fetched;
use crate::commands::sandbox;
use crate::commands::server::Ground;
use crate::failure::Failure;
use kennel_box::{BoxPlan, BoxSpec, Command, Engine, EngineKind, HostView, MountRules, infer, note_written};
use kennel_config::{ResolvedLaunch, ResolvedProcess, Sources, SystemSources};
use kennel_exec::{Attachment, StartRequest};
use kennel_packages::{
    Hint, InstallContext, InstallError, InstallLimits, InstallProgress, Installed, PackageCommand, Refresh, Store,
};
use kennel_supervisor::{BoxLauncher, LaunchFailure, LaunchFuture, LaunchSteps, Launcher, Permanence, Phase};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// How many plans are kept beside the one in use.
const MOST_FORMER: usize = 8;

/// Starts processes of one server. What it refers to is fetched for each; what follows from it is found out once, as long as
/// that stays the same.
pub(crate) struct ServerLauncher {
    definition: Arc<Definition>,
    attachment: Arc<Attachment>,
    console: Arc<Console>,
    /// Makes the boxes in which packages are installed: whatever a server runs in, its package is installed in a box.
    installer: Arc<dyn Engine>,
    /// Where packages are installed.
    store: PathBuf,
    /// How long an install may take.
    install_budget: Duration,
    /// How large it may become.
    install_limits: InstallLimits,
    sources: Arc<dyn Sources + Send + Sync>,
    belongings: Arc<Belongings>,
    /// Held while one start prepares what the others can use.
    prepared: Mutex<Option<Prepared>>,
}

/// What was found out for a start.
struct Prepared {
    process: ResolvedProcess,
    planned: Planned,
    /// Plans of before, whose boxes may still run.
    former: Vec<Arc<BoxPlan>>,
    /// How many there were before: names of processes are used once.
    number: u64,
}

/// A way to start processes, as long as what it was planned on stays what it is.
struct Planned {
    launcher: Arc<BoxLauncher>,
    plan: Arc<BoxPlan>,
    /// What was installed for it.
    reads: Vec<PathBuf>,
}

/// What runs, whichever way it was found.
struct Runnable {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    /// What it needs to read, whatever the command names.
    reads: Vec<PathBuf>,
    /// The words that the user wrote, in which paths count; the first names a program. What comes out of a store is nobody's
    /// word.
    words: Vec<OsString>,
    /// What of the program is outside of the store, and so may be a link into a toolchain.
    program_outside: Option<OsString>,
}

impl ServerLauncher {
    pub(crate) fn new(
        definition: Definition,
        attachment: Arc<Attachment>,
        console: Arc<Console>,
        ground: &Ground,
        install_budget: Duration,
        install_limits: InstallLimits,
    ) -> Self {
        // Servers start when they are called: the first of them must not find links of one that ran in an earlier Kennel.
        let written = definition.server.written_paths(&definition.directory, &SystemSources::default());
        note_written(written.iter().map(PathBuf::as_path));
        Self {
            definition: Arc::new(definition),
            attachment,
            console,
            installer: Arc::clone(&ground.native),
            store: ground.data.join("store"),
            install_budget,
            install_limits,
            sources: Arc::clone(&ground.sources),
            belongings: Arc::clone(&ground.belongings),
            prepared: Mutex::default(),
        }
    }

    async fn prepare(&self, steps: &dyn LaunchSteps) -> Result<Arc<BoxLauncher>, LaunchFailure> {
        let process = self.resolve(steps).await?;
        let mut prepared = self.prepared.lock().await;
        let mut is_replaced = false;
        if let Some(Prepared { planned, .. }) = prepared.as_ref().filter(|known| known.process == process) {
            let rules = || rules(&self.belongings, &host(&self.definition), &process, &planned.reads);
            if planned.plan.is_current(rules) {
                return Ok(Arc::clone(&planned.launcher));
            }
            is_replaced = true;
        }
        let number = prepared.as_ref().map_or(0, |before| before.number + 1);
        let planned = self.plan_for(&process, number, steps).await;
        let planned = planned.map_err(|failure| match failure.permanence {
            // It worked before, and a path may be about to come back.
            Permanence::Permanent if is_replaced => LaunchFailure { permanence: Permanence::Transient, ..failure },
            _ => failure,
        })?;
        self.belongings.note_grants(&self.definition.title, planned.plan.write_grants());
        let launcher = Arc::clone(&planned.launcher);
        let mut former = Vec::new();
        if let Some(before) = prepared.take() {
            former = before.former;
            former.push(before.planned.plan);
            former.drain(..former.len().saturating_sub(MOST_FORMER));
        }
        *prepared = Some(Prepared { process, planned, former, number });
        Ok(launcher)
    }

    /// Fetches what the definition refers to.
    async fn resolve(&self, steps: &dyn LaunchSteps) -> Result<ResolvedProcess, LaunchFailure> {
        let launch = tokio::select! {
            launch = fetched(&self.definition, &self.sources, &self.console) => launch?,
            () = steps.cancelled().cancelled() => {
                let text = "fetching what the definition refers to was called off".to_owned();
                return Err(failure(Phase::CreateBox, text, Permanence::Transient));
            }
        };
        match launch {
            ResolvedLaunch::Process(process) => Ok(*process),
            ResolvedLaunch::Upstream(_) => {
                let text = "this server runs elsewhere; there is nothing to start".to_owned();
                Err(failure(Phase::CreateBox, text, Permanence::Permanent))
            }
        }
    }

    async fn plan_for(
        &self,
        process: &ResolvedProcess,
        number: u64,
        steps: &dyn LaunchSteps,
    ) -> Result<Planned, LaunchFailure> {
        let words: Vec<OsString> = process.command.iter().map(OsString::from).collect();
        let recognised = PackageCommand::recognise(&words)
            .map_err(|error| failure(Phase::Install, error.to_string(), Permanence::Permanent))?;
        let run = match recognised {
            Some(package) => self.install(&package, process, steps).await?.into(),
            None => Runnable::of(&words)
                .ok_or_else(|| failure(Phase::CreateBox, "no command was given".to_owned(), Permanence::Permanent))?,
        };
        // Looking at paths opens them. Without descriptors, a plan would lack what it should grant, and be kept.
        spare_descriptors()?;
        // It looks at many files, which may be slow.
        let (definition, console, process) = (Arc::clone(&self.definition), Arc::clone(&self.console), process.clone());
        let belongings = Arc::clone(&self.belongings);
        let planned = tokio::task::spawn_blocking(move || {
            let plan = plan(&definition, &console, &belongings, &process, &run);
            plan.map(|plan| (plan, run))
        });
        let planned = planned.await.map_err(|error| {
            failure(Phase::CreateBox, format!("the box could not be planned: {error}"), Permanence::Transient)
        })?;
        spare_descriptors()?;
        let (plan, run) = planned.map_err(|error| LaunchFailure {
            hint: error.hint(),
            ..failure(Phase::CreateBox, error.to_string(), Permanence::Permanent)
        })?;
        for notice in &plan.notices {
            self.console.say("notice", notice, json!({}));
        }
        if let Some(directory) = &plan.bare_cwd {
            self.console.say("bare_cwd", &sandbox::bare(directory), json!({ "path": directory }));
        }
        let Runnable { program, args, env, reads, .. } = run;
        let (command, plan) = (Command { program, args, env, ..Command::default() }, Arc::new(plan));
        let request = StartRequest { plan: Arc::clone(&plan), command };
        let launcher = BoxLauncher::new(Arc::clone(&self.attachment), format!("server{number}"), request);
        Ok(Planned { launcher: Arc::new(launcher), plan, reads })
    }

    /// Has the package in the store, from before or from now on.
    async fn install(
        &self,
        package: &PackageCommand,
        process: &ResolvedProcess,
        steps: &dyn LaunchSteps,
    ) -> Result<Installed, LaunchFailure> {
        let failed = |error: InstallError| {
            let permanence = match &error {
                InstallError::Failed { hint: Hint::Offline | Hint::Unknown | Hint::DiskFull, .. }
                | InstallError::Timeout { .. }
                | InstallError::File { .. } => Permanence::Transient,
                InstallError::Tree { source, .. } if source.is_transient() => Permanence::Transient,
                _ => Permanence::Permanent,
            };
            failure(Phase::Install, error.to_string(), permanence)
        };
        steps.entered(Phase::Install);
        let host = host(&self.definition);
        let directory = self.store.clone();
        let store = tokio::task::spawn_blocking(move || Store::open(&directory)).await;
        let store = store.map_err(|error| {
            failure(Phase::Install, format!("the store could not be opened: {error}"), Permanence::Transient)
        })?;
        let store = store.map_err(failed)?;
        let variables: Vec<_> = std::env::vars_os().collect();
        let context = InstallContext {
            engine: Arc::clone(&self.installer),
            host: &host,
            variables: &variables,
            budget: self.install_budget,
            refresh: if process.refresh { Refresh::Now } else { Refresh::Never },
            limits: self.install_limits,
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
}

fn plan(
    definition: &Definition,
    console: &Console,
    belongings: &Arc<Belongings>,
    process: &ResolvedProcess,
    run: &Runnable,
) -> Result<BoxPlan, Failure> {
    let host = host(definition);
    let rules = rules(belongings, &host, process, &run.reads);
    let mut spec: BoxSpec = process.spec.clone();
    spec.mounts.extend(run.reads.iter().cloned().map(sandbox::read_only));
    if process.infer {
        let inferred = infer(&run.words, &host, &rules, &spec);
        for (path, why) in inferred.refused {
            let text = format!("{} is named in the command but not granted: {why}", path.display());
            console.say("not_granted", &text, json!({ "path": path }));
        }
        for path in inferred.grants {
            if sandbox::grants(&spec, &path) {
                continue;
            }
            let text = format!("read {} (named in the command; --no-infer to turn this off)", path.display());
            console.say("granted", &text, json!({ "path": path, "access": "read" }));
            spec.mounts.push(sandbox::read_only(path));
        }
    }
    let programs = run.program_outside.iter().flat_map(|program| sandbox::programs(program, &host)).collect::<Vec<_>>();
    let programs: Vec<&Path> = programs.iter().map(PathBuf::as_path).collect();
    Ok(spec.plan(&host, &rules, &programs)?)
}

/// The rules on what the boxes of a server may be granted. What was installed for it is Kennel's own and shown all the same.
fn rules(
    belongings: &Arc<Belongings>,
    host: &HostView,
    process: &ResolvedProcess,
    installed: &[PathBuf],
) -> MountRules {
    match process.spec.engine {
        EngineKind::Native => belongings.rules(&host.home).showing(installed),
        // Without a box there is nothing to keep from it.
        EngineKind::Host => MountRules::for_user(&host.home),
    }
}

/// This machine, seen from where the definition is.
fn host(definition: &Definition) -> HostView {
    HostView { cwd: definition.directory.clone(), ..HostView::current() }
}

/// How many descriptors have to be free while a box is planned.
const SPARE: usize = 16;

/// Fails, for now, where this process could not open a few more files.
fn spare_descriptors() -> Result<(), LaunchFailure> {
    let open = || std::fs::File::open("/dev/null");
    let spare: std::io::Result<Vec<_>> = (0..SPARE).map(|_| open()).collect();
    spare.map(drop).map_err(|error| LaunchFailure {
        hint: Some("raise the limit of open files (`ulimit -n`)".to_owned()),
        ..failure(Phase::CreateBox, format!("Kennel has no open files to spare: {error}"), Permanence::Transient)
    })
}

impl Launcher for ServerLauncher {
    fn launch<'a>(&'a self, steps: &'a dyn LaunchSteps) -> LaunchFuture<'a> {
        Box::pin(async move {
            let launcher = self.prepare(steps).await?;
            launcher.launch(steps).await
        })
    }
}

impl Runnable {
    fn of(command: &[OsString]) -> Option<Self> {
        let (program, args) = command.split_first()?;
        Some(Self {
            program: program.clone(),
            args: args.to_vec(),
            env: Vec::new(),
            reads: Vec::new(),
            words: command.to_vec(),
            program_outside: Some(program.clone()),
        })
    }
}

impl From<Installed> for Runnable {
    fn from(installed: Installed) -> Self {
        let Installed { program, program_args, args, interpreter, reads, env, .. } = installed;
        // In the place of the program: nothing, which names no path.
        let words = [OsString::new()].into_iter().chain(args.iter().cloned()).collect();
        Self {
            program: program.into_os_string(),
            args: [program_args, args].concat(),
            env,
            reads,
            words,
            program_outside: interpreter.map(PathBuf::into_os_string),
        }
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
