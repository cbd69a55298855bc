//! Servers that are started for one call.

use crate::scene::Scene;
use crate::support::caller::{callers, myself};
use crate::support::programs::material;
use crate::support::running::{run, run_with_input};
use crate::support::terminal::Terminal;
use serde_json::Value;

#[test]
fn a_tool_is_called_and_nothing_is_left() {
    for caller in callers() {
        let scene = Scene::new(caller);
        assert_eq!(scene.call(&["echo", "message=hi there"]).fine(), "hi there\n", "{caller:?}");
        scene.ground.assert_clean();
        // Neither of a server that does not end by itself, and has left others behind.
        let ran = scene.call_with("--ignore-eof", &["spawn_grandchildren", "count=3"]);
        assert_eq!(ran.fine().matches(',').count(), 2, "{caller:?}");
        scene.ground.assert_clean();
    }
}

#[test]
fn arguments_arrive_with_the_types_of_the_schema_and_as_spelled() {
    let scene = Scene::new(myself());
    // A string stays one, also if it looks like a number.
    assert_eq!(scene.call(&["echo", "message=5"]).fine(), "5\n");
    // An integer is one: the fixture refuses strings here.
    assert_eq!(scene.call(&["large", "bytes=3"]).fine(), "xxx\n");
    let words = ["raw_arguments", "--json", "a:=1.0", "b=text", "c=12345678901234567890123", "d={\"z\":1, \"a\":2}"];
    let spelled = r#"{"a":1.0,"b":"text","c":12345678901234567890123,"d":{"z":1, "a":2}}"#;
    let quoted = Value::from(spelled);
    let expected =
        format!("{{\"content\":[{{\"type\":\"text\",\"text\":{quoted}}}],\"structuredContent\":{spelled}}}\n");
    assert_eq!(scene.call(&words).fine(), expected);
    // No arguments are an empty object.
    assert_eq!(scene.call(&["raw_arguments"]).fine(), "{}\n");
}

#[test]
fn all_arguments_can_be_given_at_once() {
    let scene = Scene::new(myself());
    let spelled = r#"{"b":1.00,"a":null}"#;
    assert_eq!(scene.call(&["raw_arguments", "--args", spelled]).fine(), format!("{spelled}\n"));
    scene.ground.make_file("work/arguments.json", format!("{spelled}\n"), 0o644);
    assert_eq!(scene.call(&["raw_arguments", "--args", "@arguments.json"]).fine(), format!("{spelled}\n"));
    let command = scene.kennel(&["call", "--run", &scene.command(""), "raw_arguments", "--args", "-"]);
    assert_eq!(run_with_input(command, spelled.as_bytes()).fine(), format!("{spelled}\n"));
}

#[test]
fn the_box_grants_what_the_flags_say_and_no_more() {
    for caller in callers() {
        let scene = Scene::new(caller);
        scene.ground.make_directory("work/notes");
        let file = scene.ground.make_file("work/notes/file", "content", 0o644);
        let path = format!("path={}", file.display());
        let ran = scene.call(&["read_file", &path]);
        assert_eq!((ran.code, ran.out().as_str()), (Some(1), ""), "{caller:?}: {}", ran.err());
        assert!(ran.err().contains("No such file"), "{}", ran.err());
        assert_eq!(scene.call(&["--read", "./notes", "read_file", &path]).fine(), "content\n", "{caller:?}");
        assert_eq!(scene.call(&["--write", "./notes", "write_file", &path, "text=new"]).fine(), "wrote 3 bytes\n");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "new");
        let ran = scene.call(&["--env", "GREETING=good day", "environment", "name=GREETING"]);
        assert!(ran.fine().starts_with("good day"), "{caller:?}");
        scene.ground.assert_clean();
    }
}

#[test]
fn the_words_of_the_command_are_split_as_in_a_shell() {
    let scene = Scene::new(myself());
    let place = scene.ground.make_directory("work/two words");
    let copy = crate::support::programs::copy(&scene.server, &place);
    let command = format!("'{}' \"--stderr-lines\" 2", copy.display());
    let ran = run(scene.kennel(&["call", "--run", &command, "echo", "message=hi"]));
    assert_eq!(ran.fine(), "hi\n");
    for line in ["kennel-fixture: line 1 on stderr\n", "kennel-fixture: line 2 on stderr\n"] {
        assert!(ran.err().contains(line), "what the server says on stderr is seen: {}", ran.err());
    }
}

#[test]
fn what_is_no_text_is_described_and_can_be_saved() {
    let scene = Scene::new(myself());
    let shown = scene.call(&["test_multiple_content_types"]).fine();
    let expected = "Multiple content types test:\n[image, image/png, 70 bytes]\n\
                    [resource test://mixed-content-resource, application/json, 27 bytes]\n";
    assert_eq!(shown, expected);
    assert_eq!(scene.call(&["test_audio_content"]).fine(), "[audio, audio/wav, 44 bytes]\n");
    let shown = scene.call(&["--save", "out", "test_multiple_content_types"]).fine();
    assert!(
        shown.contains("[image, image/png, 70 bytes, saved as out/test_multiple_content_types-1.png]\n"),
        "{shown}"
    );
    let picture = std::fs::read(scene.ground.path("work/out/test_multiple_content_types-1.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() == 70);
    let json = std::fs::read_to_string(scene.ground.path("work/out/test_multiple_content_types-2.json")).unwrap();
    assert_eq!(json, r#"{"test":"data","value":123}"#);
}

#[test]
fn a_server_that_has_changed_is_asked_again() {
    let scene = Scene::new(myself());
    let tool = |name: &str, kind: &str| {
        format!(r#"{{"name":"{name}","description":"x","arguments":[{{"name":"value","type":"{kind}"}}]}}"#)
    };
    let file = scene.ground.make_file("work/tools.jsonl", tool("old", "string"), 0o644);
    let options = format!("--tools-file {}", file.display());
    assert!(scene.call_with(&options, &["old", "value=5"]).fine().contains("\"5\""));
    // The same command as before, and what was remembered of it is wrong now.
    scene.ground.make_file("work/tools.jsonl", [tool("old", "integer"), tool("new", "string")].join("\n"), 0o644);
    let out = scene.call_with(&options, &["old", "value=5"]).fine();
    assert!(out.contains('5') && !out.contains("\"5\""), "{out}");
    assert!(scene.call_with(&options, &["new", "value=5"]).fine().contains("\"5\""));
}

#[test]
fn progress_is_seen_at_a_terminal() {
    let scene = Scene::new(myself());
    let words = ["call", "--run", &scene.command(""), "sleep", "ms=400", "progress_every_ms=100"];
    let (code, screen) = Terminal::open().start(&scene.kennel(&words)).finish();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("25 %") && screen.contains("slept 400 ms"), "{screen}");
    // Nobody watches, so nobody is told.
    assert!(!run(scene.kennel(&words)).err().contains('%'));
}

#[test]
fn a_terminal_is_not_commanded_by_a_server() {
    let scene = Scene::new(myself());
    let words = ["echo", "message=before\u{1b}[2Jafter"];
    assert_eq!(scene.call(&words).fine(), "before\u{1b}[2Jafter\n", "a program gets what the server said");
    let command = scene.kennel(&[&["call", "--run", &scene.command("")], &words[..]].concat());
    let (code, screen) = Terminal::open().start(&command).finish();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("before\u{fffd}[2Jafter"), "{screen:?}");
}

#[test]
fn real_servers_are_called() {
    let scene = Scene::new(myself());
    let node = material("KENNEL_TEST_NODE_BIN").join("node");
    let everything = format!("{} {}", node.display(), material("KENNEL_TEST_SERVER_EVERYTHING").display());
    // The material is under the home of whoever runs the tests, which is no other user's to grant.
    let call = |server: &str, words: &[&str]| {
        let mut command = scene.kennel(&[&["call", "--run", server], words].concat());
        command.env("HOME", std::env::home_dir().unwrap());
        run(command)
    };
    assert_eq!(call(&everything, &["get-sum", "a=2", "b=3.5"]).fine(), "The sum of 2 and 3.5 is 5.5.\n");
    let ran = call(&everything, &["get-sum", "a=2", "b=three"]);
    assert_eq!(ran.code, Some(125));
    let complaint = "kennel: the argument `b` of `get-sum` must be a number, not `three`\n";
    assert!(ran.err().ends_with(complaint), "{}", ran.err());
    let time = material("KENNEL_TEST_SERVER_TIME").display().to_string();
    let out = call(&time, &["get_current_time", "timezone=UTC"]).fine();
    assert!(out.contains("\"timezone\": \"UTC\""), "{out}");
    scene.ground.assert_clean();
}
