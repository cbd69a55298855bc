//! Paths that change between two starts of a server are judged anew, and a directory that nobody granted is empty.

use crate::scene::Serving;
use crate::support::alone;
use crate::support::caller::{callers, user_id};
use crate::support::ground::Ground;
use crate::support::processes::{processes_with, signal, unique_mark};
use crate::support::programs::fixture;
use crate::support::running::run;
use crate::support::waiting::{PATIENCE, settle};
use kennel_testkit::Caller;
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::{lchown, symlink};

fn serving<'a>(ground: &'a Ground, mark: &str, keys: &str) -> Serving<'a> {
    ground.make_directory("data");
    ground.make_directory("conf");
    let program = ground.add_program(fixture());
    let text = format!(
        "[servers.notes]\ncommand = {:?}\nargs = [\"--state-dir\", {mark:?}]\nmodel = \"shared\"\n{keys}\n",
        program.to_str().unwrap()
    );
    let file = ground.make_file("conf/kennel.toml", text, 0o644);
    Serving::start(ground, &file, &[])
}

fn kill(mark: &str) {
    let found = processes_with(mark);
    assert!(!found.is_empty());
    for process in found {
        signal(process.pid, Signal::KILL);
    }
    settle(PATIENCE, || (!processes_with(mark).is_empty()).then(|| "it lives".to_owned())).unwrap();
}

/// Has a text repeated, once more where the call met a process that had just been killed.
fn echo(serving: &Serving<'_>, text: &str) -> String {
    let ask = || {
        let answers = serving.session("notes").call(json!(1), "echo", json!({ "message": text })).unwrap();
        let answer = answers.last().unwrap();
        answer["result"]["content"][0]["text"].as_str().map(str::to_owned).ok_or_else(|| answer.clone())
    };
    match ask() {
        Err(answer) if answer["error"]["code"] == -31001 => ask().unwrap(),
        answered => answered.unwrap(),
    }
}

#[test]
fn a_granted_directory_that_is_replaced_is_granted_again() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let open = ground.make_directory("open");
        let mark = unique_mark();
        let mut serving = serving(&ground, &mark, &format!("box = {{ write = [{open:?}] }}"));
        assert_eq!(echo(&serving, "one"), "one", "{caller:?}");
        std::fs::remove_dir(&open).unwrap();
        ground.make_directory("open");
        kill(&mark);
        assert_eq!(echo(&serving, "two"), "two", "{caller:?}");
        // What a symlink leads to is judged like any other path.
        ground.make_directory("home/.ssh");
        std::fs::remove_dir(&open).unwrap();
        symlink(ground.path("home/.ssh"), &open).unwrap();
        if caller == Caller::User {
            lchown(&open, Some(user_id()), Some(user_id())).unwrap();
        }
        kill(&mark);
        let params = json!({ "name": "echo", "arguments": { "message": "three" } });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let answer = serving.session("notes").post(&message);
        let answer = answer.map_or_else(|error| error.to_string(), |response| response.text());
        assert!(!answer.contains("\"three\""), "{caller:?}: {answer}");
        assert!(serving.said().contains("home/.ssh` is ever granted"), "{caller:?}: {}", serving.said());
        drop(serving);
        std::fs::remove_dir(ground.path("home/.ssh")).unwrap();
    }
}

#[test]
fn a_working_directory_that_nobody_granted_is_there_and_empty() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        for name in ["place", "place/inner"] {
            ground.make_directory(name);
        }
        ground.make_file("place/secret", "secret", 0o644);
        ground.make_file("place/inner/seen", "seen", 0o644);
        let place = ground.text("place");
        let bare = run(ground.exec(&["--cwd", &place], &["sh", "-c", "pwd; ls -A; ls -A inner"]));
        assert_eq!(bare.out(), format!("{place}\n"), "{caller:?}: {bare:?}");
        assert!(bare.err().contains("nothing of it that is not granted"), "{bare:?}");
        let inner = ground.text("place/inner");
        let part = run(ground.exec(&["--cwd", &place, "--read", &inner], &["sh", "-c", "pwd; ls -A; ls -A inner"]));
        assert_eq!(part.fine(), format!("{place}\ninner\nseen\n"), "{caller:?}");
        let mark = unique_mark();
        let mut serving = serving(&ground, &mark, &format!("cwd = {place:?}"));
        assert_eq!(serving.session("notes").text("echo", json!({ "message": "x" })), "x");
        serving.event("bare_cwd");
    }
}
