//! A registry with real interpreters, and a host whose answers a test decides.

use kennel_box::{EngineKind, HostView, NativeEngine};
use kennel_code::cell::{CellRequest, CellResult, Status};
use kennel_code::engine::{CodeEngine, NativePython, NativePythonSettings, Source};
use kennel_code::notebook::{
    Ask, AskError, CellContext, CellHandle, Host, HostFuture, Progress, Registry, RegistryParts,
};
use kennel_code::pool::{Pool, PoolSettings};
use kennel_code::results::Results;
use kennel_code::{Holder, NotebookLimits, Owner, Settings};
use serde_json::value::RawValue;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// Far more than anything takes; nothing is asserted about it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
pub(crate) const OWNER: &str = "alice";

/// A user over all servers, in no conversation in particular.
pub(crate) fn holder(user: &str) -> Holder {
    Holder::stateless(Owner::new(user, None))
}

/// Interpreters as Kennel starts them.
pub(crate) async fn native_python() -> NativePython {
    let boxes = Arc::new(NativeEngine::new(EngineKind::Native, std::env::current_exe().unwrap()));
    let settings = NativePythonSettings { ready_within: PATIENCE, ..NativePythonSettings::default() };
    NativePython::new(boxes, Source::embedded(), &HostView::current(), settings).await.unwrap()
}

/// Answers `echo` with its arguments, holds `hold` until it is released, and counts.
#[derive(Default)]
pub(crate) struct Fixture {
    pub(crate) asked: Mutex<Vec<(CellContext, Ask)>>,
    pub(crate) open: watch::Sender<usize>,
    pub(crate) most: AtomicUsize,
    pub(crate) called_off: watch::Sender<usize>,
    pub(crate) release: Notify,
}

struct Opened<'a> {
    fixture: &'a Fixture,
    answered: bool,
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.fixture.open.send_modify(|open| *open -= 1);
        if !self.answered {
            self.fixture.called_off.send_modify(|count| *count += 1);
        }
    }
}

impl Host for Fixture {
    fn ask<'a>(&'a self, context: &'a CellContext, ask: Ask) -> HostFuture<'a, Result<Box<RawValue>, AskError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push((context.clone(), ask.clone()));
            self.open.send_modify(|open| *open += 1);
            let mut opened = Opened { fixture: self, answered: false };
            self.most.fetch_max(*self.open.borrow(), Ordering::SeqCst);
            let Ask::CallTool(call) = ask else { return Ok(RawValue::from_string("[]".to_owned()).unwrap()) };
            match call.tool.as_str() {
                "hold" => self.release.notified().await,
                // Lets others in, so that what runs at once is seen at once.
                _ => tokio::task::yield_now().await,
            }
            let arguments = call.arguments.as_ref().map_or("{}", |arguments| arguments.get());
            let result = format!("{{\"content\":[],\"structuredContent\":{arguments}}}");
            opened.answered = true;
            Ok(RawValue::from_string(result).unwrap())
        })
    }
}

pub(crate) struct Bench {
    pub(crate) registry: Registry,
    pub(crate) fixture: Arc<Fixture>,
    pub(crate) results: Arc<Results>,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::over(Arc::new(native_python().await), change)
    }

    /// The same with interpreters that are kept ready.
    pub(crate) async fn pooled() -> Self {
        let pool = Pool::new(Arc::new(native_python().await), PoolSettings { ready: 1, ..PoolSettings::default() });
        Self::over(Arc::new(pool), |_| {})
    }

    fn over(engine: Arc<dyn CodeEngine>, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings {
            // Long enough for a loaded machine; tests of stopping set their own.
            notebook: NotebookLimits { timeout: PATIENCE, most_timeout: 2 * PATIENCE, ..NotebookLimits::default() },
            ..Settings::default()
        };
        change(&mut settings);
        let fixture = Arc::new(Fixture::default());
        let results = Arc::new(Results::new(settings.results.clone()));
        let parts = RegistryParts { engine, results: Arc::clone(&results) };
        Self { registry: Registry::new(parts, settings), fixture, results }
    }

    pub(crate) fn start(&self, code: &str) -> CellHandle {
        self.start_with(self.request(code))
    }

    /// A cell that the fixture answers.
    pub(crate) fn request(&self, code: &str) -> CellRequest {
        CellRequest::new(code, Arc::clone(&self.fixture) as Arc<dyn Host>)
    }

    pub(crate) fn start_with(&self, request: CellRequest) -> CellHandle {
        self.registry.run(&holder(OWNER), "main", request).unwrap()
    }

    /// Runs a cell to its end.
    pub(crate) async fn run(&self, code: &str) -> CellResult {
        finished(&self.start(code)).await
    }

    /// Runs a cell that has to succeed, and returns its value.
    pub(crate) async fn value(&self, code: &str) -> String {
        let result = self.run(code).await;
        assert_eq!(result.status, Status::Success, "{code}: {result:?}");
        result.value
    }

    /// Runs a cell with a short timeout.
    pub(crate) async fn run_for(&self, code: &str, timeout: Duration) -> CellResult {
        let request = CellRequest { timeout: Some(timeout), ..self.request(code) };
        finished(&self.start_with(request)).await
    }

    /// The servers and tools that the fixture stands for.
    pub(crate) fn catalog() -> kennel_code::cell::Versioned {
        let tool = |name: &str| serde_json::json!({ "name": name, "python": name, "doc": "", "signature": "(**arguments)", "read_only": true });
        let server = |name: &str| serde_json::json!({ "name": name, "alias": name, "description": "", "tools": [tool("echo"), tool("hold")] });
        let message = serde_json::json!({ "t": "servers", "servers": [server("fix"), server("other")] });
        kennel_code::cell::Versioned { version: 1, message: message.to_string().into() }
    }

    pub(crate) fn with_servers(&self, code: &str) -> CellRequest {
        CellRequest { catalog: Some(Self::catalog()), ..self.request(code) }
    }

    pub(crate) async fn shutdown(self) {
        tokio::time::timeout(PATIENCE, self.registry.shutdown()).await.expect("the notebooks do not end");
    }
}

pub(crate) async fn finished(handle: &CellHandle) -> CellResult {
    tokio::time::timeout(PATIENCE, handle.finished()).await.expect("the cell does not end")
}

/// Waits until a cell has printed something.
pub(crate) async fn printed(handle: &CellHandle, text: &str) -> String {
    let reader = handle.reader();
    let deadline = Instant::now() + PATIENCE;
    let mut all = String::new();
    while !all.contains(text) {
        assert!(Instant::now() < deadline, "the cell prints only {all:?}");
        let Progress { result, .. } = reader.wait(Instant::now() + Duration::from_millis(5)).await;
        assert_eq!(result.status, Status::Running, "{result:?}");
        all += &result.stdout;
    }
    all
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[track_caller]
pub(crate) fn has_note(result: &CellResult, note: &str) {
    assert!(result.notes.iter().any(|own| own.contains(note)), "no note {note:?} in {result:?}");
}
