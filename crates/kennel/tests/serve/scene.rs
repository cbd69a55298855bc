//! A file of servers, the gateway that serves it, and the commands that operate it.

use crate::support::gateway::{Client, Connection, HEADERS};
use crate::support::processes::{Process, processes_with, unique_mark};
use crate::support::programs::{fixture, kennel};
use crate::support::running::{Collected, Kept, Ran, run};
use crate::support::waiting::{PATIENCE, settle};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A gateway with a file and a data directory of its own. It is killed when this goes.
pub(crate) struct Scene {
    pub(crate) kept: Kept,
    pub(crate) address: String,
    log: Collected,
    place: tempfile::TempDir,
    /// What the command lines of all servers of this scene have in them.
    pub(crate) mark: String,
}

/// A file of servers while it is written.
pub(crate) struct File {
    text: String,
    mark: String,
}

impl File {
    /// Adds a fixture, whose processes can be told by the mark and its name.
    pub(crate) fn fixture(mut self, name: &str, options: &[&str], keys: &str) -> Self {
        let mark = format!("{}-{name}-", self.mark);
        let mut words = vec!["--state-dir", &mark];
        words.extend(options);
        let command = fixture().to_str().unwrap();
        writeln!(self.text, "[servers.{name}]\ncommand = {command:?}\nargs = {words:?}\n{keys}\n").unwrap();
        self
    }

    /// Adds anything.
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }
}

impl Scene {
    /// Starts `kennel serve` for a file, and waits until it serves.
    #[track_caller]
    pub(crate) fn start(write: impl FnOnce(File) -> File) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), unique_mark(), write)
    }

    /// The same in a place that is there already.
    #[track_caller]
    pub(crate) fn start_in(place: tempfile::TempDir, mark: String, write: impl FnOnce(File) -> File) -> Self {
        Self::start_at("127.0.0.1:0", place, mark, write)
    }

    /// The same at an address.
    #[track_caller]
    pub(crate) fn start_at(
        listen: &str,
        place: tempfile::TempDir,
        mark: String,
        write: impl FnOnce(File) -> File,
    ) -> Self {
        let file = write(File { text: String::new(), mark: mark.clone() });
        std::fs::write(place.path().join("kennel.toml"), file.text).unwrap();
        let mut serve = Command::new(kennel());
        serve.args(["serve", "--json", "--listen", listen, "-c"]).arg(place.path().join("kennel.toml"));
        serve.arg("--data").arg(place.path().join("data"));
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut kept = Kept::start(serve);
        let log = Collected::from(kept.stderr());
        let mut scene = Self { kept, address: String::new(), log, place, mark };
        let serving = scene.event("serving", |_| true);
        serving["url"].as_str().unwrap().trim_start_matches("http://").clone_into(&mut scene.address);
        scene
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.place.path().join("kennel.toml")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.place.path().join("data/run/admin.sock")
    }

    /// Puts another version in place of the file, as editors do.
    pub(crate) fn rewrite(&self, write: impl FnOnce(File) -> File) {
        let file = write(File { text: String::new(), mark: self.mark.clone() });
        let new = self.place.path().join("new");
        std::fs::write(&new, file.text).unwrap();
        std::fs::rename(new, self.file()).unwrap();
    }

    /// A command about this gateway.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(kennel());
        command.args(words).env("KENNEL_DATA", self.place.path().join("data")).stdin(Stdio::null());
        command
    }

    /// The same, run to its end.
    #[track_caller]
    pub(crate) fn kennel(&self, words: &[&str]) -> Ran {
        run(self.command(words))
    }

    /// The same with `--json`, and what it printed.
    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let printed = self.kennel(&[words, &["--json"]].concat()).fine();
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
    }

    /// What `kennel ps` says of one server.
    #[track_caller]
    pub(crate) fn report(&self, name: &str) -> Value {
        let status = self.json(&["ps"]);
        let servers = status["servers"].as_array().unwrap();
        servers.iter().find(|server| server["name"] == name).unwrap_or_else(|| panic!("no {name}: {status}")).clone()
    }

    /// A session with a server.
    #[track_caller]
    pub(crate) fn session(&self, name: &str) -> Client {
        Client::open_at(&self.address, &format!("/servers/{name}/mcp"), json!({})).expect("the session opens")
    }

    /// Calls a tool without a session, and returns the answer.
    #[track_caller]
    pub(crate) fn call(&self, name: &str, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let mut connection = Connection::open(&self.address).unwrap();
        let response = connection.request("POST", &format!("/servers/{name}/rpc"), &HEADERS, body.as_bytes()).unwrap();
        response.messages().pop().unwrap_or_else(|| panic!("{}: {}", response.status, response.text()))
    }

    /// The processes of one server, or of all.
    pub(crate) fn processes(&self, name: &str) -> Vec<Process> {
        let mark = if name.is_empty() { self.mark.clone() } else { format!("{}-{name}-", self.mark) };
        // Kennel's own command lines have the mark nowhere; those of a box's init neither.
        processes_with(&mark)
    }

    /// The ids of the processes of one server, when there are so many.
    #[track_caller]
    pub(crate) fn pids(&self, name: &str, count: usize) -> Vec<u32> {
        let wrong = || {
            let found = self.processes(name);
            (found.len() != count).then(|| format!("not {count} processes of {name}: {found:?}"))
        };
        settle(PATIENCE, wrong).unwrap_or_else(|complaint| panic!("{complaint}"));
        self.processes(name).iter().map(|process| process.pid).collect()
    }

    /// Waits until it says something under this name that fits, and returns it.
    #[track_caller]
    pub(crate) fn event(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let text = self.said();
            let mut events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            if let Some(event) = events.find(|event| event["event"] == name && fits(event)) {
                return event;
            }
            assert!(start.elapsed() < PATIENCE && self.kept.lives(), "no event `{name}`; it said: {text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What it has said up to now.
    pub(crate) fn said(&mut self) -> String {
        self.log.take_all();
        self.log.text()
    }

    /// Ends it by a signal, and returns what it left.
    #[track_caller]
    pub(crate) fn end(mut self, signal: Signal) -> (ExitStatus, tempfile::TempDir, String) {
        self.kept.signal(signal);
        let status = self.kept.end(&mut [&mut self.log]);
        (status, self.place, self.mark)
    }
}
