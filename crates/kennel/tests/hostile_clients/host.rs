//! A gateway of any caller, and requests to it from any user of the machine.

use crate::support::ground::Ground;
use crate::support::programs::fixture;
use crate::support::running::{Collected, Kept, Ran, run};
use crate::support::waiting::PATIENCE;
use kennel_testkit::Caller;
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A user that neither Kennel nor the tests are.
pub(crate) const STRANGER: u32 = 54_399;

/// A running gateway.
pub(crate) struct Host {
    pub(crate) ground: Ground,
    pub(crate) kept: Kept,
    pub(crate) address: String,
    log: Collected,
}

impl Host {
    /// `kennel run` of the fixture as this caller, with these flags.
    #[track_caller]
    pub(crate) fn run(caller: Caller, flags: &[&str]) -> Self {
        let ground = Ground::new(caller);
        let fixture = ground.add_program(fixture());
        let mut command = ground.kennel(["run", "--json", "--data", &ground.text("work/data")]);
        if !flags.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.args(flags).arg("--").arg(fixture);
        Self::start(ground, command)
    }

    /// `kennel serve` of this file as this caller, with so many open files at most.
    #[track_caller]
    pub(crate) fn serve(caller: Caller, file: impl FnOnce(&str) -> String, open_files: &str) -> Self {
        let ground = Ground::new(caller);
        let fixture = ground.add_program(fixture());
        ground.make_file("work/kennel.toml", file(fixture.to_str().unwrap()), 0o600);
        let script = format!("ulimit {open_files} && exec \"$@\"");
        let mut command = ground.command(["sh", "-c", &script, "sh"]);
        command.arg(ground.kennel_program()).args(["serve", "--json", "--listen", "127.0.0.1:0", "-c"]);
        command.arg(ground.path("work/kennel.toml")).args(["--data", &ground.text("work/data")]);
        Self::start(ground, command)
    }

    /// `kennel serve` of this file, beside others.
    #[track_caller]
    pub(crate) fn serve_with(caller: Caller, file: impl FnOnce(&str) -> String, others: &[(&str, &str)]) -> Self {
        let ground = Ground::new(caller);
        let fixture = ground.add_program(fixture());
        for (name, text) in others {
            ground.make_file(&format!("work/{name}"), text, 0o600);
        }
        ground.make_file("work/kennel.toml", file(fixture.to_str().unwrap()), 0o600);
        let mut command = ground.kennel(["serve", "--json", "--listen", "127.0.0.1:0", "-c"]);
        command.arg(ground.path("work/kennel.toml")).args(["--data", &ground.text("work/data")]);
        Self::start(ground, command)
    }

    #[track_caller]
    fn start(ground: Ground, mut command: Command) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut kept = Kept::start(command);
        let log = Collected::from(kept.stderr());
        let mut host = Self { ground, kept, address: String::new(), log };
        let serving = host.event("serving");
        let url = serving["url"].as_str().unwrap().trim_start_matches("http://").trim_end_matches("/mcp");
        url.clone_into(&mut host.address);
        host
    }

    /// Waits for an event of this name.
    #[track_caller]
    pub(crate) fn event(&mut self, name: &str) -> Value {
        let start = Instant::now();
        loop {
            if let Some(event) = self.events().into_iter().find(|event| event["event"] == name) {
                return event;
            }
            assert!(start.elapsed() < PATIENCE * 2 && self.kept.lives(), "no `{name}`: {}", self.log.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// All events up to now.
    pub(crate) fn events(&mut self) -> Vec<Value> {
        self.log.take_all();
        self.log.text().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// A command about this gateway.
    #[track_caller]
    pub(crate) fn kennel(&self, words: &[&str]) -> Ran {
        run(self.ground.kennel([words, &["--data", &self.ground.text("work/data")]].concat()))
    }

    /// How much memory it holds, in KiB.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.kept.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Stops it, and looks that nothing is left.
    #[track_caller]
    pub(crate) fn end(mut self) {
        self.kept.signal(Signal::INT);
        let status = self.kept.end(&mut [&mut self.log]);
        assert!(status.success(), "{status}: {}", self.log.text());
        self.ground.assert_clean();
    }
}

/// What somebody says who is this user.
pub(crate) fn as_user(uid: u32, words: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={uid}")).arg(format!("--regid={uid}")).args(["--clear-groups", "--"]).args(words);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").current_dir("/").stdin(Stdio::null());
    command
}

/// The words of a shell that sends something to an address and prints the answer.
pub(crate) fn exchange(address: &str, request: &str) -> Vec<String> {
    let (host, port) = address.rsplit_once(':').unwrap();
    let script = "exec 3<>/dev/tcp/$1/$2 && printf '%s' \"$3\" >&3 && timeout 60 cat <&3";
    let host = host.trim_matches(['[', ']']);
    ["bash", "-c", script, "bash", host, port, request].map(str::to_owned).to_vec()
}

/// A request with these headers, after which the connection is closed.
pub(crate) fn request(address: &str, line: &str, headers: &str, body: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

/// What a gateway answers to a request of a user.
#[track_caller]
pub(crate) fn asked(uid: u32, address: &str, line: &str, headers: &str, body: &str) -> String {
    let headers = format!("Connection: close\r\n{headers}");
    let words = exchange(address, &request(address, line, &headers, body));
    run(as_user(uid, &words.iter().map(String::as_str).collect::<Vec<_>>())).out()
}

/// Asks for the tools.
pub(crate) const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
/// Begins a session.
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
/// Begins a WebSocket.
pub(crate) const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
