//! The escape suite from inside a cell of code mode.

use crate::scene::Scene;
use crate::support::alone;
use crate::support::announce;
use crate::support::caller::callers;
use crate::support::ground::Ground;
use kennel_testkit::{Argument, Attempt, Outcome, Report, Setting, attempts};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// At least so many attempts need nothing that a cell has not.
const FEWEST: usize = 40;

/// Code mode on pipes, as a client that starts programs has it.
struct Code {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last: u64,
}

impl Code {
    fn start(ground: &Ground) -> Self {
        let file =
            ground.make_file("kennel.toml", format!("[code]\nread = ['{}']\n", ground.programs().display()), 0o644);
        let words = ["code", "-c", file.to_str().unwrap(), "--data", &ground.text("data")].map(str::to_owned);
        let mut command = ground.kennel(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut code = Self { child, stdin, stdout, last: 0 };
        let client = json!({ "name": "escape", "version": "1" });
        code.request(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        code
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "code mode has ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == self.last {
                return answer["result"].clone();
            }
        }
    }

    /// What a cell prints.
    fn run(&mut self, code: &str) -> Value {
        self.request("tools/call", &json!({ "name": "run_python", "arguments": { "code": code, "timeout": 60 } }))
    }

    fn end(mut self) {
        self.stdin = None;
        assert!(self.child.wait().unwrap().success());
    }
}

/// Whether an attempt needs nothing but to be in a box.
fn is_plain(attempt: &Attempt, scene: &Scene) -> bool {
    scene.flags.is_empty()
        && matches!(attempt.setting, Setting::Plain | Setting::OwnInit)
        && !attempt.arguments.contains(&Argument::Amount)
        && attempt.name != "core_dump"
}

#[test]
fn every_attempt_is_blocked_from_a_cell() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let mut code = Code::start(&ground);
        let mut blocked = 0;
        let mut failures = Vec::new();
        for attempt in attempts() {
            let Ok(mut scene) = Scene::new(&ground, &format!("{}-cell", attempt.name), attempt) else { continue };
            if !is_plain(attempt, &scene) {
                continue;
            }
            let mut words = vec![ground.hostile().to_str().unwrap().to_owned(), attempt.name.to_owned()];
            words.extend(scene.arguments.iter().map(|word| word.to_str().unwrap().to_owned()));
            let words = serde_json::to_string(&words).unwrap();
            let result = code.run(&format!(
                "import subprocess\nran = subprocess.run({words}, stdin=subprocess.DEVNULL, capture_output=True, text=True)\n\
                 print(ran.stdout, ran.stderr)"
            ));
            let printed = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
            let report = printed.lines().find_map(|line| Report::parse(line).ok());
            let complaints = scene.complaints();
            match report {
                Some(Report { outcome: Outcome::Blocked, .. }) if complaints.is_empty() => blocked += 1,
                other => failures.push(format!("{}: {other:?} {complaints:?} {printed}", attempt.name)),
            }
        }
        code.end();
        announce(&format!("escape suite from a cell, {caller:?}: {blocked} attempts blocked"));
        ground.assert_clean();
        assert!(failures.is_empty(), "as {caller:?}:\n{}", failures.join("\n"));
        assert!(blocked >= FEWEST, "only {blocked} attempts were made as {caller:?}");
    }
}
