//! Each server in its default box answers each client.

use crate::clients::{Answers, Seen, python, rmcp};
use crate::scene::{Scene, node_server, program};
use crate::support::ground::Ground;
use crate::support::running::run;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;

/// A server, and a call that it has to understand.
struct Case<'a> {
    flags: &'a [&'a str],
    server: Vec<OsString>,
    /// What it calls itself.
    name: &'a str,
    /// All that it offers to a client that cannot be asked anything.
    tools: usize,
    tool: &'a str,
    arguments: Value,
}

impl Case<'_> {
    /// Makes the call by each client, and looks at each result.
    #[track_caller]
    fn is_answered(&self, scene: &Scene, check: impl Fn(&Seen)) {
        let served = scene.serve(self.flags, &self.server);
        let by_python = python(&served, Answers::Nothing, self.tool, &self.arguments);
        served.stop();
        let by_rmcp = rmcp(scene, self.flags, &self.server, self.tool, &self.arguments);
        for (client, seen) in [("python", by_python), ("rmcp", by_rmcp)] {
            assert_eq!((seen.server.as_str(), seen.tools.len()), (self.name, self.tools), "{client}: {:?}", seen.tools);
            assert!(seen.tools.iter().any(|tool| tool == self.tool), "{client}: {:?}", seen.tools);
            check(&seen);
        }
        scene.ground.assert_clean();
    }
}

#[test]
fn everything_answers() {
    let case = Case {
        flags: &[],
        server: node_server("KENNEL_TEST_SERVER_EVERYTHING"),
        name: "mcp-servers/everything",
        tools: 13,
        tool: "get-sum",
        arguments: json!({ "a": 2, "b": 3.5 }),
    };
    case.is_answered(&Scene::new(), |seen| assert_eq!(seen.fine(), "The sum of 2 and 3.5 is 5.5."));
}

#[test]
fn memory_answers() {
    let entity = json!({ "name": "Rex", "entityType": "dog", "observations": ["barks at strangers"] });
    let case = Case {
        // By default it writes beside its own program, which no box lets it.
        flags: &["--env", "MEMORY_FILE_PATH=/tmp/memory.jsonl"],
        server: node_server("KENNEL_TEST_SERVER_MEMORY"),
        name: "memory-server",
        tools: 9,
        tool: "create_entities",
        arguments: json!({ "entities": [entity] }),
    };
    case.is_answered(&Scene::new(), |seen| {
        seen.fine();
        assert_eq!(seen.result["structuredContent"]["entities"], json!([entity]));
    });
}

#[test]
fn filesystem_answers() {
    let scene = Scene::new();
    let directory = scene.ground.make_directory("work/granted");
    scene.ground.make_file("work/granted/file", "what is in the file", 0o644);
    let mut server = node_server("KENNEL_TEST_SERVER_FILESYSTEM");
    server.push(directory.into());
    let case = Case {
        flags: &[],
        server,
        name: "secure-filesystem-server",
        tools: 14,
        tool: "read_text_file",
        arguments: json!({ "path": scene.ground.text("work/granted/file") }),
    };
    case.is_answered(&scene, |seen| assert_eq!(seen.fine(), "what is in the file"));
}

#[test]
fn git_answers() {
    let scene = Scene::new();
    let repository = repository(&scene.ground);
    let mut server = program("KENNEL_TEST_SERVER_GIT");
    server.extend(["--repository".into(), repository.clone().into()]);
    let case = Case {
        flags: &[],
        server,
        name: "mcp-git",
        tools: 12,
        tool: "git_log",
        arguments: json!({ "repo_path": repository }),
    };
    case.is_answered(&scene, |seen| {
        let log = seen.fine();
        assert!(log.contains("Message: a second commit") && log.contains("Message: a first commit"), "{log}");
    });
}

/// A repository with two commits.
fn repository(ground: &Ground) -> String {
    let place = ground.text("work/repository");
    let git = |words: &[&str]| {
        let mut command = ground.command(["git", "-c", "user.name=A Tester", "-c", "user.email=tester@example.test"]);
        command.args(words).env("GIT_CONFIG_NOSYSTEM", "1");
        run(command).fine();
    };
    git(&["init", "--quiet", &place]);
    for message in ["a first commit", "a second commit"] {
        fs::write(ground.path("work/repository/file"), message).unwrap();
        git(&["-C", &place, "add", "file"]);
        git(&["-C", &place, "commit", "--quiet", "--message", message]);
    }
    place
}

#[test]
fn time_answers() {
    let case = Case {
        flags: &[],
        server: program("KENNEL_TEST_SERVER_TIME"),
        name: "mcp-time",
        tools: 2,
        tool: "convert_time",
        arguments: json!({ "source_timezone": "Asia/Tokyo", "time": "09:30", "target_timezone": "UTC" }),
    };
    case.is_answered(&Scene::new(), |seen| {
        let converted: Value = serde_json::from_str(&seen.fine()).unwrap();
        assert_eq!(converted["time_difference"], "-9.0h", "{converted}");
        let moment = converted["target"]["datetime"].as_str().unwrap();
        assert!(moment.contains("T00:30:00"), "{converted}");
    });
}
