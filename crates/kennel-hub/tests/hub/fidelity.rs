//! Bytes: what is not in the hub's table of changes passes as it was spelled, both ways, and so do ids.

use crate::support::{Guest, Process, Scene, calm, parse};
use kennel_hub::{OutgoingKind, ProcessModel};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

/// Where ids and tokens stand in templates of messages.
const ID: &str = "@ID@";
const TOKEN: &str = "@TOKEN@";

fn filled(template: &str, id: &str, token: &str) -> String {
    template.replace(ID, id).replace(TOKEN, token)
}

/// As a process reads it.
fn folded(message: &str) -> String {
    message.replace(['\n', '\r'], " ")
}

/// Sends a request and an answer through, and compares every byte.
async fn passes(client: &Guest, process: &mut Process, request: &str, answer: &str, id: &str, token: &str) {
    let stream = client.ask(&filled(request, id, token));
    let line = process.line().await.expect("a line");
    let minted = parse(&line).id().expect("an id").to_string();
    assert_eq!(line, folded(&filled(request, &minted, &minted)).trim_end(), "a request changed on its way");
    process.say(filled(answer, &minted, "")).await;
    let received = stream.spelled(OutgoingKind::Response).await;
    assert_eq!(received, filled(answer, id, ""), "an answer changed on its way");
}

async fn scene(model: ProcessModel) -> (Scene, Guest, Process) {
    let scene = Scene::new(calm(model));
    let capabilities = json!({ "sampling": {}, "elicitation": {}, "roots": {} });
    let client = scene.guest("local", capabilities).await;
    let process = scene.process().await;
    (scene, client, process)
}

#[tokio::test(start_paused = true)]
async fn ids_come_back_as_they_were_spelled() {
    let (scene, client, mut process) = scene(ProcessModel::PerSession).await;
    let long = format!("\"{}\"", "long".repeat(100));
    let ids = [
        "0",
        "-1",
        "1",
        "1.0",
        "1e5",
        "-0",
        "12345678901234567890123",
        "\"\"",
        "\"1\"",
        "\"a b\"",
        "\"\\u0031\"",
        "\"\\\"\"",
        "\"ü\"",
        "\"kennel:1\"",
        &long,
    ];
    for id in ids {
        let request = r#"{"jsonrpc":"2.0","id":@ID@,"method":"tools/call","params":{"name":"echo"}}"#;
        passes(&client, &mut process, request, r#"{"jsonrpc":"2.0","id":@ID@,"result":{}}"#, id, "").await;
        let error = r#"{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32042,"message":"m","data":{"x":1.0}}}"#;
        passes(&client, &mut process, request, error, id, "").await;
        // Also where Kennel answers itself.
        let stream = client.ask(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        let spelled = stream.spelled(OutgoingKind::Response).await;
        assert!(spelled.contains(&format!("\"id\":{id},")), "{spelled}");
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_may_spell_the_id_of_its_answer_with_a_fraction() {
    let (scene, client, mut process) = scene(ProcessModel::PerSession).await;
    let stream = client.call(7, "echo");
    let id = process.expect("tools/call").await["id"].clone();
    process.say(format!(r#"{{"jsonrpc":"2.0","id":{id}.0,"result":{{}}}}"#)).await;
    assert_eq!(stream.spelled(OutgoingKind::Response).await, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_examples_of_the_specification_pass() {
    let requests = [
        (
            "tools/call",
            include_str!("examples/tool-call-params-with-progress-token.json"),
            include_str!("examples/result-with-structured-content.json"),
        ),
        (
            "prompts/get",
            include_str!("examples/get-code-review-prompt.json"),
            include_str!("examples/code-review-prompt.json"),
        ),
        (
            "completion/complete",
            include_str!("examples/prompt-argument-completion-with-context.json"),
            include_str!("examples/multiple-completion-values-with-more-available.json"),
        ),
        (
            "resources/read",
            r#"{"uri":"file:///project/src/main.rs"}"#,
            include_str!("examples/file-resource-contents.json"),
        ),
        (
            "tools/call",
            r#"{"name":"weather","arguments":null}"#,
            include_str!("examples/result-with-unstructured-text.json"),
        ),
    ];
    for model in [ProcessModel::PerSession, ProcessModel::Shared] {
        let (scene, client, mut process) = scene(model).await;
        for (method, params, result) in requests {
            // The token of the example is the only member that is to change.
            let params = params.replace("\"oivaizmir\"", TOKEN);
            let request = format!(
                "{{\r\n\"jsonrpc\": \"2.0\", \"id\": @ID@, \"method\": \"{method}\", \"params\": {params} }}\n"
            );
            let answer = folded(&format!("{{ \"result\": {result}, \"id\": @ID@, \"jsonrpc\": \"2.0\" }}"));
            passes(&client, &mut process, &request, &answer, "\"one\"", "\"oivaizmir\"").await;
        }
        let error = include_str!("examples/invalid-tool-arguments.json");
        let answer = folded(&format!("{{ \"jsonrpc\": \"2.0\", \"id\": @ID@, \"error\": {error} }}"));
        let request = r#"{"jsonrpc":"2.0","id":@ID@,"method":"tools/call","params":{"name":"echo"}}"#;
        passes(&client, &mut process, request, &answer, "1", "").await;
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn requests_and_notifications_of_a_process_pass_as_they_are() {
    let examples = [
        (
            "sampling/createMessage",
            include_str!("examples/follow-up-with-tool-results.json"),
            include_str!("examples/tool-use-response.json"),
        ),
        (
            "elicitation/create",
            include_str!("examples/elicit-multiple-fields.json"),
            include_str!("examples/input-multiple-fields.json"),
        ),
        ("roots/list", "{ }", r#"{ "roots": [ ], "n": 1.0 }"#),
        ("unknown/request", "null", r#"{ "n": 1e5, "n": 2 }"#),
    ];
    let (scene, client, mut process) = scene(ProcessModel::PerSession).await;
    for id in ["0", "\"q\"", "-3"] {
        for (method, params, result) in examples {
            let asked = folded(&format!(
                "{{ \"id\": @ID@, \"jsonrpc\": \"2.0\", \"method\": \"{method}\", \"params\": {params} }}"
            ));
            process.say(filled(&asked, id, "")).await;
            let received = client.unsolicited.spelled(OutgoingKind::Request).await;
            let minted = parse(&received).id().expect("an id").to_string();
            assert_eq!(received, filled(&asked, &minted, ""));
            let answer = format!("{{ \"jsonrpc\": \"2.0\", \"result\": {result},\n \"id\": @ID@ }}");
            client.tell(&filled(&answer, &minted, ""));
            assert_eq!(process.line().await.expect("a line"), folded(&filled(&answer, id, "")));
        }
    }
    let example = folded(include_str!("examples/log-database-connection-failed.json"));
    for notification in [
        format!("{{ \"jsonrpc\": \"2.0\", \"method\": \"notifications/message\", \"params\": {example} }}"),
        r#"{"method":"notifications/made/up","jsonrpc":"2.0","params":{"a":1.0,"a":[null]},"x":1e999}"#.to_owned(),
        r#"{"method":"notifications/tools/list_changed","jsonrpc":"2.0"}"#.to_owned(),
    ] {
        process.say(&*notification).await;
        assert_eq!(client.unsolicited.spelled(OutgoingKind::Notification).await, notification);
    }
    process.expect("tools/list").await;
    let notification =
        r#"{"method":"notifications/roots/list_changed","jsonrpc":"2.0","params":{"a":1.0},"x":"\ud83d"}"#;
    client.tell(notification);
    assert_eq!(process.line().await.expect("a line"), notification);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn noise_is_counted_and_changes_nothing() {
    let (scene, client, mut process) = scene(ProcessModel::PerSession).await;
    let stream = client.call(1, "echo");
    let request = process.expect("tools/call").await;
    for noise in ["Listening on port 3000", "{\"jsonrpc\":\"2.0\"", "[]", "{}", "1"] {
        process.say(noise).await;
    }
    stream.is_quiet().await;
    client.unsolicited.is_quiet().await;
    process.answer(&request, json!({})).await;
    assert_eq!(stream.response().await["id"], 1);
    assert_eq!(scene.metric("noise_lines_total"), 5);
    scene.end().await;
}

/// JSON in all spellings, with whitespace between its tokens.
fn spelled_json() -> impl Strategy<Value = String> {
    let string = prop::collection::vec(
        prop_oneof![
            Just("a"),
            Just(" "),
            Just("ü"),
            Just("😀"),
            Just("\\n"),
            Just("\\u0000"),
            Just("\\u00e9"),
            Just("\\ud83d"),
            Just("\\/"),
            Just("\\\""),
            Just("\\\\"),
            Just("\u{7f}"),
            Just("{"),
            Just("]"),
            Just("id"),
            Just("@"),
        ],
        0..6,
    );
    let string = string.prop_map(|parts| format!("\"{}\"", parts.concat())).boxed();
    let number = prop_oneof![
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?",
        Just("1.0".to_owned()),
        Just("1e5".to_owned()),
        Just("12345678901234567890".to_owned()),
    ];
    let word = prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned);
    let space = || prop_oneof![Just(""), Just(" "), Just("\t "), Just("  ")];
    let name = prop_oneof![
        string.clone(),
        Just("\"id\"".to_owned()),
        Just("\"\\u0069d\"".to_owned()),
        Just("\"progressToken\"".to_owned()),
        Just("\"method\"".to_owned()),
        Just("\"result\"".to_owned()),
    ];
    let leaf = prop_oneof![string, number, word];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        let members = prop::collection::vec((name.clone(), inner.clone(), space()), 0..5);
        prop_oneof![
            (prop::collection::vec((inner, space()), 0..5)).prop_map(|items| {
                let items: Vec<_> = items.into_iter().map(|(item, space)| format!("{space}{item}{space}")).collect();
                format!("[{}]", items.join(","))
            }),
            members.prop_map(|members| {
                let members =
                    members.into_iter().map(|(name, value, space)| format!("{space}{name}{space}:{value}{space}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

fn spelled_id() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("0".to_owned()),
        Just("\"\"".to_owned()),
        Just("1.0".to_owned()),
        Just("1e5".to_owned()),
        "-?[1-9][0-9]{0,24}",
        "\"[a-z0-9 ü]{0,60}\"",
    ]
}

/// The members of a message in any order.
fn message(members: Vec<String>) -> impl Strategy<Value = String> {
    let space = prop_oneof![Just(""), Just(" "), Just("\t")];
    (Just(members).prop_shuffle(), space)
        .prop_map(|(members, space)| format!("{space}{{{space}{}{space}}}", members.join(&format!("{space},{space}"))))
}

#[test]
fn any_request_and_answer_pass_unchanged() {
    let version = || "\"jsonrpc\":\"2.0\"".to_owned();
    let id = || format!("\"id\": {ID}");
    let request = (spelled_json(), spelled_json(), spelled_json(), any::<bool>()).prop_flat_map(
        move |(one, two, three, token)| {
            let meta = if token { format!("\"progressToken\":{TOKEN},\"x\":{two}") } else { format!("\"x\":{two}") };
            let params =
                format!("\"params\":{{\"name\":\"echo\",\"arguments\":{one},\"_meta\":{{{meta}}},\"y\":{three}}}");
            message(vec![
                version(),
                id(),
                "\"method\":\"tools/call\"".to_owned(),
                params,
                format!("\"unknown\":{three}"),
            ])
        },
    );
    let answer = (spelled_json(), spelled_json(), any::<bool>()).prop_flat_map(move |(one, two, succeeded)| {
        let body =
            if succeeded { format!("\"result\":{one}") } else { format!("\"error\":{{\"data\":{one},\"code\":1.0}}") };
        message(vec![version(), id(), body, format!("\"unknown\":{two}")])
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (scene, client, mut process) = runtime.block_on(scene(ProcessModel::PerSession));
    let process = std::cell::RefCell::new(&mut process);
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let cases = (request, answer, spelled_id(), spelled_id());
    let outcome = runner.run(&cases, |(request, answer, id, token)| {
        // A client's line ends may be anywhere between tokens.
        let request = request.replace('\t', "\r\n");
        runtime.block_on(passes(&client, &mut process.borrow_mut(), &request, &answer, &id, &token));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    runtime.block_on(scene.end());
}
