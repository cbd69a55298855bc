use super::*;
use kennel_box::NativeEngine;

struct Quiet;

impl InstallProgress for Quiet {
    fn step(&self, _: &str) {}
}

fn command(words: &[&str]) -> PackageCommand {
    PackageCommand::recognise(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap().unwrap()
}

fn context(host: &HostView, kind: EngineKind) -> InstallContext<'_> {
    InstallContext {
        engine: Arc::new(NativeEngine::new(kind, "/nonexistent".into())),
        host,
        variables: &[],
        budget: Duration::from_secs(1),
        refresh: Refresh::Never,
        limits: InstallLimits::default(),
    }
}

#[test]
fn an_install_can_be_awaited_on_any_thread() {
    fn assert_send<T: Send>(_: &T) {}
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let (host, command) = (HostView::default(), command(&["npx", "semver"]));
    let context = context(&host, EngineKind::Native);
    assert_send(&store.ensure(&command, &context, &Quiet));
}

#[test]
fn nothing_is_installed_without_a_box() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let host = HostView::default();
    let context = context(&host, EngineKind::Host);
    let error = runtime.block_on(store.ensure(&command(&["npx", "semver"]), &context, &Quiet)).unwrap_err();
    assert!(matches!(error, InstallError::Engine), "{error}");
}

#[test]
fn names_of_installs_stay_in_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    for id in ["", ".", "..", "../requests", "a/b", "absent"] {
        assert!(store.directory(id).is_err(), "{id}");
    }
    let one = new_id(&command(&["npx", "@scope/name"]).request).unwrap();
    let other = new_id(&command(&["npx", "@scope/name"]).request).unwrap();
    assert!(one.starts_with("scope_name-") && one != other, "{one} {other}");
}

#[test]
fn a_wait_for_another_install_ends_with_the_budget() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let command = command(&["npx", "semver"]);
    let _held = take_lock(&store.root.join("locks").join(format!("{}.lock", command.request.key()))).unwrap().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let host = HostView::default();
    let error = runtime.block_on(store.ensure(&command, &context(&host, EngineKind::Native), &Quiet)).unwrap_err();
    assert!(matches!(error, InstallError::Timeout { phase: InstallPhase::Waiting, .. }), "{error}");
}

#[test]
fn a_helper_that_fails_is_an_error_of_that_install() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    store.trees = Trees::with_program("/bin/false");
    let command = command(&["npx", "semver"]);
    let install = store.root.join("installs/semver-1");
    fs::create_dir_all(install.join("tree")).unwrap();
    let main = crate::PinnedPackage { name: "semver".into(), version: "1".into(), integrity: String::new() };
    let contents = Contents { packages: vec![main.clone()], interpreter: None };
    let manifest = Manifest::new(&command.request, &main, contents, String::new());
    write_whole(&install.join("manifest.json"), &to_json(&manifest).unwrap()).unwrap();
    store.pin(&command.request, "semver-1").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let host = HostView::default();
    let error = runtime.block_on(store.ensure(&command, &context(&host, EngineKind::Native), &Quiet)).unwrap_err();
    assert!(matches!(&error, InstallError::Tree { source, .. } if source.is_transient()), "{error}");
    assert!(error.to_string().ends_with("try again"), "{error}");
}
