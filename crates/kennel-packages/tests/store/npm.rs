//! npm's packages: from the real registry, and from one that publishes on demand.

use crate::registry::Registry;
use crate::scene::{NoEngine, Scene, Steps, block_on};
use kennel_packages::{Change, Hint, InstallError, Refresh};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

pub(crate) fn an_npm_package_is_installed_once_and_runs_offline() {
    let mut scene = Scene::new();
    let steps = Steps::default();
    let installed = block_on(scene.ensure(&["npx", "-y", "semver", "1.2.3"], &steps)).unwrap();
    let told = steps.all();
    assert!(told.iter().any(|step| step.contains("resolving semver")), "{told:?}");
    assert_eq!(told.last().unwrap(), &format!("installed semver {}", installed.version));
    assert!(installed.integrity.starts_with("sha512-"), "{installed:?}");
    assert_eq!(block_on(scene.run(&installed)), "1.2.3\n");

    // From here on there is no npm, and nothing that could reach a network.
    let node = scene.root.join("node-only");
    fs::create_dir(&node).unwrap();
    symlink(fs::canonicalize(&installed.program).unwrap(), node.join("node")).unwrap();
    let runner = std::mem::replace(&mut scene.engine, Arc::new(NoEngine));
    scene.host.path = node.clone().into();
    let again = block_on(scene.ensure(&["npx", "semver@latest", "2.0.0"], &Steps::default())).unwrap();
    assert_eq!((again.install, again.program), (installed.install.clone(), node.join("node")));
    let exact = format!("semver@{}", installed.version);
    let exact = block_on(scene.ensure(&["npx", "-p", &exact, "semver", "3.0.0"], &Steps::default())).unwrap();
    assert_eq!(exact.install, installed.install, "the version that is there needs no other install");
    scene.engine = runner;
    assert_eq!(block_on(scene.run(&exact)), "3.0.0\n");
}

pub(crate) fn the_first_answer_stays_until_a_refresh() {
    let (mut scene, registry) = (Scene::new(), Registry::start());
    scene.write_npmrc(&registry.npmrc());
    registry.publish("1.0.0", "", &scene.root);
    let first = block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    assert_eq!(block_on(scene.run(&first)), "1.0.0\n");

    registry.publish("1.1.0", "", &scene.root);
    let asked = registry.requests().len();
    let second = block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    assert_eq!(second, first);
    assert_eq!(registry.requests().len(), asked, "nobody asked the registry");

    scene.refresh = Refresh::Now;
    let third = block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    assert_eq!(third.version, "1.1.0");
    assert_eq!(block_on(scene.run(&first)), "1.0.0\n", "what runs from the old install goes on");
    scene.refresh = Refresh::Never;
    assert_eq!(block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap(), third);

    // The version that was asked for exactly keeps its install; what no request wants any more can go.
    let records = block_on(scene.store.list()).unwrap();
    assert_eq!(records.iter().map(|record| (record.manifest.version.as_str(), record.pins)).max(), Some(("1.1.0", 2)));
    assert_eq!(block_on(scene.store.collect()).unwrap(), [""; 0]);
    block_on(scene.store.remove(&first.install)).unwrap();
    block_on(scene.store.remove(&third.install)).unwrap();
    scene.assert_empty();
}

pub(crate) fn a_changed_file_is_found() {
    let (scene, registry) = (Scene::new(), Registry::start());
    scene.write_npmrc(&registry.npmrc());
    registry.publish("1.0.0", "", &scene.root);
    let installed = block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    assert_eq!(block_on(scene.store.verify(&installed.install)).unwrap(), []);
    let file = installed.reads[0].join("node_modules/@corp/tool/tool.js");
    fs::write(&file, "console.log('other')").unwrap();
    let changes = block_on(scene.store.verify(&installed.install)).unwrap();
    assert_eq!(changes, [Change::Changed("node_modules/@corp/tool/tool.js".into())]);
    // Neither can the list be made to fit.
    let list = scene.root.join("store/installs").join(&installed.install).join("files");
    fs::write(&list, "").unwrap();
    let problem = block_on(scene.store.verify(&installed.install)).unwrap_err().to_string();
    assert!(problem.contains("list of its files"), "{problem}");
}

pub(crate) fn what_is_wrong_with_a_name_is_said() {
    let scene = Scene::new();
    for (package, expected) in
        [("no-such-package-of-kennel-tests", Hint::NoSuchPackage), ("semver@99.99.99", Hint::NoSuchVersion)]
    {
        let error = block_on(scene.ensure(&["npx", package], &Steps::default())).unwrap_err();
        let InstallError::Failed { hint, ref output, .. } = error else { panic!("{error}") };
        assert_eq!(hint, expected, "{error}");
        assert!(!output.0.is_empty() && error.to_string().contains(package), "{error}");
        scene.assert_empty();
    }
    let installed = block_on(scene.ensure(&["npx", "-p", "semver", "other"], &Steps::default()));
    let problem = installed.unwrap_err().to_string();
    assert!(problem.contains("no program `other`") && problem.contains("`semver`"), "{problem}");

    let mut bare = Scene::new();
    bare.host.path = "/nonexistent".into();
    let problem = block_on(bare.ensure(&["npx", "semver"], &Steps::default())).unwrap_err().to_string();
    assert!(problem.contains("not on PATH") && problem.contains("Node.js"), "{problem}");
    bare.assert_empty();
}
