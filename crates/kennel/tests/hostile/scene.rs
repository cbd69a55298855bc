//! A gateway with servers whose packages come from a registry of the test's own.

use crate::support::ground::Ground;
use crate::support::running::{Collected, Kept, Ran, run};
use crate::support::waiting::PATIENCE;
use kennel_testkit::{Caller, NpmPackage, Registry};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An MCP server whose one tool says what is at a path.
pub(crate) const SERVER: &str = "#!/usr/bin/env node
const fs = require('fs');
const look = path => {
    try {
        return fs.statSync(path).isDirectory() ? 'directory ' + fs.readdirSync(path) : fs.readFileSync(path, 'utf8');
    } catch (error) { return 'nothing: ' + error.code; }
};
const answers = {
    initialize: params => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} },
        serverInfo: { name: 'server', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'look', description: 'Looks',
        inputSchema: { type: 'object', properties: { path: { type: 'string' } } } }] }),
    'tools/call': params => ({ content: [{ type: 'text', text: look(params.arguments.path) }] }),
};
require('readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = answers[method];
    const outcome = answer ? { result: answer(params) } : { error: { code: -32601, message: 'unknown' } };
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }) + '\\n');
});
";

/// A place with a registry, and a file of servers.
pub(crate) struct Scene {
    pub(crate) ground: Ground,
    pub(crate) registry: Registry,
    file: String,
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// A gateway that runs. It is killed when this goes.
pub(crate) struct Gateway<'a> {
    scene: &'a Scene,
    kept: Kept,
    log: Collected,
    address: String,
}

impl Scene {
    /// A scene with a server `good`, which is as it should be.
    pub(crate) fn new(caller: Caller) -> Self {
        let ground = Ground::new(caller);
        ground.make_directory("work/home");
        ground.make_directory("work/registry");
        let registry = Registry::start(None).unwrap();
        let npmrc = format!("registry=http://127.0.0.1:{}/\n", registry.port());
        ground.make_file("work/home/.npmrc", npmrc, 0o600);
        let mut scene = Self { ground, registry, file: String::new(), variables: Vec::new() };
        scene.npm("good", "", "");
        scene
    }

    /// A server whose package runs a step of its own after it is installed; further keys for its definition.
    pub(crate) fn npm(&mut self, name: &str, step: &str, keys: &str) {
        self.publish(name, "1.0.0", step);
        self.server(name, &["npx", "-y", name], keys);
    }

    /// Publishes a version of a package of npm whose program is `run`.
    pub(crate) fn publish(&self, name: &str, version: &str, step: &str) {
        let scripts = if step.is_empty() { json!({}) } else { json!({ "postinstall": "node step.js" }) };
        let package = NpmPackage {
            name,
            version,
            description: json!({ "bin": { name: "run" }, "scripts": scripts }),
            files: &[("run", SERVER), ("step.js", step)],
        };
        self.registry.publish(&package, &self.ground.path("work/registry")).unwrap();
    }

    /// A server with this command.
    pub(crate) fn server(&mut self, name: &str, command: &[&str], keys: &str) {
        let (program, args) = command.split_first().unwrap();
        writeln!(self.file, "[servers.{name}]\ncommand = {program:?}\nargs = {args:?}\n{keys}\n").unwrap();
    }

    fn kennel(&self, words: &[&str]) -> Command {
        let mut command = self.ground.kennel(words);
        self.prepare(&mut command);
        command
    }

    fn prepare(&self, command: &mut Command) {
        command.env("HOME", self.ground.path("work/home")).env("KENNEL_DATA", self.data());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.ground.path("work/data")
    }

    /// What is in a part of the store.
    pub(crate) fn stored(&self, part: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.data().join("store").join(part)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Whether any file of the store holds a text.
    pub(crate) fn store_holds(&self, text: &str) -> bool {
        let mut search = Command::new("grep");
        search.args(["--recursive", "--quiet", "--text", "--devices=skip", "--fixed-strings", text]);
        run_code(search.arg(self.data().join("store"))) == Some(0)
    }

    /// Starts `kennel serve`, and waits until it serves.
    #[track_caller]
    pub(crate) fn serve(&self) -> Gateway<'_> {
        let file = self.ground.make_file("work/kennel.toml", &self.file, 0o600);
        // With as many descriptors as there can be: a limit on them must not be what saves anybody.
        let script = "ulimit -S -n \"$(ulimit -H -n)\"; exec \"$@\"";
        let program = self.ground.kennel_program();
        let words = ["sh", "-c", script, "sh", program.to_str().unwrap(), "serve", "--json"];
        let mut serve = self.ground.command(words);
        self.prepare(&mut serve);
        serve.args(["--listen", "127.0.0.1:0", "-c", file.to_str().unwrap()]);
        serve.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut kept = Kept::start(serve);
        let log = Collected::from(kept.stderr());
        let mut gateway = Gateway { scene: self, kept, log, address: String::new() };
        let start = Instant::now();
        while gateway.address.is_empty() {
            let said = gateway.said();
            let events = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let serving = events.into_iter().find(|event| event["event"] == "serving");
            if let Some(url) = serving.as_ref().and_then(|event| event["url"].as_str()) {
                url.trim_start_matches("http://").split('/').next().unwrap().clone_into(&mut gateway.address);
            }
            assert!(start.elapsed() < PATIENCE && gateway.kept.lives(), "it does not serve: {said}");
            std::thread::sleep(Duration::from_millis(10));
        }
        gateway
    }
}

/// Whatever a failed test left may be too deep for the library that removes directories.
impl Drop for Scene {
    fn drop(&mut self) {
        run_code(Command::new("rm").arg("-rf").arg(self.data()));
    }
}

fn run_code(command: &mut Command) -> Option<i32> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap().code()
}

/// Whether a gateway answers within a while, asked as whoever runs it.
fn is_healthy(scene: &Scene, address: &str) -> bool {
    let url = format!("http://{address}/healthz");
    let words = ["curl", "--silent", "--fail", "--noproxy", "*", "--max-time", "15", &url];
    run_code(&mut scene.ground.command(words)) == Some(0)
}

impl Gateway<'_> {
    /// What it has said up to now.
    pub(crate) fn said(&mut self) -> String {
        self.log.take_all();
        self.log.text()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Asks a server what is at a path.
    #[track_caller]
    pub(crate) fn look(&self, server: &str, path: &str) -> Ran {
        run(self.scene.kennel(&["call", "--server", server, "look", &format!("path={path}")]))
    }

    /// Asserts that a server cannot be used, for a reason that has these words in it; meanwhile the gateway answers.
    #[track_caller]
    pub(crate) fn fails(&mut self, server: &str, words: &str) {
        let ran = self.answering(|gateway| gateway.look(server, "/"));
        assert_ne!(ran.code, Some(0), "{server} works: {}", ran.out());
        let start = Instant::now();
        let whose = format!("\"server\":{server:?}");
        // The operator is told why; clients only that.
        while !self.said().lines().any(|line| line.contains(&whose) && line.contains(words)) {
            let said = self.log.text();
            assert!(start.elapsed() < PATIENCE, "no `{words}` of {server}: {}\n{said}", ran.err());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Does something, and asserts that the gateway answers all the time.
    #[track_caller]
    pub(crate) fn answering<T>(&self, work: impl FnOnce(&Self) -> T) -> T {
        let (ended, scene, address) = (AtomicBool::new(false), self.scene, self.address.as_str());
        std::thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut asked = 0;
                while !ended.load(Ordering::Relaxed) || asked == 0 {
                    assert!(is_healthy(scene, address), "no answer from /healthz, number {asked}");
                    asked += 1;
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
            let outcome = work(self);
            ended.store(true, Ordering::Relaxed);
            watching.join().unwrap();
            outcome
        })
    }

    /// Asserts that all goes on: the gateway answers, is operated, and serves another server.
    #[track_caller]
    pub(crate) fn goes_on(&mut self) {
        assert!(is_healthy(self.scene, &self.address), "no answer from /healthz");
        run(self.scene.kennel(&["ps"])).fine();
        let seen = self.look("good", "/proc/self/status");
        assert!(seen.out().contains("NoNewPrivs"), "{seen:?}\n{}", self.said());
    }

    /// Ends it in order, and returns all that it said.
    #[track_caller]
    pub(crate) fn end(mut self) -> String {
        self.kept.signal(Signal::TERM);
        let status = self.kept.end(&mut [&mut self.log]);
        assert_eq!(status.code(), Some(0), "{}", self.log.text());
        self.log.text()
    }
}
