//! Packages: installed at their first use into an empty store, run from there without any network, and kept away from
//! the credentials of registries.

use crate::clients::{Answers, Seen, python, python_with};
use crate::scene::{Scene, Served, node, plain};
use crate::support::caller::needs_root;
use crate::support::ground::SYSTEM_PATH;
use crate::support::programs::material;
use crate::support::running::run;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SECRET: &str = "hunter2-hunter2";

/// Becomes a command in a network of its own, which has nothing but loopback.
const OFFLINE: [&str; 6] = ["unshare", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];

/// Uses a package twice: at first with the network, then without any.
#[track_caller]
fn is_installed_once(scene: &Scene, command: &str, tool: &str, arguments: &Value, check: impl Fn(&Seen)) {
    let served = scene.serve(&[], &plain(command));
    check(&python(&served, Answers::Nothing, tool, arguments));
    let said = served.stop();
    assert!(said.contains("\"text\":\"installing "), "the store was empty: {said}");
    if needs_root(&format!("{command} without any network")) {
        let served = scene.serve_with(&OFFLINE, &[], &[], &plain(command));
        let target = served.pid().to_string();
        let there = ["nsenter", "--net", "--target", &target, "--"];
        assert_eq!(interfaces(&there), 1, "only loopback is there");
        check(&python_with(&there, &served, Answers::Nothing, tool, arguments));
        let said = served.stop();
        assert!(!said.contains("\"text\":\"installing "), "it was there already: {said}");
    }
    scene.ground.assert_clean();
}

/// How many network interfaces there are in another namespace.
#[track_caller]
fn interfaces(there: &[&str]) -> usize {
    let mut command = Command::new(there[0]);
    command.args(&there[1..]).args(["ip", "-oneline", "link"]).stdin(Stdio::null());
    run(command).fine().lines().count()
}

#[test]
fn a_package_of_npm_is_installed_once_and_runs_without_network() {
    let command = "npx -y @modelcontextprotocol/server-everything";
    is_installed_once(&Scene::new(), command, "get-sum", &json!({ "a": 2, "b": 3.5 }), |seen| {
        assert_eq!(seen.fine(), "The sum of 2 and 3.5 is 5.5.");
    });
}

#[test]
fn a_package_of_python_is_installed_once_and_runs_without_network() {
    let arguments = json!({ "source_timezone": "Asia/Tokyo", "time": "09:30", "target_timezone": "UTC" });
    is_installed_once(&Scene::new(), "uvx mcp-server-time", "convert_time", &arguments, |seen| {
        assert!(seen.fine().contains("T00:30:00"), "{seen:?}");
    });
}

/// Somebody who has node, the registry that the tests use, and a credential for another one.
struct Owner {
    home: PathBuf,
    path: OsString,
}

impl Owner {
    #[track_caller]
    fn new(scene: &Scene) -> Self {
        let home = scene.ground.make_directory("work/home");
        let setting = |name: &str| {
            let mut command = Command::new(node());
            command.arg(node().with_file_name("npm")).args(["config", "get", name]).stdin(Stdio::null());
            let value = run(command).fine().trim().to_owned();
            if value == "null" { String::new() } else { format!("{name}={value}\n") }
        };
        let settings = [setting("registry"), setting("cafile")].concat();
        let content = format!("{settings}//example.test/:_authToken={SECRET}\n");
        scene.ground.make_file("work/home/.npmrc", content, 0o600);
        // What is in the home of whoever runs the tests is not this one's to grant.
        let installed = material("KENNEL_TEST_NODE_BIN");
        let mut copying = Command::new("cp");
        copying.args(["--archive", "--reflink=auto", "--"]).arg(&installed).arg(installed.with_file_name("lib"));
        copying.arg(scene.ground.make_directory("work/home/node")).stdin(Stdio::null());
        run(copying).fine();
        let mut path = home.join("node/bin").into_os_string();
        path.push(":");
        path.push(SYSTEM_PATH);
        Self { home, path }
    }

    /// `kennel run -- COMMAND` in this one's name, once it serves.
    #[track_caller]
    fn serve(&self, scene: &Scene, command: &str) -> Served {
        let variables = [("HOME", self.home.as_os_str()), ("PATH", &self.path)];
        scene.serve_with(&[], &variables, &[], &plain(command))
    }
}

/// Asserts that the secret is in no file of the store, and was not said.
#[track_caller]
fn is_nowhere(scene: &Scene, said: &str) {
    assert!(!said.contains(SECRET), "{said}");
    let mut search = Command::new("grep");
    search.args(["--recursive", "--files-with-matches", "--text", "--fixed-strings", SECRET]);
    search.arg(scene.ground.path("work/data")).stdin(Stdio::null());
    let found = run(search);
    assert_eq!((found.code, found.out().as_str()), (Some(1), ""), "{found:?}");
}

#[test]
fn a_credential_for_a_registry_is_not_in_the_environment_of_a_server() {
    let scene = Scene::new();
    let served = Owner::new(&scene).serve(&scene, "npx -y @modelcontextprotocol/server-everything");
    let text = python(&served, Answers::Nothing, "get-env", &json!({})).fine();
    let environment: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(environment["HOME"], "/home/kennel", "{text}");
    assert!(!text.contains(SECRET), "{text}");
    assert!(!text.to_ascii_lowercase().contains("npm_config"), "{text}");
    is_nowhere(&scene, &served.stop());
    scene.ground.assert_clean();
}

#[test]
fn a_credential_for_a_registry_is_in_no_file_that_a_server_sees() {
    let scene = Scene::new();
    let owner = Owner::new(&scene);
    // By its own rules this server may read all that there is.
    let served = owner.serve(&scene, "npx -y @modelcontextprotocol/server-filesystem /");
    let read = |path: &str| python(&served, Answers::Nothing, "read_text_file", &json!({ "path": path }));
    assert!(read("/etc/passwd").fine().contains("kennel"), "it does read");
    for path in [owner.home.join(".npmrc").to_str().unwrap(), "/home/kennel/.npmrc"] {
        let seen = read(path);
        assert!(seen.failed() && seen.text().contains("ENOENT"), "{path}: {seen:?}");
    }
    is_nowhere(&scene, &served.stop());
    scene.ground.assert_clean();
}
