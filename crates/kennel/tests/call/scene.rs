//! A place with the fixture server, Kennel called there, and a `kennel run` to ask.

use crate::support::ground::Ground;
use crate::support::programs;
use crate::support::running::{Ran, Running, run};
use kennel_testkit::Caller;
use rustix::process::Signal;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

pub(crate) struct Scene {
    pub(crate) ground: Ground,
    pub(crate) server: PathBuf,
}

impl Scene {
    pub(crate) fn new(caller: Caller) -> Self {
        let ground = Ground::new(caller);
        let server = ground.add_program(programs::fixture());
        Self { ground, server }
    }

    /// `kennel` with these words. What it keeps is kept in the place to work, so that home must stay empty.
    pub(crate) fn kennel(&self, words: &[&str]) -> Command {
        let mut command = self.ground.kennel(words);
        command.env("KENNEL_DATA", self.ground.path("work/data"));
        command
    }

    /// The fixture with these options, for `--run`.
    pub(crate) fn command(&self, options: &str) -> String {
        format!("{} {options}", self.server.display())
    }

    /// `kennel call --run 'kennel-fixture OPTIONS' WORDS`, run to its end.
    #[track_caller]
    pub(crate) fn call_with(&self, options: &str, words: &[&str]) -> Ran {
        run(self.kennel(&[&["call", "--run", &self.command(options)], words].concat()))
    }

    #[track_caller]
    pub(crate) fn call(&self, words: &[&str]) -> Ran {
        self.call_with("", words)
    }

    /// `kennel run FLAGS -- kennel-fixture`, once it serves.
    #[track_caller]
    pub(crate) fn serve(&self, flags: &[&str]) -> Served {
        // Its standard error is what can be waited for.
        let mut command = self.ground.command(["sh", "-c", "exec \"$@\" 2>&1", "sh"]);
        command.arg(self.ground.kennel_program()).args(["run", "--json"]).args(flags).arg("--").arg(&self.server);
        command.env("KENNEL_DATA", self.ground.path("work/data"));
        let mut running = Running::start(command);
        running.wait_for("\"event\":\"serving\"");
        running.wait_for("/mcp\"");
        let printed = running.out();
        let events = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let serving = events.into_iter().find(|event| event["event"] == "serving").expect("it serves");
        let url = serving["url"].as_str().unwrap().replace("0.0.0.0", "127.0.0.1");
        Served {
            running,
            url: url.strip_suffix("/mcp").unwrap().to_owned(),
            token: serving["token"].as_str().map(str::to_owned),
        }
    }
}

/// A gateway.
pub(crate) struct Served {
    running: Running,
    /// Its URL without a path.
    pub(crate) url: String,
    pub(crate) token: Option<String>,
}

impl Served {
    #[track_caller]
    pub(crate) fn stop(self) {
        self.running.kept.signal(Signal::TERM);
        assert_eq!(self.running.finish().code, Some(0));
    }
}
