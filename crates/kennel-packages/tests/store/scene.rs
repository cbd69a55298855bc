//! A store of a test's own, the user's real surroundings, and boxes to run in what was installed.

use kennel_box::{
    AccessMode, BoxError, BoxPlan, BoxSpec, Capabilities, Command, Engine, EngineFuture, EngineKind, HostView,
    MountRules, MountSpec, NativeEngine, Network, RunningBox,
};
use kennel_packages::{
    InstallContext, InstallError, InstallLimits, InstallProgress, Installed, PackageCommand, Refresh, Store,
};
use std::ffi::OsString;
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// The first argument of this program when it installs for another one.
pub(crate) const CHILD: &str = "__install";

/// Where npm finds the user's settings.
const USER_CONFIG: &str = "NPM_CONFIG_USERCONFIG";

/// Long enough for any install on any machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

/// Where every test works; gone with it.
pub(crate) struct Scene {
    _directory: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) store: Store,
    pub(crate) host: HostView,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) budget: Duration,
    pub(crate) refresh: Refresh,
    pub(crate) limits: InstallLimits,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("kennel-test-").tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir(root.join("work")).unwrap();
        fs::write(root.join("user.npmrc"), own_npmrc()).unwrap();
        Self {
            store: Store::open(&root.join("store")).unwrap(),
            host: HostView { cwd: root.join("work"), path: path(), ..HostView::current() },
            variables: std::env::vars_os()
                .filter(|(name, _)| !name.eq_ignore_ascii_case(USER_CONFIG))
                .chain([(USER_CONFIG.into(), root.join("user.npmrc").into())])
                .collect(),
            engine: Arc::new(NativeEngine::new(EngineKind::Native, std::env::current_exe().unwrap())),
            budget: PATIENCE,
            refresh: Refresh::Never,
            limits: InstallLimits::default(),
            _directory: directory,
            root,
        }
    }

    /// Writes the user's settings of npm, after those of whoever runs the tests.
    pub(crate) fn write_npmrc(&self, text: &str) {
        fs::write(self.root.join("user.npmrc"), own_npmrc() + text).unwrap();
    }

    pub(crate) async fn ensure(&self, words: &[&str], steps: &Steps) -> Result<Installed, InstallError> {
        self.store.ensure(&command(words), &self.context(), steps).await
    }

    pub(crate) fn context(&self) -> InstallContext<'_> {
        InstallContext {
            engine: Arc::clone(&self.engine),
            host: &self.host,
            variables: &self.variables,
            budget: self.budget,
            refresh: self.refresh,
            limits: self.limits,
        }
    }

    /// Runs what was installed in a box without network, and returns what it printed.
    pub(crate) async fn run(&self, installed: &Installed) -> String {
        let read = |path: &PathBuf| MountSpec { host_path: path.clone(), mount_path: None, mode: AccessMode::ReadOnly };
        let spec = BoxSpec {
            network: Some(Network::Off),
            mounts: installed.reads.iter().map(read).collect(),
            ..BoxSpec::default()
        };
        let rules = MountRules::for_user(&self.host.home);
        let programs = installed.interpreter.iter().map(PathBuf::as_path).collect::<Vec<_>>();
        let plan = spec.plan(&self.host, &rules, &programs).unwrap();
        let command = Command {
            program: installed.program.clone().into(),
            args: [installed.program_args.clone(), installed.args.clone()].concat(),
            env: installed.env.clone(),
            ..Command::default()
        };
        let running = self.engine.create(&plan).await.unwrap();
        let mut process = running.start(&command).await.unwrap();
        drop(process.stdin);
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let _ = tokio::join!(process.stdout.read_to_string(&mut stdout), process.stderr.read_to_string(&mut stderr));
        let report = process.handle.wait().await;
        running.destroy().await.unwrap();
        assert!(report.success(), "{installed:?}: {report}: {stderr}");
        stdout
    }

    /// The names of what is in a part of the store.
    pub(crate) fn names(&self, part: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join("store").join(part)).unwrap();
        let mut names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>();
        names.sort();
        names
    }

    /// Fails unless the store holds nothing and nothing is left of an attempt.
    #[track_caller]
    pub(crate) fn assert_empty(&self) {
        for part in ["installs", "requests", "staging"] {
            assert_eq!(self.names(part), [""; 0], "in {part}");
        }
    }

    /// This program, installing into this scene's store for another process.
    pub(crate) fn child(&self, words: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.arg(CHILD).arg(self.root.join("store")).args(words);
        command.current_dir(self.root.join("work")).env("TMPDIR", &self.root).stdin(std::process::Stdio::null());
        command.env(USER_CONFIG, self.root.join("user.npmrc"));
        command
    }
}

/// The settings of whoever runs the tests, which say how to reach the registry.
fn own_npmrc() -> String {
    let path = std::env::var_os(USER_CONFIG).map_or_else(|| HostView::current().home.join(".npmrc"), PathBuf::from);
    fs::read_to_string(path).map_or_else(|_| String::new(), |text| text + "\n")
}

/// Installs in a process of its own, and prints every step and the outcome.
pub(crate) fn run_as_child(words: &[String]) {
    struct Printed;
    impl InstallProgress for Printed {
        fn step(&self, text: &str) {
            println!("{text}");
        }
    }
    let mut scene = Scene::new();
    scene.store = Store::open(Path::new(&words[0])).unwrap();
    scene.host.cwd = std::env::current_dir().unwrap();
    let words = words[1..].iter().map(String::as_str).collect::<Vec<_>>();
    let outcome = block_on(async { scene.store.ensure(&command(&words), &scene.context(), &Printed).await });
    println!("outcome: {}", outcome.unwrap().install);
}

/// The user's `PATH`, with the Node of the tests first.
fn path() -> OsString {
    let own = std::env::var_os("KENNEL_TEST_NODE_BIN").map(PathBuf::from).filter(|path| path.exists());
    let user = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&user))).unwrap()
}

pub(crate) fn command(words: &[&str]) -> PackageCommand {
    let words = words.iter().map(OsString::from).collect::<Vec<_>>();
    PackageCommand::recognise(&words).unwrap().unwrap()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// The steps that an install told.
#[derive(Default)]
pub(crate) struct Steps(Mutex<Vec<String>>);

impl Steps {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl InstallProgress for Steps {
    fn step(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// An engine that must not be asked for anything.
pub(crate) struct NoEngine;

impl Engine for NoEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Native
    }

    fn probe(&self) -> EngineFuture<'_, Capabilities> {
        panic!("nothing is to be made here")
    }

    fn create<'a>(&'a self, _: &'a BoxPlan) -> EngineFuture<'a, Result<Arc<dyn RunningBox>, BoxError>> {
        panic!("nothing is to be installed here")
    }

    fn end_leftovers(&self) -> EngineFuture<'_, Result<usize, BoxError>> {
        panic!("nothing is to be made here")
    }
}
