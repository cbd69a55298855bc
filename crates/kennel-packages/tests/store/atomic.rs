//! Whole or not at all, and once: installs that are killed, dropped, late, or wanted by many.

use crate::registry::Registry;
use crate::scene::{Scene, Steps, block_on};
use kennel_packages::{InstallError, InstallPhase};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

pub(crate) fn a_killed_install_leaves_the_store_as_it_was() {
    let (scene, registry) = (Scene::new(), Registry::start());
    scene.write_npmrc(&registry.npmrc());
    registry.publish("1.0.0", "", &scene.root);
    registry.fall_silent();
    let mut child = scene.child(&["npx", "@corp/tool"]).stdout(Stdio::piped()).spawn().unwrap();
    // In the middle: npm has asked the registry and waits for its answer.
    wait_until(|| !registry.requests().is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    for part in ["installs", "requests"] {
        assert_eq!(scene.names(part), [""; 0]);
    }
    assert_eq!(scene.names("staging").len(), 2, "a directory and its lock are left");

    registry.speak();
    let installed = block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    assert_eq!(block_on(scene.run(&installed)), "1.0.0\n");
    assert_eq!(scene.names("staging"), [""; 0], "what was left is gone");
}

pub(crate) fn what_belongs_to_nobody_is_removed_and_nothing_else() {
    let (scene, registry) = (Scene::new(), Registry::start());
    scene.write_npmrc(&registry.npmrc());
    registry.publish("1.0.0", "", &scene.root);
    let staging = scene.root.join("store/staging");
    // As a killed process leaves it: the files are there, the lock is free.
    let hard = staging.join("dead/tree/hard");
    fs::create_dir_all(&hard).unwrap();
    fs::write(hard.join("x"), "").unwrap();
    fs::set_permissions(&hard, fs::Permissions::from_mode(0o000)).unwrap();
    fs::write(staging.join("dead.lock"), "").unwrap();
    fs::create_dir_all(staging.join("alive/tree")).unwrap();
    let held = fs::File::create(staging.join("alive.lock")).unwrap();
    held.lock().unwrap();
    block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    assert_eq!(scene.names("staging"), ["alive", "alive.lock"]);
}

pub(crate) fn many_at_once_install_once() {
    let scene = Scene::new();
    let words = ["npx", "semver", "1.0.0"];
    let children = [0, 1].map(|_| scene.child(&words).stdout(Stdio::piped()).spawn().unwrap());
    let steps = [Steps::default(), Steps::default()];
    let (one, other) =
        block_on(async { tokio::join!(scene.ensure(&words, &steps[0]), scene.ensure(&words, &steps[1])) });
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one, other);
    let mut told = steps.iter().flat_map(Steps::all).collect::<Vec<_>>();
    for mut child in children {
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect::<Vec<_>>();
        assert!(child.wait().unwrap().success());
        assert_eq!(lines.last().unwrap(), &format!("outcome: {}", one.install));
        told.extend(lines);
    }
    assert_eq!(told.iter().filter(|step| step.starts_with("installed semver")).count(), 1, "{told:?}");
    assert_eq!(scene.names("installs"), [one.install]);
    assert_eq!(scene.names("staging"), [""; 0]);
}

pub(crate) fn an_install_ends_with_its_budget() {
    let (mut scene, registry) = (Scene::new(), Registry::start());
    scene.write_npmrc(&registry.npmrc());
    registry.fall_silent();
    scene.budget = Duration::from_secs(4);
    let error = block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap_err();
    let InstallError::Timeout { phase, .. } = error else { panic!("{error}") };
    assert_eq!(phase, InstallPhase::Resolving);
    let problem = error.to_string();
    assert!(problem.contains("@corp/tool") && problem.contains("still resolving"), "{problem}");
    scene.assert_empty();
}

pub(crate) fn a_dropped_install_leaves_the_store_as_it_was() {
    let (scene, registry) = (Scene::new(), Registry::start());
    scene.write_npmrc(&registry.npmrc());
    registry.publish("1.0.0", "", &scene.root);
    registry.fall_silent();
    block_on(async {
        let steps = Steps::default();
        let asked = async {
            while registry.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            outcome = scene.ensure(&["npx", "@corp/tool"], &steps) => panic!("{outcome:?}"),
            () = asked => {}
        }
    });
    for part in ["installs", "requests"] {
        assert_eq!(scene.names(part), [""; 0]);
    }
    registry.speak();
    block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    assert_eq!(scene.names("staging"), [""; 0]);
}

fn wait_until(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < crate::scene::PATIENCE, "it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}
