//! Whatever a file says: it is understood or refused with a place in it, and what was understood can be said again.

use crate::scene::shown;
use kennel_config::Config;
use kennel_config::clients::{Client, ReadError, Scope, entry_of, export, masked, plan, read_known, unified};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn clients() -> impl Strategy<Value = Client> {
    select(Client::ALL.into_iter().chain([Client::Common]).collect::<Vec<_>>())
}

fn file(client: Client) -> PathBuf {
    PathBuf::from(if client == Client::Codex { "/some/config.toml" } else { "/some/mcp.json" })
}

/// Texts with all that is special somewhere.
fn text() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a",
        " ",
        "/",
        "${A}",
        "$B",
        "${env:C}",
        "{env:D}",
        "${input:e}",
        "${file:/f}",
        "{file:./g}",
        "${H:-i}",
        "$$",
        "{",
        "}",
        "\"",
        "\\",
        "\n",
        "ä",
        "天",
        "${workspaceFolder}",
        "--token=x",
        "\u{1}",
    ]);
    vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// One value of whatever kind.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => (0..100_000_u32).prop_map(Value::from),
        1 => Just(json!(1.5)),
        1 => Just(Value::Null),
    ];
    prop_oneof![
        4 => leaf.clone(),
        2 => vec(leaf.clone(), 0..3).prop_map(Value::from),
        2 => btree_map(text(), leaf, 0..3).prop_map(|members| Value::Object(members.into_iter().collect())),
    ]
}

/// A server, mostly as one would write it.
fn server() -> impl Strategy<Value = Value> {
    let keys = vec![
        "args",
        "env",
        "environment",
        "cwd",
        "type",
        "headers",
        "http_headers",
        "disabled",
        "enabled",
        "timeout",
        "startup_timeout_sec",
        "tool_timeout_sec",
        "enabled_tools",
        "includeTools",
        "disabledTools",
        "env_vars",
        "description",
        "bearer_token_env_var",
        "env_http_headers",
        "source",
        "trust",
    ];
    let fitting = |key: &'static str| match key {
        "args" | "enabled_tools" | "includeTools" | "disabledTools" | "env_vars" => {
            vec(text(), 0..3).prop_map(Value::from).boxed()
        }
        "env" | "environment" | "headers" | "http_headers" | "env_http_headers" => {
            btree_map("[A-C]", text(), 0..3).prop_map(|members| json!(members)).boxed()
        }
        "disabled" | "enabled" | "trust" => any::<bool>().prop_map(Value::from).boxed(),
        "timeout" | "startup_timeout_sec" | "tool_timeout_sec" => (0..100_000_u32).prop_map(Value::from).boxed(),
        "type" => select(vec!["stdio", "http", "sse", "local", "remote"]).prop_map(Value::from).boxed(),
        _ => text().prop_map(Value::from).boxed(),
    };
    let member = select(keys).prop_flat_map(move |key| {
        let any = prop_oneof![9 => fitting(key), 1 => value().boxed()];
        (Just(key), any)
    });
    let launch = select(vec!["command", "url", "httpUrl", "serverUrl"]);
    (launch, text(), any::<bool>(), vec(member, 0..5)).prop_map(|(launch, word, is_list, members)| {
        let mut server = json!({});
        server[launch] = if is_list && launch == "command" { json!([word, "x"]) } else { word.into() };
        for (key, value) in members {
            server[key] = value;
        }
        server
    })
}

fn list(client: Client, servers: &Value) -> String {
    let whole = match client {
        Client::VsCode => json!({ "servers": servers }),
        Client::Codex => json!({ "mcp_servers": servers }),
        Client::OpenCode => json!({ "mcp": servers }),
        Client::Zed => json!({ "context_servers": servers }),
        _ => json!({ "mcpServers": servers }),
    };
    if client == Client::Codex { in_toml(&whole) } else { format!("{whole:#}") }
}

/// JSON without null as TOML, on lines that the parser takes.
fn in_toml(whole: &Value) -> String {
    fn inline(value: &Value) -> String {
        match value {
            Value::Object(members) => {
                let members = members.iter().filter(|(_, value)| !value.is_null());
                let members: Vec<String> =
                    members.map(|(key, value)| format!("{} = {}", json!(key), inline(value))).collect();
                format!("{{ {} }}", members.join(", "))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().filter(|item| !item.is_null()).map(inline).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }
    let members = whole.as_object().expect("members");
    members.iter().flat_map(|(key, value)| [key.clone(), " = ".to_owned(), inline(value), "\n".to_owned()]).collect()
}

fn place(error: &ReadError) -> Option<(usize, usize)> {
    match error {
        ReadError::Syntax { spot, .. } | ReadError::Kind { spot, .. } | ReadError::Value { spot, .. } => {
            Some((spot.line, spot.column))
        }
        _ => None,
    }
}

proptest! {
    #[test]
    fn any_text_is_understood_or_refused_with_a_place_in_it(
        client in clients(),
        text in r#"[\[\]{}":,=./#* a1\n\\ä]{0,60}"#,
    ) {
        let text = format!("{text}\n");
        if let Err(error) = read_known(&file(client), client, &Scope::User, &text) {
            let (line, column) = place(&error).expect("a place");
            let letters = text.lines().nth(line - 1).map_or(0, |line| line.chars().count());
            prop_assert!(line <= text.lines().count() + 1 && column <= letters + 1, "{error}");
        }
    }

    #[test]
    fn what_is_understood_can_be_said_again(client in clients(), servers in btree_map("[a-c é]{1,3}", server(), 1..3)) {
        let text = list(client, &json!(servers));
        let Ok(found) = read_known(&file(client), client, &Scope::User, &text) else { return Ok(()) };
        let made = export(client, &file(client), None, &found.entries).expect("an export");
        let again = read_known(&file(client), client, &Scope::User, &made.after);
        let again = again.unwrap_or_else(|error| panic!("{error}\n{}", made.after)).entries;
        prop_assert_eq!(again.len() + made.left_out.len(), found.entries.len(), "{}\n{}", text, made.after);
        for entry in &again {
            let before = found.entries.iter().find(|before| before.name == entry.name).expect("the entry");
            prop_assert!(before.says_the_same(entry), "{}\n{}\n{}", made.after, shown(before), shown(entry));
        }
        let second = export(client, &file(client), Some(made.after.clone()), &again).expect("an export");
        prop_assert!(!second.is_change(), "{}\n{}", made.after, second.after);
        // The same into the file that it came from: what is there stays.
        let into = export(client, &file(client), Some(text.clone()), &found.entries).expect("an export");
        prop_assert!(!into.is_change(), "{}\n{}", text, into.after);
    }

    #[test]
    fn what_is_understood_can_be_kennels(client in clients(), servers in btree_map("[a-c é]{1,3}", server(), 1..3)) {
        let own = Path::new("/etc/kennel.toml");
        let Ok(found) = read_known(&file(client), client, &Scope::User, &list(client, &json!(servers))) else { return Ok(()) };
        let planned = plan(own, None, found.entries.clone(), &[]).expect("a plan");
        let config = Config::parse(planned.after.as_bytes(), own).expect("Kennel's file");
        prop_assert_eq!(config.servers.len(), planned.added());
        for (name, server) in &config.servers {
            prop_assert!(entry_of(name, server, own).is_ok());
        }
        let again = plan(own, Some(planned.after.clone()), found.entries, &[]).expect("a plan");
        prop_assert_eq!(again.added(), 0, "{}", planned.after);
    }

    #[test]
    fn secrets_are_never_shown(
        client in clients(),
        key in select(vec!["A", "a b", "\"", "ä.b"]),
        secret in "hunter[a-z\"\\\\ \n$]{1,8}2",
    ) {
        let env = json!({ key: secret });
        let server = json!({ "command": "x", "env": env, "environment": env, "other": { "apiToken": secret } });
        let text = list(client, &json!({ "a": server }));
        let seen = unified("x", [""; 2], [&text, &masked(&file(client), &text)]);
        prop_assert!(!seen.contains("hunter"), "{}", seen);
        if let Ok(found) = read_known(&file(client), client, &Scope::User, &text) {
            let own = Path::new("/etc/kennel.toml");
            let planned = plan(own, None, found.entries, &[]).expect("a plan");
            prop_assert!(!masked(own, &planned.after).contains("hunter"), "{}", planned.after);
        }
    }
}
