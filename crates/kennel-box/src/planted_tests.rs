use super::*;
use crate::environment::HostView;
use crate::inference::infer;
use crate::mounts::MountRules;
use crate::spec::MountSpec;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;

/// A project that a box may write, and something private beside it.
struct Scene {
    _directory: tempfile::TempDir,
    root: PathBuf,
}

fn scene() -> Scene {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for file in ["project/docs/readme", "project/server.py", "project/bin/python3", "private/diary", "private/bin/tool"]
    {
        fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs::write(root.join(file), "x").unwrap();
    }
    Scene { _directory: directory, root }
}

impl Scene {
    fn host(&self, path: &str) -> HostView {
        let path = if path.is_empty() { OsString::new() } else { self.root.join(path).into() };
        HostView { path, home: self.root.join("home"), cwd: self.root.join("project"), ..HostView::default() }
    }

    fn rules(&self) -> MountRules {
        MountRules::for_user(&self.root.join("home"))
    }

    fn mount(&self, path: &str, mode: AccessMode) -> MountSpec {
        MountSpec { host_path: self.root.join(path), mount_path: None, mode }
    }

    fn spec(&self, mounts: &[(&str, AccessMode)]) -> BoxSpec {
        BoxSpec { mounts: mounts.iter().map(|(path, mode)| self.mount(path, *mode)).collect(), ..BoxSpec::default() }
    }

    /// What a box that may write the project does.
    fn plant(&self, name: &str, target: &str) {
        let path = self.root.join("project").join(name);
        let _ = fs::remove_dir_all(&path);
        let _ = fs::remove_file(&path);
        symlink(self.root.join(target), path).unwrap();
    }

    /// Whether a plan shows anything private.
    fn leaks(&self, spec: &BoxSpec, path: &str, programs: &[&Path]) -> bool {
        let plan = spec.plan(&self.host(path), &self.rules(), programs).unwrap();
        plan.grants.iter().any(|grant| grant.source.starts_with(self.root.join("private")))
    }
}

use AccessMode::{ReadOnly, ReadWrite};

#[test]
fn a_link_that_a_box_put_there_grants_nothing() {
    let scene = scene();
    let spec = scene.spec(&[("project", ReadWrite), ("project/docs", ReadOnly)]);
    spec.plan(&scene.host(""), &scene.rules(), &[]).unwrap();
    scene.plant("docs", "private");
    let error = spec.plan(&scene.host(""), &scene.rules(), &[]).unwrap_err().to_string();
    assert!(error.contains("a box may have put it there"), "{error}");
}

#[test]
fn a_link_that_another_box_put_there_grants_nothing() {
    let scene = scene();
    let other = scene.spec(&[("project/docs", ReadOnly)]);
    other.plan(&scene.host(""), &scene.rules(), &[]).unwrap();
    scene.spec(&[("project", ReadWrite)]).plan(&scene.host(""), &scene.rules(), &[]).unwrap();
    scene.plant("docs", "private");
    let error = other.plan(&scene.host(""), &scene.rules(), &[]).unwrap_err().to_string();
    assert!(error.contains("a box may have put it there"), "{error}");
}

#[test]
fn links_that_no_box_can_have_put_there_are_followed() {
    let scene = scene();
    symlink(scene.root.join("private"), scene.root.join("link")).unwrap();
    let spec = scene.spec(&[("project", ReadWrite), ("link", ReadOnly)]);
    assert!(scene.leaks(&spec, "", &[]), "the user's own link is the user's word");
    // One that stays in what the box may write is harmless.
    symlink("docs", scene.root.join("project/manual")).unwrap();
    let spec = scene.spec(&[("project", ReadWrite), ("project/manual", ReadOnly)]);
    spec.plan(&scene.host(""), &scene.rules(), &[]).unwrap();
}

#[test]
fn a_script_that_a_box_made_a_link_brings_no_other_project() {
    let scene = scene();
    let spec = scene.spec(&[("project", ReadWrite)]);
    let words = ["python3", "server.py"].map(OsString::from);
    let leaks = || {
        let inferred = infer(&words, &scene.host(""), &scene.rules(), &spec);
        let private = scene.root.join("private");
        (inferred.grants.iter().any(|path| path.starts_with(&private)), inferred.refused.len())
    };
    assert_eq!(leaks(), (false, 0));
    scene.plant("server.py", "private/diary");
    assert_eq!(leaks(), (false, 1));
}

#[test]
fn an_interpreter_or_program_that_a_box_made_a_link_shows_nothing_else() {
    let scene = scene();
    let spec = scene.spec(&[("project", ReadWrite)]);
    scene.plant("bin/python3", "private/bin/tool");
    assert!(!scene.leaks(&spec, "project/bin", &[]));
    scene.plant("tool", "private/bin/tool");
    assert!(!scene.leaks(&spec, "", &[&scene.root.join("project/tool")]));
    // A virtual environment in the project still finds its Python, wherever that is installed.
    for file in ["opt/python/bin/python3.12", "opt/python/lib/python3.12/os.py"] {
        fs::create_dir_all(scene.root.join(file).parent().unwrap()).unwrap();
        fs::write(scene.root.join(file), "x").unwrap();
    }
    scene.plant("bin/python3", "opt/python/bin/python3.12");
    let plan = spec.plan(&scene.host("project/bin"), &scene.rules(), &[]).unwrap();
    assert!(plan.grants.iter().any(|grant| grant.source == scene.root.join("opt/python")), "{:?}", plan.grants);
}
