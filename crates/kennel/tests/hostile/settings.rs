//! Settings of registries that try to bring the user's files into an install.

use crate::scene::Scene;
use crate::support::caller::callers;

/// What must not be found: the user's key, and a variable of the user's.
const KEY: &str = "c4nary-of-the-key";
const VARIABLE: &str = "c4nary-of-the-variable";

/// Writes down all that a step of a package can see: its environment, and its home with all that is in it.
const SPY: &str = "
const fs = require('fs'), seen = [JSON.stringify(process.env)];
const look = path => {
    try {
        if (fs.statSync(path).isDirectory()) fs.readdirSync(path).forEach(name => look(path + '/' + name));
        else seen.push(path, fs.readFileSync(path, 'utf8'));
    } catch {}
};
look('/home/kennel');
fs.writeFileSync('seen', seen.join('\\n'));
";

fn scene_with_key(caller: kennel_testkit::Caller) -> (Scene, String) {
    let mut scene = Scene::new(caller);
    scene.ground.make_directory("work/home/.ssh");
    let key = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{KEY}\n-----END OPENSSH PRIVATE KEY-----\n");
    let path = scene.ground.make_file("work/home/.ssh/id_rsa", key, 0o600);
    scene.variables.push(("PRECIOUS", VARIABLE.to_owned()));
    scene.npm("spy", SPY, "");
    (scene, path.to_str().unwrap().to_owned())
}

/// Has the spy installed, and asserts that it saw nothing.
#[track_caller]
fn sees_nothing(scene: &Scene) -> String {
    let mut gateway = scene.serve();
    gateway.look("spy", "/").fine();
    gateway.goes_on();
    let said = gateway.end();
    assert!(scene.store_holds("npm_lifecycle_event"), "the spy looked");
    for secret in [KEY, VARIABLE] {
        assert!(!scene.store_holds(secret), "the package saw it: {said}");
        assert!(!said.contains(secret), "{said}");
    }
    scene.ground.assert_clean();
    said
}

#[test]
fn a_file_of_the_project_brings_neither_files_nor_variables() {
    for caller in callers() {
        let (scene, key) = scene_with_key(caller);
        let npmrc = format!(
            "cafile={key}\nanything={key}\ncache={key}\ntag=${{PRECIOUS}}\n\
             //127.0.0.1:9/:username=${{PRECIOUS}}\n//127.0.0.1:9/:certfile={key}\n"
        );
        scene.ground.make_file("work/.npmrc", npmrc, 0o600);
        let said = sees_nothing(&scene);
        assert!(said.contains("`cafile` of") && said.contains("is left out"), "{said}");
    }
}

#[test]
fn a_file_of_the_project_that_is_a_link_is_not_read() {
    for caller in callers() {
        let (scene, key) = scene_with_key(caller);
        std::os::unix::fs::symlink(key, scene.ground.path("work/.npmrc")).unwrap();
        sees_nothing(&scene);
    }
}

#[test]
fn a_file_of_the_users_brings_certificates_as_far_as_the_rules_allow() {
    for caller in callers() {
        let (scene, key) = scene_with_key(caller);
        let npmrc = format!(
            "registry=http://127.0.0.1:{}/\ncafile={key}\nanything={key}\n//127.0.0.1:9/:keyfile={key}\n",
            scene.registry.port()
        );
        scene.ground.make_file("work/home/.npmrc", npmrc, 0o600);
        let said = sees_nothing(&scene);
        assert!(said.contains("never shown to a box"), "{said}");
    }
}

#[test]
fn a_key_beside_a_certificate_stays_with_the_download() {
    for caller in callers() {
        let (scene, _) = scene_with_key(caller);
        // Not in a place that is denied, and under a name that sounds public.
        let both = format!("-----BEGIN CERTIFICATE-----\nx\n-----BEGIN PRIVATE KEY-----\n{KEY}\n");
        let both = scene.ground.make_file("work/home/both.pem", both, 0o600);
        let npmrc = format!("registry=http://127.0.0.1:{}/\ncafile={}\n", scene.registry.port(), both.display());
        scene.ground.make_file("work/home/.npmrc", npmrc, 0o600);
        sees_nothing(&scene);
    }
}
