//! A receiver that remembers what it is told, and an instance on a fake engine.

use kennel_box::{Command, ExitReport};
use kennel_exec::{Executor, Limits, SessionId, StartRequest};
use kennel_supervisor::{
    BoxLauncher, End, EraPlan, Failure, Generation, Instance, Introduction, LifecycleEvent, Link, Next, Noise,
    Receiver, Settings, Stage, State,
};
use kennel_testkit::fake::{Child, FakeEngine, McpServer, plan};
use kennel_wire::{Era, Message, RawJson};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// One thing that a receiver was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Ready(u64),
    Message(u64, String),
    Noise(u64, Noise),
    Diagnostics(u64, String),
    Gone(u64, End),
    Failed(Failure, Next),
    EraRefused(Era),
    Event(LifecycleEvent),
}

/// Remembers everything, and takes messages as fast as its gate lets it.
pub(crate) struct Recorder {
    log: watch::Sender<Vec<Told>>,
    link: Mutex<Option<Link>>,
    pub(crate) gate: Semaphore,
}

impl Recorder {
    pub(crate) fn new() -> Arc<Self> {
        let gate = Semaphore::new(Semaphore::MAX_PERMITS);
        Arc::new(Self { log: watch::Sender::new(Vec::new()), link: Mutex::default(), gate })
    }

    fn note(&self, told: Told) {
        self.log.send_modify(|log| log.push(told));
    }

    pub(crate) fn log(&self) -> Vec<Told> {
        self.log.borrow().clone()
    }

    pub(crate) fn count(&self, wanted: impl Fn(&Told) -> bool) -> usize {
        self.log.borrow().iter().filter(|told| wanted(told)).count()
    }

    /// Takes no message from now on.
    pub(crate) fn shut_gate(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn open_gate(&self) {
        self.gate.add_permits(Semaphore::MAX_PERMITS);
    }

    /// Waits until something was told `times` times.
    pub(crate) async fn until(&self, times: usize, what: &str, wanted: impl Fn(&Told) -> bool) {
        let mut log = self.log.subscribe();
        let enough = |log: &Vec<Told>| log.iter().filter(|told| wanted(told)).count() >= times;
        let outcome = timeout(Duration::from_hours(24), log.wait_for(enough)).await;
        assert!(outcome.is_ok(), "was not told {times} times: {what}; but: {:#?}", self.log());
    }

    pub(crate) async fn until_ready(&self, generation: u64) {
        self.until(1, &format!("ready {generation}"), |told| *told == Told::Ready(generation)).await;
    }

    pub(crate) fn link(&self) -> Link {
        self.link.lock().unwrap().clone().expect("a link")
    }

    pub(crate) fn failures(&self) -> Vec<(Failure, Next)> {
        let failure =
            |told: &Told| if let Told::Failed(failure, next) = told { Some((failure.clone(), *next)) } else { None };
        self.log.borrow().iter().filter_map(failure).collect()
    }
}

impl Receiver for Recorder {
    fn ready(&self, link: &Link) {
        *self.link.lock().unwrap() = Some(link.clone());
        self.note(Told::Ready(link.generation.get()));
    }

    async fn message(&self, generation: Generation, message: Message) {
        self.gate.acquire().await.unwrap().forget();
        self.gate.add_permits(1);
        self.note(Told::Message(generation.get(), String::from_utf8_lossy(message.bytes()).into_owned()));
    }

    fn noise(&self, generation: Generation, noise: Noise) {
        self.note(Told::Noise(generation.get(), noise));
    }

    fn diagnostics(&self, generation: Generation, line: &[u8]) {
        self.note(Told::Diagnostics(generation.get(), String::from_utf8_lossy(line).into_owned()));
    }

    fn gone(&self, generation: Generation, end: &End) {
        self.note(Told::Gone(generation.get(), end.clone()));
    }

    fn failed(&self, failure: &Failure, next: Next) {
        self.note(Told::Failed(failure.clone(), next));
    }

    fn era_refused(&self, era: Era) {
        self.note(Told::EraRefused(era));
    }

    fn event(&self, event: &LifecycleEvent) {
        self.note(Told::Event(event.clone()));
    }
}

/// An instance on a fake engine, and all around it.
pub(crate) struct Scene {
    pub(crate) engine: FakeEngine,
    pub(crate) executor: Executor,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) instance: Instance,
}

impl Scene {
    /// An instance whose processes run `script`.
    pub(crate) fn new<F>(settings: Settings, script: impl Fn(Child) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ExitReport> + Send + 'static,
    {
        Self::on(FakeEngine::new(script), settings)
    }

    pub(crate) fn on(engine: FakeEngine, settings: Settings) -> Self {
        Self::planned(engine, settings, LEGACY_ONLY)
    }

    pub(crate) fn planned(engine: FakeEngine, settings: Settings, plan: EraPlan) -> Self {
        settings.check().unwrap();
        let executor = Executor::new(Arc::new(engine.clone()), Limits::default()).unwrap();
        let (recorder, launcher) = (Recorder::new(), launcher(&executor, "server"));
        let stage = Stage::default();
        let instance = Instance::new(settings, introduction(), plan, launcher, Arc::clone(&recorder), stage);
        Self { engine, executor, recorder, instance }
    }

    /// An instance with a good server.
    pub(crate) fn good(settings: Settings) -> Self {
        Self::server(settings, McpServer::default())
    }

    pub(crate) fn server(settings: Settings, server: McpServer) -> Self {
        Self::new(settings, move |child| server.clone().run(child))
    }

    /// Wakes the instance and waits for its first process.
    pub(crate) async fn ready(self) -> Self {
        self.instance.wake();
        self.recorder.until_ready(1).await;
        self
    }

    /// Calls a tool, in a way that is understood in both eras.
    pub(crate) fn call(&self, id: i64, tool: &str) {
        self.instance.work_began();
        let params = format!(r#"{{"_meta":{MODERN_META},"name":"{tool}"}}"#);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        self.recorder.link().input.send(format!("{line}\n").into()).unwrap();
    }

    pub(crate) async fn until_state(&self, state: State) {
        let wanted = |told: &Told| matches!(told, Told::Event(event) if event.state == state);
        self.recorder.until(1, &format!("{state:?}"), wanted).await;
    }

    /// Ends the instance and checks that nothing is left and every process was accounted for.
    pub(crate) async fn end(self) {
        self.instance.shutdown().await;
        assert_eq!(self.engine.live(), 0, "a box is left");
        assert!(self.engine.most_at_once() <= 1, "two processes at once");
        let ready = |told: &Told| if let Told::Ready(generation) = told { Some(*generation) } else { None };
        let gone = |told: &Told| if let Told::Gone(generation, _) = told { Some(*generation) } else { None };
        let log = self.recorder.log();
        let (ready, gone): (Vec<_>, Vec<_>) =
            (log.iter().filter_map(ready).collect(), log.iter().filter_map(gone).collect());
        assert_eq!(ready, gone, "every process that was ready is gone once, in order");
        assert_eq!(self.instance.status().state, State::Ended);
    }
}

/// An instance with a session of its own.
pub(crate) fn instance(
    executor: &Executor,
    name: &str,
    settings: Settings,
    recorder: &Arc<Recorder>,
    stage: Stage,
) -> Instance {
    let launcher = launcher(executor, name);
    Instance::new(settings, introduction(), LEGACY_ONLY, launcher, Arc::clone(recorder), stage)
}

/// A launcher with a session of its own.
pub(crate) fn launcher(executor: &Executor, name: &str) -> Arc<BoxLauncher> {
    let attachment = Arc::new(executor.open(SessionId::new(name)).unwrap());
    let request = StartRequest { plan: plan().expect("a plan"), command: Command::default() };
    Arc::new(BoxLauncher::new(attachment, name, request))
}

const MODERN_META: &str =
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A plan in which nothing but the legacy era is ever tried.
pub(crate) const LEGACY_ONLY: EraPlan = EraPlan { first: Era::Legacy, is_fixed: true };

pub(crate) fn introduction() -> Introduction {
    let legacy = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#;
    let (legacy, modern) = (RawJson::parse(legacy).unwrap(), RawJson::parse(MODERN_META).unwrap());
    Introduction { legacy, modern, owner: None, is_stateless: false }
}

/// Settings with which nothing but what is tested happens by itself.
pub(crate) fn calm() -> Settings {
    Settings { probe_interval: Duration::from_hours(48), idle_stop: None, ..Settings::default() }
}

pub(crate) fn is_failure(told: &Told) -> bool {
    matches!(told, Told::Failed(..))
}
