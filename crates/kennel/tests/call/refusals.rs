//! What is refused before or instead of a call: with which words, and with which code.

use crate::scene::Scene;
use crate::support::caller::myself;
use crate::support::running::run;

#[test]
fn mistakes_in_the_words_are_found_before_anything_is_started() {
    let scene = Scene::new(myself());
    let server = scene.command("");
    for (words, complaint) in [
        (
            &["--run", "sh -c 'x", "echo"][..],
            "--run: the quotation mark ' at character 7 is never closed; close it, or write \\'",
        ),
        (&["--run", " ", "echo"], "--run: it is empty; write the server's command and its arguments"),
        (&["--run", &server, "echo", "hi"], "`hi` is not an argument: write NAME=VALUE, or NAME:=JSON"),
        (
            &["--run", &server, "echo", "a=1", "a=2"],
            "the argument `a` is given twice; give it once, a list as a:='[\"one\",\"two\"]'",
        ),
        (
            &["--run", &server, "echo", "--args", "[]"],
            "--args must be a JSON object such as {\"name\":\"value\"}: this is an array",
        ),
        (
            &["--run", &server, "echo", "--args", "@missing.json"],
            "--args @missing.json: No such file or directory (os error 2)",
        ),
        (
            &["--url", "https://example.com/mcp", "echo"],
            "--url https://example.com/mcp: only http:// is spoken here; put a proxy that speaks TLS on this machine, or an \
             SSH tunnel",
        ),
        (&["--call-timeout", "0", "echo"], "--call-timeout 0: must be more than 0 seconds"),
    ] {
        run(scene.kennel(&[&["call"], words].concat())).refused(125, &format!("kennel: {complaint}\n"));
    }
    scene.ground.assert_clean();
}

#[test]
fn arguments_are_checked_by_the_tool() {
    let scene = Scene::new(myself());
    for (words, complaint) in [
        (&["ehco", "message=hi"][..], "the server has no tool `ehco`; did you mean `echo`?"),
        (&["echo", "mesage=hi"], "the tool `echo` has no argument `mesage`; did you mean `message`?"),
        (&["pid", "a=1"], "the tool `pid` has no argument `a`; it takes none"),
        (&["echo"], "the tool `echo` needs `message`; write message=VALUE"),
        (&["log"], "the tool `log` needs `level`, `text`; write level=VALUE text=VALUE"),
        (&["sleep", "ms=soon"], "the argument `ms` of `sleep` must be an integer, not `soon`"),
        (&["hang", "all=yes"], "the argument `all` of `hang` must be true or false, not `yes`"),
        (
            &["json_schema_2020_12_tool", "address=here"],
            "the argument `address` of `json_schema_2020_12_tool` must be an object in JSON, such as {\"name\":\"value\"}, not \
             `here`",
        ),
        (
            &["junk", "lines=1", "kind=txt"],
            "the argument `kind` of `junk` must be one of text, brace, number, binary, blank, not `txt`; did you mean `text`?",
        ),
    ] {
        let ran = scene.call(words);
        assert_eq!((ran.code, ran.out().as_str()), (Some(125), ""), "{words:?}: {}", ran.err());
        assert!(ran.err().ends_with(&format!("kennel: {complaint}\n")), "{words:?}: {}", ran.err());
    }
    let ran = scene.call(&["zzzzzzzz"]);
    assert!(ran.err().contains("the server has no tool `zzzzzzzz`; it has test_simple_text, "), "{}", ran.err());
    assert!(ran.err().ends_with(", … (`kennel tools` lists all)\n"), "{}", ran.err());
    scene.ground.assert_clean();
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    let scene = Scene::new(myself());
    for words in [
        &["call", "--read", ".", "echo"][..],
        &["call", "--network", "on", "echo"],
        &["call", "--model", "shared", "echo"],
        &["tools", "--env", "A=b"],
    ] {
        let ran = run(scene.kennel(words));
        assert_eq!((ran.code, ran.out().as_str()), (Some(2), ""), "{words:?}: {}", ran.err());
        assert!(ran.err().contains("--run <COMMAND>"), "{words:?}: {}", ran.err());
    }
    for words in [
        &["call", "--run", "x", "--url", "http://127.0.0.1:1", "echo"][..],
        &["call", "echo", "a=1", "--args", "{}"],
        &["call", "echo", "--json", "--save", "out"],
    ] {
        let ran = run(scene.kennel(words));
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.err());
        assert!(ran.err().contains("cannot be used with"), "{words:?}: {}", ran.err());
    }
}

#[test]
fn the_commands_are_completed_by_shells() {
    let scene = Scene::new(myself());
    let script = run(scene.kennel(&["completions", "bash"])).fine();
    for word in ["kennel,call)", "kennel,tools)", "--args"] {
        assert!(script.contains(word), "{word}");
    }
}
