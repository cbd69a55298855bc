//! A place for one test with `kennel run` in it, as root or user with the settings of whoever runs the tests.

use crate::support::caller::myself;
use crate::support::ground::Ground;
use crate::support::programs::material;
use crate::support::running::Running;
use rustix::process::Signal;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub(crate) struct Scene {
    pub(crate) ground: Ground,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self { ground: Ground::new(myself()) }
    }

    /// `kennel` with these words, after those of a wrapper that becomes it. It has the environment of the tests, which
    /// says how to reach registries, and node as npx expects it. What it keeps is kept in the place to work, so that
    /// the directory for temporary files must stay empty.
    fn kennel(&self, wrapper: &[&str], words: &[OsString]) -> Command {
        let program = self.ground.kennel_program();
        let mut all: Vec<OsString> = wrapper.iter().map(OsString::from).collect();
        all.push(program.into());
        all.extend_from_slice(words);
        let mut command = Command::new(&all[0]);
        command.args(&all[1..]).stdin(Stdio::null()).current_dir(self.ground.path("work"));
        command.env("PATH", path()).env("TMPDIR", self.ground.path("tmp"));
        command.env("KENNEL_DATA", self.ground.path("work/data"));
        command
    }

    /// `kennel run FLAGS -- COMMAND`.
    pub(crate) fn run(&self, flags: &[&str], server: &[OsString]) -> Command {
        self.kennel(&[], &words(flags, server))
    }

    /// The same behind an endpoint, once it serves.
    #[track_caller]
    pub(crate) fn serve(&self, flags: &[&str], server: &[OsString]) -> Served {
        self.serve_with(&[], &[], flags, server)
    }

    /// The same by way of a wrapper that becomes Kennel, with further variables.
    #[track_caller]
    pub(crate) fn serve_with(
        &self,
        wrapper: &[&str],
        variables: &[(&str, &OsStr)],
        flags: &[&str],
        server: &[OsString],
    ) -> Served {
        // Its standard error is what can be waited for.
        let merging = [wrapper, &["sh", "-c", "exec \"$@\" 2>&1", "sh"]].concat();
        let flags = [&["--json", "--listen", "127.0.0.1:0"], flags].concat();
        let mut command = self.kennel(&merging, &words(&flags, server));
        command.envs(variables.iter().copied());
        let mut running = Running::start(command);
        running.wait_for("\"event\":\"serving\"");
        running.wait_for("/mcp\"");
        let printed = running.out();
        let events = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let serving = events.into_iter().find(|event| event["event"] == "serving").expect("it serves");
        Served { running, url: serving["url"].as_str().unwrap().to_owned() }
    }
}

fn words(flags: &[&str], server: &[OsString]) -> Vec<OsString> {
    let flags = flags.iter().map(OsString::from);
    ["run".into()].into_iter().chain(flags).chain(["--".into()]).chain(server.iter().cloned()).collect()
}

/// Where node and npm come first.
fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path);
    std::env::join_paths([material("KENNEL_TEST_NODE_BIN")].into_iter().chain(places)).unwrap()
}

/// A gateway.
pub(crate) struct Served {
    running: Running,
    pub(crate) url: String,
}

impl Served {
    pub(crate) fn pid(&self) -> u32 {
        self.running.kept.pid()
    }

    /// The address without scheme and path.
    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Stops it and returns all that it said.
    #[track_caller]
    pub(crate) fn stop(self) -> String {
        self.running.kept.signal(Signal::TERM);
        self.running.finish().fine()
    }
}

/// A server that is a program for node.
pub(crate) fn node_server(variable: &str) -> Vec<OsString> {
    vec![node().into(), material(variable).into()]
}

/// A server that is a program by itself.
pub(crate) fn program(variable: &str) -> Vec<OsString> {
    vec![material(variable).into()]
}

pub(crate) fn node() -> PathBuf {
    material("KENNEL_TEST_NODE_BIN").join("node")
}

/// Words as they stand.
pub(crate) fn plain(command: &str) -> Vec<OsString> {
    command.split(' ').map(OsString::from).collect()
}
