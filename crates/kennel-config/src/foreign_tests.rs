use crate::{Config, Launch, Model, Process, Template, Transport, Upstream, Value};
use std::path::Path;

fn read(text: &str) -> Config {
    Config::parse(text.as_bytes(), Path::new("f")).unwrap_or_else(|error| panic!("{error}"))
}

fn said(text: &str) -> Vec<String> {
    let problems = match Config::parse(text.as_bytes(), Path::new("f")) {
        Ok(config) => config.warnings,
        Err(error) => error.problems().to_vec(),
    };
    problems.iter().map(|problem| problem.to_string().trim_start_matches("f:").to_owned()).collect()
}

fn process<'a>(config: &'a Config, name: &str) -> &'a Process {
    let Launch::Process(process) = &config.servers[name].launch else { panic!("{name} is no process") };
    process
}

fn upstream<'a>(config: &'a Config, name: &str) -> &'a Upstream {
    let Launch::Upstream(upstream) = &config.servers[name].launch else { panic!("{name} is not elsewhere") };
    upstream
}

fn text(text: &str) -> Template {
    Template::parse(text)
}

#[test]
fn the_common_file_is_read_as_it_is() {
    let config = read(
        r#"// what a person wrote
        {
          "mcpServers": {
            "files": {
              "type": "stdio", "command": "npx", "args": ["-y", "server-files", "${HOME}"], "cwd": "/tmp",
              "env": { "PORT": 8080, "DEBUG": true, "RATIO": 1.50, "UNSET": null, "T": "${T:-x}" }, // trailing commas too
              "autoApprove": ["read"], "disabled": false,
            },
            "off": { "command": "x", "disabled": true },
            "far": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer ${env:TOKEN}" } },
            /* others */
          },
        }"#,
    );
    assert_eq!(config.warnings, []);
    let files = process(&config, "files");
    assert_eq!(files.command, text("npx"));
    assert_eq!(files.args, ["-y", "server-files", "${HOME}"].map(text));
    assert_eq!(files.cwd, Some(text("/tmp")));
    let env = [("DEBUG", "true"), ("PORT", "8080"), ("RATIO", "1.50"), ("T", "${T:-x}")];
    assert_eq!(files.env, env.map(|(name, value)| (name.to_owned(), Value::Text(text(value)))).into());
    assert!(config.servers["files"].enabled && !config.servers["off"].enabled);
    let far = upstream(&config, "far");
    assert_eq!((far.url.literal(), far.transport), (Some("https://example.com/mcp"), Transport::Auto));
    assert_eq!(far.headers["Authorization"], Value::Text(text("Bearer ${TOKEN}")));
}

#[test]
fn servers_are_found_wherever_clients_keep_them() {
    for text in [
        r#"{ "mcpServers": { "a": { "command": "x" } } }"#,
        r#"{ "servers": { "a": { "command": "x" } }, "inputs": [] }"#,
        r#"{ "editor.fontSize": 12, "mcp": { "servers": { "a": { "command": "x" } } } }"#,
        r#"{ "a": { "command": "x" } }"#,
        "\u{feff}\r\n{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }\r\n",
    ] {
        let config = read(text);
        assert_eq!(process(&config, "a").command, self::text("x"), "{text}");
        assert_eq!(config.warnings, [], "{text}");
    }
}

#[test]
fn transports_go_by_many_names() {
    let cases = [
        (r#""type": "http""#, Transport::Http),
        (r#""type": "streamable-http""#, Transport::Http),
        (r#""transport": "streamableHttp""#, Transport::Http),
        (r#""type": "sse""#, Transport::Sse),
        (r#""type": "remote""#, Transport::Auto),
    ];
    for (key, transport) in cases {
        let config = read(&format!(r#"{{ "mcpServers": {{ "a": {{ {key}, "url": "https://x" }} }} }}"#));
        assert_eq!(upstream(&config, "a").transport, transport, "{key}");
    }
    let config = read(r#"{ "mcpServers": { "a": { "httpUrl": "https://x" }, "b": { "serverUrl": "https://y" } } }"#);
    assert_eq!(upstream(&config, "a").transport, Transport::Http);
    assert_eq!(upstream(&config, "b").url, text("https://y"));
}

#[test]
fn kennels_own_keys_stand_under_its_name() {
    let config = read(
        r#"{ "mcpServers": { "a": { "command": "x", "disabledTools": ["drop"], "env": { "A": "1" },
               "kennel": { "model": "shared", "box": { "memory": "1G" }, "tags": ["work"] } } },
             "kennel": { "views": { "v": { "tags": ["work"] } }, "defaults": { "max-processes": 3 } } }"#,
    );
    let server = &config.servers["a"];
    assert_eq!((server.model, server.max_processes), (Model::Shared, 3));
    assert_eq!(server.tools.shown("drop"), None);
    assert_eq!(process(&config, "a").sandbox.memory.map(|size| size.to_string()), Some("1G".to_owned()));
    assert!(config.views["v"].tags.contains("work"));
}

#[test]
fn a_command_with_its_arguments_in_one_list_is_taken_apart() {
    let config = read(r#"{ "mcpServers": { "a": { "type": "local", "command": ["npx", "-y", "p"] } } }"#);
    assert_eq!((process(&config, "a").command.literal(), process(&config, "a").args.len()), (Some("npx"), 2));
}

#[test]
fn names_that_do_not_fit_are_said_and_never_collide() {
    let text = r#"{ "mcpServers": { "my server": { "command": "1" }, "my-server": { "command": "2" } } }"#;
    let config = read(text);
    assert_eq!(process(&config, "my-server").command, self::text("2"));
    assert_eq!(process(&config, "my-server-2").command, self::text("1"));
    assert_eq!(said(text), [r#"1:19: mcpServers."my server": is called `my-server-2` here"#]);
}

#[test]
fn what_is_unknown_is_said_and_nothing_more() {
    let server = |members: &str| format!("{{ \"mcpServers\": {{ \"a\": {{\n \"command\": \"x\", {members} }} }} }}");
    let cases = [
        (r#""comand": 1"#, "2:18: mcpServers.a.comand: is not used by Kennel; did you mean `command`?"),
        (r#""$$$": 1"#, r#"2:18: mcpServers.a."$$$": is not used by Kennel"#),
        (
            r#""timeout": 60"#,
            r#"2:18: mcpServers.a.timeout: is not used by Kennel; say it in seconds as `"kennel": { "timeouts": { "call": … } }`"#,
        ),
        (
            r#""envFile": ".env""#,
            "2:18: mcpServers.a.envFile: is not used by Kennel; the variables in that file are not set; say them in `env`",
        ),
        (r#""headers": { "A": "b" }"#, "2:18: mcpServers.a.headers: does nothing for a server of this kind"),
        (
            r#""args": [], "args": ["x"]"#,
            "2:30: mcpServers.a.args: is there twice; this one counts, the earlier one does not",
        ),
        (
            r#""env": { "T": "${input:token}" }"#,
            "2:32: mcpServers.a.env.T: has a `${…}` in it that is not the name of a variable; the server cannot be started before it is replaced",
        ),
    ];
    for (members, warning) in cases {
        assert_eq!(said(&server(members)), [warning], "{members}");
        assert_eq!(read(&server(members)).servers.len(), 1, "{members}");
    }
    let twice = read(&server(r#""args": ["first"], "args": ["second"]"#));
    assert_eq!(process(&twice, "a").args, [text("second")]);
}

#[test]
fn what_cannot_be_is_told_with_the_key_as_it_is_written() {
    let cases = [
        (r#"{ "mcpServers": [] }"#, "1:3: mcpServers: this is a list, and must be an object"),
        (r#"{ "mcpServers": { "a": 1 } }"#, "1:19: mcpServers.a: this is a whole number, and must be an object"),
        (
            r#"{ "mcpServers": { "a": { "command": "x", "args": "y" } } }"#,
            "1:50: mcpServers.a.args: this is text, and must be a list",
        ),
        (
            r#"{ "mcpServers": { "a": { "command": "x", "kennel": { "box": { "memory": "lots" } } } } }"#,
            "1:73: mcpServers.a.kennel.box.memory: `lots` is not a size; write a number with K, M, G or T, such as \"512M\"",
        ),
        (
            r#"{ "mcpServers": { "a": { "command": "x", "kennel": { "modle": 1 } } } }"#,
            "1:54: mcpServers.a.kennel.modle: there is no such key; did you mean `model`?",
        ),
        (
            r#"{ "mcpServers": {}, "kennel": { "gatway": {} } }"#,
            "1:33: kennel.gatway: there is no such key; did you mean `gateway`?",
        ),
        (
            r#"{ "mcpServers": { "a": { "type": "ws", "url": "ws://x" } } }"#,
            "1:34: mcpServers.a.type: is not known here; there are `stdio`, `http` and `sse`",
        ),
        (
            r#"{ "mcpServers": { "a": { "disabled": "yes", "command": "x" } } }"#,
            "1:38: mcpServers.a.disabled: this is text, and must be true or false",
        ),
        (
            r#"{ "mcpServers": { "a": { "args": ["x"] } } }"#,
            "1:19: mcpServers.a: has no `command`; say `command` for a server that Kennel starts, or `url` for one that runs elsewhere",
        ),
        (
            r#"{ "editor.fontSize": 12 }"#,
            "1:1: there are no servers in this file; the servers stand in an object under `mcpServers`",
        ),
        ("{ \"mcpServers\": {\n  \"a\": { \"command\": \"x\" }\n", "1:17: this is not JSON: unterminated object"),
        ("{ \"mcpServers\": {} }\n{}", "2:1: this is not JSON: text cannot contain more than one json value"),
    ];
    for (text, problem) in cases {
        assert_eq!(said(text).first().map(String::as_str), Some(problem), "{text}");
    }
}

#[test]
fn a_client_that_was_pointed_at_kennel_does_not_make_it_serve_itself() {
    let text = r#"{ "mcpServers": {
        "kennel": { "url": "http://localhost:7330/mcp" },
        "code": { "command": "/usr/bin/kennel", "args": ["code"] },
        "bridge": { "command": "npx", "args": ["mcp-remote", "http://127.0.0.1:7330/mcp"] },
        "other": { "url": "http://localhost:7331/mcp" },
        "time": { "command": "uvx", "args": ["mcp-server-time"] }
    } }"#;
    let config = Config::parse(text.as_bytes(), Path::new("mcp.json")).unwrap();
    assert_eq!(config.servers.keys().map(ToString::to_string).collect::<Vec<_>>(), ["other", "time"]);
    let told: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told.iter().filter(|warning| warning.contains("Kennel itself")).count(), 3, "{told:?}");
}

#[test]
fn a_server_that_is_started_by_kennel_run_is_somebodys_server() {
    let text = r#"{ "mcpServers": {
        "notes": { "command": "/usr/bin/kennel",
                   "args": ["run", "--stdio", "--write", "/srv/notes", "--write", "/srv/more", "--network=on", "--pids", "50",
                            "--env", "TOKEN", "--env", "MODE=fast", "--env", "HOME", "--", "npx", "-y", "notes", "--", "${DIR}"],
                   "env": { "TOKEN": "secret-1", "KENNEL_DATA": "/x" } },
        "unboxed": { "command": "kennel", "args": ["run", "--engine", "host", "--", "tool"] },
        "behind": { "command": "env", "args": ["A=b", "kennel", "run", "--", "tool"] }
    } }"#;
    let config = Config::parse(text.as_bytes(), Path::new("mcp.json")).unwrap();
    assert_eq!(config.servers.keys().map(ToString::to_string).collect::<Vec<_>>(), ["notes"]);
    let told: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
    for word in
        ["unboxed: is left out: its `kennel run` has `--engine`", "behind: is left out: it starts `kennel run` by"]
    {
        assert!(told.iter().any(|warning| warning.contains(word)), "{told:?}");
    }
    let Launch::Process(notes) = &config.servers.values().next().unwrap().launch else { panic!("a process") };
    assert_eq!(notes.command.literal(), Some("npx"));
    let args: Vec<_> = notes.args.iter().map(Template::written).collect();
    assert_eq!(args, ["-y", "notes", "--", "${DIR}"]);
    let written: Vec<_> = notes.sandbox.write.iter().map(Template::written).collect();
    assert_eq!(written, ["/srv/notes", "/srv/more"]);
    assert_eq!((notes.sandbox.pids, notes.sandbox.network), (Some(50), Some(kennel_box::Network::On)));
    assert_eq!(notes.env.keys().collect::<Vec<_>>(), ["HOME", "MODE", "TOKEN"], "what was for Kennel is not passed on");
    assert_eq!(notes.env["HOME"], Value::FromEnv("HOME".into()));
}
