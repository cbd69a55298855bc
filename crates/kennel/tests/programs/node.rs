//! Node: of the system, on `PATH`, under a home directory, what npm installed, and what asks most of a box.

use crate::support::caller::{callers, myself};
use crate::support::ground::{Ground, SYSTEM_PATH};
use crate::support::programs::{copy, material};
use crate::support::running::run;
use crate::{as_at_home, on_path};
use std::path::Path;
use std::process::Command;

const WEB_ASSEMBLY: &str = "const code = new Uint8Array([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,\
    100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);\
    WebAssembly.instantiate(code).then(made => console.log(made.instance.exports.add(40, 2)));\
    new WebAssembly.Memory({ initial: 100, maximum: 65536 });";

const WORKERS: &str = "const { Worker } = require('worker_threads');\
    let sum = 0, left = 4;\
    for (let i = 1; i <= 4; i++) new Worker(`require('worker_threads').parentPort.postMessage(${i})`, { eval: true })\
    .on('message', number => { sum += number; if (--left === 0) console.log(sum); });";

const MEMORY: &str = "const held = []; for (let i = 0; i < 20; i++) held.push(Buffer.alloc(10 << 20, 1));\
    const heap = []; for (let i = 0; i < 1e6; i++) heap.push({ i }); console.log(held.length, heap.length);";

const SUBPROCESS: &str = "console.log(require('child_process').execSync('echo from a shell').toString().trim());\
    require('fs').promises.readFile('/etc/hostname', 'utf8').then(text => console.log(text.trim()));\
    console.log(require('crypto').createHash('sha256').update('x').digest('hex').slice(0, 8), require('os').userInfo().username);";

/// Node 22 in a place that every user can read, with the directory to put on `PATH`.
fn node_for_everyone(ground: &Ground, place: &str) -> String {
    let directory = ground.make_directory(place);
    copy(&material("KENNEL_TEST_NODE_BIN").join("node"), &directory);
    directory.to_str().unwrap().to_owned()
}

#[test]
fn the_node_on_path_runs() {
    let node = on_path("node").expect("the tests need node");
    let outside = Command::new(node).arg("--version").output().unwrap();
    let ground = Ground::new(myself());
    let ran = run(as_at_home(&ground, &[], &["node", "--version"]));
    assert_eq!(ran.fine(), String::from_utf8(outside.stdout).unwrap());
}

#[test]
fn a_newer_node_and_its_npm_run_when_put_on_path() {
    let directory = material("KENNEL_TEST_NODE_BIN");
    let ground = Ground::new(myself());
    for (command, start) in
        [(["node", "--version"], "v22."), (["npm", "--version"], "10."), (["npx", "--version"], "10.")]
    {
        let mut command = as_at_home(&ground, &[], &command);
        command.env("PATH", format!("{}:{SYSTEM_PATH}", directory.display()));
        let out = run(command).fine();
        assert!(out.starts_with(start), "{out}");
    }
}

#[test]
fn a_program_installed_by_npm_runs() {
    let modules = material("KENNEL_TEST_NPM");
    let ground = Ground::new(myself());
    let semver = format!("{}/node_modules/.bin/semver", modules.display());
    let flags = ["--read", modules.to_str().unwrap()];
    assert_eq!(run(as_at_home(&ground, &flags, &[&semver, "-i", "minor", "1.2.3"])).fine(), "1.3.0\n");
    let mut command = as_at_home(&ground, &flags, &[&semver, "-i", "minor", "1.2.3"]);
    command.env("PATH", format!("{}:{SYSTEM_PATH}", material("KENNEL_TEST_NODE_BIN").display()));
    assert_eq!(run(command).fine(), "1.3.0\n");
}

#[test]
fn a_toolchain_under_a_home_directory_runs() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("home/.nvm");
        ground.make_file("home/.secret", "secret", 0o644);
        let directory = node_for_everyone(&ground, "home/.nvm/versions/node/v22.0.0/bin");
        let home = ground.text("home");
        let script = format!("console.log(process.version.slice(0, 4), require('fs').readdirSync('{home}').join())");
        let mut command = ground.exec(&[], &["node", "-e", &script]);
        command.env("PATH", format!("{directory}:{SYSTEM_PATH}"));
        assert_eq!(run(command).fine(), "v22. .nvm\n", "{caller:?}");
    }
}

#[test]
fn workers_web_assembly_and_much_memory_work_within_the_default_limits() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let directory = node_for_everyone(&ground, "node/bin");
        for (script, expected) in [
            (WEB_ASSEMBLY, "42\n"),
            (WORKERS, "10\n"),
            (MEMORY, "20 1000000\n"),
            (SUBPROCESS, "from a shell\n2d711642 kennel\nkennel\n"),
        ] {
            let mut command = ground.exec(&[], &["node", "-e", script]);
            command.env("PATH", format!("{directory}:{SYSTEM_PATH}"));
            assert_eq!(run(command).fine(), expected, "{caller:?}: {script}");
            if Path::new("/usr/bin/node").exists() {
                let ran = run(ground.exec(&[], &["/usr/bin/node", "-e", script]));
                assert_eq!(ran.fine(), expected, "{caller:?}, the system's node: {script}");
            }
        }
    }
}
