//! What cells can do with servers, and what they cannot: asking the client, approval, views, and other doors.

use crate::client::{Seen, cell, does};
use crate::scene::Scene;
use crate::support::gateway::Connection;
use crate::support::programs::{fixture, kennel};
use serde_json::{Value, json};
use std::collections::HashSet;

/// As long as a loaded machine may need: nothing here is about time.
const PATIENT: &str = "[code]\nyield-after = 100\ntimeout = 100\n";

fn at(scene: &Scene, path: &str, mode: &str) -> Value {
    json!({ "url": format!("http://{}{path}", scene.address), "mode": mode })
}

/// The same step in a notebook that has a name: clients without sessions have no other that stays.
fn in_session(session: &str, (tool, mut arguments): (&'static str, Value)) -> (&'static str, Value) {
    arguments["session"] = json!(session);
    (tool, arguments)
}

#[track_caller]
fn failed<'a>(seen: &'a Seen, step: usize, says: &str) -> &'a str {
    let result = &seen.results[step];
    assert_eq!(result["isError"], true, "{result:#}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(says), "{text}");
    text
}

#[test]
fn what_a_tool_asks_inside_of_a_cell_reaches_the_client() {
    let scene =
        Scene::start(|file| file.text(PATIENT).fixture("one", &[], "").fixture("new", &["--era", "modern"], ""));
    let asks = |server: &str| cell(&format!("await mcp_{server}.test_elicitation(message='Who are you?')"));
    for mode in ["auto", "legacy"] {
        let mut place = at(&scene, "/servers/code/mcp", mode);
        place["answer"] = json!({ "username": "Ada of the test", "email": "ada@b.example" });
        let seen = does(&place, &[asks("one"), asks("new")]);
        for step in 0..2 {
            assert!(seen.text(step).contains("Ada of the test"), "{mode}: {:#}", seen.results[step]);
        }
        assert_eq!(seen.asked, ["Who are you?", "Who are you?"], "{mode}");
    }
}

#[test]
fn tools_that_may_change_something_run_as_the_view_says() {
    let views =
        "[views.asking]\nsurface = 'code'\napprove = 'ask'\n[views.denying]\nsurface = 'code'\napprove = 'deny'\n";
    let scene = Scene::start(|file| file.text(PATIENT).fixture("one", &[], "").text(views));
    let twice = cell("[await mcp_one.echo(message='a'), await mcp_one.echo(message='b')]");
    for (decision, questions) in [("once", 2), ("always", 1)] {
        let mut place = at(&scene, "/views/asking/mcp", "legacy");
        place["answer"] = json!({ "decision": decision });
        let seen = does(&place, std::slice::from_ref(&twice));
        assert_eq!(seen.text(0).lines().last(), Some("['a', 'b']"), "{:#}", seen.results[0]);
        assert_eq!(seen.asked.len(), questions, "{:?}", seen.asked);
        assert!(seen.asked[0].contains("one.echo") && seen.asked[0].contains("\"a\""), "{:?}", seen.asked);
    }
    let mut place = at(&scene, "/views/asking/mcp", "legacy");
    place["answer"] = json!({ "decision": "no" });
    failed(&does(&place, std::slice::from_ref(&twice)), 0, "the user does not want one.echo to be called");
    let denied = does(&at(&scene, "/views/denying/mcp", "auto"), &[twice]);
    failed(&denied, 0, "only tools that do may be called from code here");
    assert_eq!(denied.asked, Vec::<String>::new());
}

#[test]
fn errors_carry_what_the_server_said_and_servers_come_back() {
    let scene = Scene::start(|file| file.text(PATIENT).fixture("one", &[], "model = 'shared'"));
    let steps = [
        cell("await mcp_one.test_error_handling()"),
        cell(
            "try:\n    await mcp.runtime.call_tool('one', 'no such tool')\nexcept MCPError as error:\n    print(error)",
        ),
        cell("try:\n    await mcp_one.die(code=3)\nexcept MCPError as error:\n    print(error.code)\nx = 5"),
        cell("[x, await mcp_one.echo(message='back')]"),
        ("run_python", json!({ "code": "await mcp_one.echo(message='')", "servers": [] })),
        ("run_python", json!({ "code": "x", "servers": ["none"] })),
        ("run_python", json!({ "code": "[x, await mcp_one.echo(message='named later')]", "servers": ["one"] })),
        ("run_python", json!({ "code": "x", "timeout": -1 })),
        ("run_python", json!({ "kode": "x" })),
    ];
    let steps = steps.map(|step| in_session("same", step));
    let seen = does(&at(&scene, "/servers/code/mcp", "auto"), &steps);
    failed(&seen, 0, "MCPError");
    assert!(seen.text(1).contains("no such tool"), "{}", seen.text(1));
    assert!(seen.text(2).lines().last().unwrap().starts_with('-'), "{}", seen.text(2));
    assert_eq!(seen.text(3).lines().last(), Some("[5, 'back']"), "a server that died is there again");
    failed(&seen, 4, "servers");
    failed(&seen, 5, "there is no server in \"none\"; there are: one");
    assert_eq!(seen.text(6).lines().last(), Some("[5, 'named later']"));
    assert_eq!(seen.results[7]["structuredContent"]["status"], "validation_error");
    failed(&seen, 8, "kode");
}

#[test]
fn a_view_can_have_code_beside_its_tools() {
    let views = "[views.both]\nservers = ['one']\ncode = true\n";
    let scene = Scene::start(|file| file.text(PATIENT).fixture("one", &[], "").fixture("two", &[], "").text(views));
    let steps = [("code__run_python", json!({ "code": "await mcp.runtime.list_servers()" }))];
    let seen = does(&at(&scene, "/views/both/mcp", "auto"), &steps);
    assert!(seen.manual.contains("mcp_one"), "the manual is found by the address that texts name: {}", seen.manual);
    assert!(seen.tools.iter().any(|tool| tool == "one__echo"), "{:?}", seen.tools);
    assert!(seen.text(0).contains("one") && !seen.text(0).contains("two"), "code sees what the view has");
    let measured = Connection::open(&scene.address).unwrap().request("GET", "/metrics", &[], b"").unwrap().text();
    let names = |line: &str| line.rsplit_once(' ').map(|(name, _)| name.to_owned());
    let measured: Vec<_> = measured.lines().filter(|line| !line.starts_with('#')).filter_map(names).collect();
    let told: HashSet<_> = measured.iter().collect();
    assert_eq!(told.len(), measured.len(), "each is told once: {measured:?}");
    assert!(measured.iter().any(|name| name.contains("code of both")), "{measured:?}");
    let search = "await mcp.runtime.search_tool_docs('returns its message', limit=50)";
    // Code can reach the runtime in its own process; what it may use is decided elsewhere.
    let lifted = format!("mcp.runtime.list_servers.__globals__['Known'].allowed = None\nprint({search})");
    let stolen = "mcp.runtime.list_servers.__globals__['Known'].allowed = None\nawait mcp_two.echo(message='mine')";
    let limited = |code: &str| ("run_python", json!({ "code": code, "servers": ["one"] }));
    let steps = [cell(search), limited(search), limited(&lifted), limited(stolen)];
    let seen = does(&at(&scene, "/servers/code/mcp", "auto"), &steps);
    let finds = |step: usize, server: &str| seen.text(step).contains(&format!("mcp_{server}.echo"));
    assert!(finds(0, "one") && finds(0, "two"), "{}", seen.text(0));
    for step in [1, 2] {
        assert!(
            finds(step, "one") && !finds(step, "two"),
            "what a cell may not use it does not find: {}",
            seen.text(step)
        );
    }
    failed(&seen, 3, "may not use the server two");
}

#[test]
fn a_file_of_another_client_and_a_directory_are_served_by_one_command() {
    let place = tempfile::tempdir().unwrap();
    let servers = json!({ "mcpServers": { "my-server": { "command": fixture() } } });
    let directory = place.path().join("servers.d");
    std::fs::create_dir(&directory).unwrap();
    let file = directory.join("mcp.json");
    std::fs::write(&file, servers.to_string()).unwrap();
    for config in [&file, &directory] {
        let words = [kennel().to_str().unwrap(), "code", "-c", config.to_str().unwrap(), "--data"];
        let data = place.path().join("data");
        let words: Vec<&str> = words.into_iter().chain([data.to_str().unwrap()]).collect();
        let seen = does(&json!({ "command": words }), &[cell("await mcp_my_server.echo(message='hello')")]);
        assert_eq!(seen.text(0).lines().last(), Some("'hello'"));
    }
}

#[test]
fn the_time_of_people_is_not_the_cells() {
    let views = "[views.asking]\nsurface = 'code'\napprove = 'ask'\n";
    let scene = Scene::start(|file| file.text(PATIENT).fixture("one", &[], "").text(views));
    let mut place = at(&scene, "/views/asking/mcp", "legacy");
    place["answer"] = json!({ "decision": "once" });
    place["thinks"] = json!(12);
    let code = json!({ "code": "await mcp_one.echo(message='at last')", "timeout": 10 });
    let seen = does(&place, &[("run_python", code)]);
    assert_eq!(seen.text(0), "'at last'", "{:#}", seen.results[0]);
}
