//! A tool that is denied is not run, however the call is spelled and whichever door it comes through.

use crate::scene::Place;
use crate::support::running::run;
use rustix::process::Signal;
use serde_json::Value;

/// Members and whole messages by which a lenient reader is made to run `danger`, where `{id}` is an id with its comma or
/// nothing and `{own}` comes before names of tools.
const CALLS: &[&str] = &[
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}DANGER"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}danger\u0000"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}danger\u0000x"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}danger "}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}dan_ger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}danger\u200b"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":["{own}danger"]}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":["danger"]}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo","name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo","n\u0061me":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo","Name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo","NAME":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo","name\u0000":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo","name\u0000x":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo"," name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo","na-me":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo"},"params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo"},"Params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo"},"paramſ":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call","params":{"name":"{own}echo"},"param\u017f":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/list","params":{"name":"danger"},"Method":"tools/call"}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/list","params":{"name":"danger"},"method\u0000":"tools/call"}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"ping","params":{"name":"danger"},"METHOD":"tools/call"}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"Tools/Call","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call\u0000","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools/call\u0000x","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":" tools/call","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"tools//call","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"/tools/call/","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"method":"toolſ/call","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"ID":2,"method":"tools/call","params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0",{id}"result":{},"Method":"tools/call","Params":{"name":"danger"}}"#,
    r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":""},"method":"tools/call","params":{"name":"danger"}}"#,
];

/// The same as messages with and without an id, alone and in batches.
fn messages(own: &str) -> Vec<String> {
    let mut messages = Vec::new();
    for call in CALLS {
        let call = call.replace("{own}", own);
        let with = call.replace("{id}", "\"id\":9,");
        let without = call.replace("{id}", "");
        for message in [with, without] {
            messages.push(format!("[{message}]"));
            messages.push(format!(r#"[{{"jsonrpc":"2.0","id":4,"method":"ping"}},{message}]"#));
            messages.push(message);
        }
    }
    messages.extend(["\u{feff}", "[", "{}x"].map(|around| format!("{around}{}", CALLS[0].replace("{id}", ""))));
    messages
}

fn has_ran(answer: &Value) -> bool {
    answer.to_string().contains("ran danger")
}

/// The names of all tools in the audit log.
fn audited(file: &std::path::Path) -> String {
    let mut python = std::process::Command::new("/usr/bin/python3");
    let program =
        "import sqlite3, sys; print(list(sqlite3.connect(sys.argv[1]).execute('select distinct tool from audit')))";
    python.args(["-c", program]).arg(file);
    run(python).fine()
}

fn nothing_is_run(keys: &str, more: &str, addresses: &[(&str, &str)]) {
    let place = Place::start(keys, more);
    for (address, own) in addresses {
        for (door, mut client) in place.clients(address) {
            // It is the server that is lenient, and it does work.
            let echo = format!("{own}echo");
            if !address.contains("search") {
                assert_eq!(client.call(&echo).as_deref(), Ok("ran echo"), "{door} of {address}");
                assert!(!client.tools().contains(&"danger".to_owned()), "{door} of {address}");
            }
            for message in messages(own) {
                let answer = client.send(&message);
                assert!(!answer.as_ref().is_some_and(has_ran), "{door} of {address}: {message}: {answer:?}");
            }
            if !address.contains("search") {
                assert_eq!(client.call(&echo).as_deref(), Ok("ran echo"), "{door} of {address} still serves");
            }
            let ran = place.ran();
            assert!(!ran.contains("danger"), "by {door} of {address}: {ran}");
        }
    }
    // What was called is what is written down.
    let (_, left, _) = place.scene.end(Signal::INT);
    let names = audited(&left.path().join("data/state/kennel.db"));
    assert!(names.contains("echo") && !names.to_lowercase().contains("danger"), "{names}");
}

#[test]
fn a_denied_tool_is_not_run_whatever_the_spelling() {
    nothing_is_run(
        "tools = { deny = [\"danger\"] }",
        "[views.all]\nservers = [\"lax\"]\n[views.search]\nservers = [\"lax\"]\nsurface = \"search\"\n",
        &[("/servers/lax", ""), ("/views/all", "lax__"), ("", "lax__"), ("/views/search", "lax__")],
    );
}

#[test]
fn what_only_one_view_denies_is_not_run_there() {
    nothing_is_run(
        "",
        "[views.tame]\nservers = [\"lax\"]\ntools = { deny = [\"danger\"] }\n[views.few]\nservers = [\"lax\"]\ntools = { allow = [\"echo\"] }\n",
        &[("/views/tame", "lax__"), ("/views/few", "lax__")],
    );
}
