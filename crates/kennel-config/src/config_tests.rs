use super::*;

use crate::{Approval, Era, Launch, Model, Start, Surface, Template, Transport, Value};
use std::time::Duration;

fn toml(text: &str) -> Config {
    Config::parse(text.as_bytes(), Path::new("/etc/kennel.toml")).unwrap_or_else(|error| panic!("{error}"))
}

/// What is said about a file that cannot be used, without the name of the file.
fn problems(text: &str) -> Vec<String> {
    let error = Config::parse(text.as_bytes(), Path::new("f")).expect_err("there is something wrong");
    error.problems().iter().map(|problem| problem.to_string().trim_start_matches("f:").to_owned()).collect()
}

fn warnings(text: &str) -> Vec<String> {
    let config = Config::parse(text.as_bytes(), Path::new("f")).unwrap_or_else(|error| panic!("{error}"));
    config.warnings.iter().map(|problem| problem.to_string().trim_start_matches("f:").to_owned()).collect()
}

fn process<'a>(config: &'a Config, name: &str) -> &'a crate::Process {
    match &config.servers[name].launch {
        Launch::Process(process) => process,
        Launch::Upstream(_) => panic!("{name} is no process"),
    }
}

#[test]
fn a_silent_server_is_as_kennel_run_would_have_it() {
    let config = toml("[servers.a]\ncommand = 'x'\n");
    let server = &config.servers["a"];
    assert!(server.enabled);
    assert_eq!((server.model, server.era, server.start), (Model::PerSession, Era::Auto, Start::Lazy));
    assert_eq!((server.max_message.to_string().as_str(), server.max_processes), ("64M", 64));
    assert_eq!(server.idle_stop, Some(Duration::from_mins(15)));
    assert_eq!((server.restarts, server.restart_delay), (5, Duration::from_millis(250)));
    assert_eq!(config.gateway.listen.to_string(), "127.0.0.1:7330");
    assert_eq!(config.gateway.session_idle, Duration::from_mins(30));
    assert_eq!(config.directory, Path::new("/etc"));
    assert!(config.warnings.is_empty());
}

#[test]
fn an_empty_file_has_no_servers() {
    for text in ["", "# nothing yet\n", "\u{feff}\n"] {
        assert!(toml(text).servers.is_empty());
    }
}

#[test]
fn idle_stop_of_nothing_means_never() {
    assert_eq!(toml("[servers.a]\ncommand = 'x'\nidle-stop = 0\n").servers["a"].idle_stop, None);
}

#[test]
fn nothing_is_a_number_where_it_makes_sense() {
    let server = &toml("[servers.a]\ncommand = 'x'\nqueue = 0\nrestarts = 0\n").servers["a"];
    assert_eq!((server.queue, server.restarts), (0, 0));
}

#[test]
fn defaults_count_where_a_server_is_silent() {
    let config = toml(
        "[defaults]\nmodel = 'shared'\ntags = ['all']\n[defaults.box]\nnetwork = 'on'\nmemory = '1G'\n\
         [defaults.env]\nA = '1'\nB = { from-env = 'X' }\n\
         [servers.own]\ncommand = 'x'\nmodel = 'per-call'\nenv = { B = '2' }\nbox = { memory = '2G' }\n\
         [servers.silent]\ncommand = 'x'\n\
         [servers.far]\nurl = 'https://example.com'\n",
    );
    assert_eq!(config.servers["own"].model, Model::PerCall);
    assert_eq!(config.servers["silent"].model, Model::Shared);
    assert_eq!(config.servers["far"].model, Model::Shared);
    let own = process(&config, "own");
    assert_eq!(own.env["A"], Value::Text(Template::parse("1")));
    assert_eq!(own.env["B"], Value::Text(Template::parse("2")), "not mixed with where the default is from");
    assert_eq!(own.sandbox.memory.map(|size| size.to_string()), Some("2G".to_owned()));
    assert_eq!(own.sandbox.network, Some(kennel_box::Network::On));
    assert!(config.servers["own"].tags.contains("all"));
}

#[test]
fn mistakes_are_told_with_line_key_and_a_suggestion() {
    let cases = [
        ("[servers.a]\ncomand = 'x'\n", "2:1: servers.a.comand: there is no such key; did you mean `command`?"),
        ("[mcpServers.a]\ncommand = 'x'\n", "1:2: mcpServers: there is no such key; did you mean `servers`?"),
        (
            "[servers.a]\ncommand = 'x'\ndisabled = true\n",
            "3:1: servers.a.disabled: there is no such key; did you mean `enabled`?",
        ),
        (
            "[servers.a]\ncommand = 'x'\n[servers.a.box]\nmemory = 'lots'\n",
            "4:10: servers.a.box.memory: `lots` is not a size; write a number with K, M, G or T, such as \"512M\"",
        ),
        (
            "[servers.a]\ncommand = 'x'\nmodel = 'sharde'\n",
            "3:9: servers.a.model: `sharde` is not known here; did you mean `shared`?",
        ),
        (
            "[servers.a]\ncommand = 'x'\nera = '2025'\n",
            "3:7: servers.a.era: `2025` is not known here; there are `auto`, `legacy`, `modern`",
        ),
        ("[servers.a]\ncommand = 'x'\nargs = '-y'\n", "3:8: servers.a.args: this is text, and must be a list"),
        (
            "[servers.a]\ncommand = 'x'\nargs = ['-y', 1]\n",
            "3:15: servers.a.args[1]: this is a whole number, and must be text",
        ),
        ("[servers.a]\ncommand = 1\n", "2:11: servers.a.command: this is a whole number, and must be text"),
        (
            "[servers.a]\ncommand = 'x'\nqueue = 1.5\n",
            "3:9: servers.a.queue: this is a number, and must be a whole number",
        ),
        (
            "[servers.a]\ncommand = 'x'\nmax-processes = 0\n",
            "3:17: servers.a.max-processes: 0 must be from 1 to 4294967295",
        ),
        (
            "[servers.a]\ncommand = 'x'\ntimeouts = { call = -1 }\n",
            "3:21: servers.a.timeouts.call: -1 must be more than 0, and not beyond all measure",
        ),
        (
            "[servers.a]\ncommand = 'x'\ntimeouts = { call = nan }\n",
            "3:21: servers.a.timeouts.call: NaN must be more than 0, and not beyond all measure",
        ),
        (
            "[servers.a]\ncommand = 'x'\nurl = 'https://y'\n",
            "3:1: servers.a.url: a server has either a `command` or a `url`; remove one of them",
        ),
        (
            "[servers.a]\nargs = []\n",
            "1:10: servers.a: has no `command`; say `command` for a server that Kennel starts, or `url` for one that runs elsewhere",
        ),
        (
            "[servers.a]\nurl = 'https://y'\nbox = {}\n",
            "3:1: servers.a.box: is only for a server with a `command`, and this one has none; remove it",
        ),
        ("[servers.a]\nurl = 'ftp://y'\n", "2:7: servers.a.url: must begin with `http://` or `https://`"),
        (
            "[servers.'my server']\ncommand = 'x'\n",
            "1:10: servers.\"my server\": a name has letters, digits, `-`, `_` and `.`, begins with a letter or digit, and has at most 64 of them; call it `my-server`",
        ),
        ("[servers]\na = 1\n", "2:1: servers.a: this is a whole number, and must be a table"),
        ("[defaults]\ncommand = 'x'\n", "2:1: defaults.command: says which server it is, and cannot be a default"),
        (
            "[views.v]\nservers = ['gitub']\n[servers.github]\ncommand = 'x'\n",
            "2:12: views.v.servers[0]: no server is called `gitub`; did you mean `github`?",
        ),
        (
            "[gateway]\nlisten = '7330'\n",
            "2:10: gateway.listen: `7330` is no place to listen; write an address and a port, such as \"127.0.0.1:7330\"",
        ),
        (
            "[servers.a]\ncommand = 'x'\nenv = { A = { prefix = 'Bearer ' } }\n",
            "3:9: servers.a.env.A: must have one of `from-env`, `from-file`, `from-command`, `from-keyring`, and nothing else but `prefix`; write for example { from-env = \"NAME\" }",
        ),
        (
            "[servers.a]\ncommand = 'x'\nenv = { A = { from-envy = 'X' } }\n",
            "3:15: servers.a.env.A.from-envy: there is no such place for a secret; did you mean `from-env`?",
        ),
        (
            "[servers.a]\ncommand = 'x'\nenv = { '1A' = 'x' }\n",
            "3:9: servers.a.env.1A: a variable has letters, digits and `_` in its name, and no digit first",
        ),
        (
            "[servers.a]\ncommand = '${input:x}'\n",
            "2:11: servers.a.command: has a `${…}` in it that is not the name of a variable; write `${NAME}` or `${NAME:-default}`, or `$${` where it is meant as it is",
        ),
        (
            "[servers.a]\ncommand = 'x'\n[servers.a.tools.rename]\na = 'z'\nb = 'z'\n",
            "5:5: servers.a.tools.rename.b: another tool gets this name already",
        ),
        ("[servers.a]\ncommand = 'x'\ncommand = 'y'\n", "3:1: this is not TOML: duplicate key"),
        ("[servers.a\n", "1:11: this is not TOML: unclosed table, expected `]`"),
    ];
    for (text, said) in cases {
        assert_eq!(problems(text), [said], "{text}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_in_their_order() {
    let found = problems("[servers.a]\ncomand = 'x'\nmodel = 1\n[gateway]\nport = 1\n[servers.b]\nurl = 2\n");
    let lines: Vec<&str> = found.iter().filter_map(|text| text.split(':').next()).collect();
    assert_eq!(lines, ["2", "3", "5", "7"], "{found:#?}");
}

#[test]
fn too_many_servers_are_refused_before_anything_is_done_for_them() {
    let each = |line: &dyn Fn(usize) -> String| (0..1001).map(line).collect::<Vec<_>>().concat();
    let toml = each(&|number| format!("[servers.s{number}]\ncomand = 'x'\n"));
    assert_eq!(problems(&toml), ["2001:10: servers: there are more than 1000"]);
    let json = each(&|number| format!("\"ä{number}\": {{}},\n"));
    assert_eq!(
        problems(&format!("{{ \"mcpServers\": {{\n{json}}} }}")),
        ["1002:1: mcpServers: there are more than 1000"]
    );
}

#[test]
fn a_whole_line_as_a_program_is_warned_about() {
    let found = warnings("[servers.a]\ncommand = 'npx -y thing'\n");
    assert_eq!(
        found,
        [
            "2:11: servers.a.command: is the name of one program, spaces included; put the words after the first one into `args`, each by itself"
        ]
    );
    assert!(warnings("[servers.a]\ncommand = '/opt/My App/server'\n").is_empty());
}

#[test]
fn a_file_that_is_no_text_is_told_where() {
    let error = Config::parse(b"[servers.a]\ncommand = '\xff'\n", Path::new("f")).unwrap_err();
    assert_eq!(error.to_string(), "f:2:12: this is not UTF-8; save the file as UTF-8");
}

#[test]
fn servers_elsewhere_are_told_by_their_url() {
    let config = toml(
        "[servers.a]\nurl = 'https://example.com/mcp'\ntransport = 'sse'\n\
         headers = { Authorization = { from-command = ['pass', 'x'] }, X-Number = 7 }\n",
    );
    let Launch::Upstream(upstream) = &config.servers["a"].launch else { panic!("no upstream") };
    assert_eq!(upstream.transport, Transport::Sse);
    assert_eq!(upstream.headers["Authorization"], Value::FromCommand(vec!["pass".to_owned(), "x".to_owned()]));
    assert_eq!(upstream.headers["X-Number"], Value::Text(Template::parse("7")));
}

#[test]
fn views_select_by_name_and_by_tag() {
    let config = toml(
        "[servers.a]\ncommand = 'x'\ntags = ['work']\n[servers.b]\ncommand = 'x'\n[servers.c]\ncommand = 'x'\n\
         [views.all]\n[views.some]\nservers = ['b']\ntags = ['work']\nsurface = 'search'\n",
    );
    let selected = |view: &str| {
        let view = &config.views[view];
        config.enabled().filter(|(name, server)| view.selects(name, server)).map(|(name, _)| name.as_str()).collect()
    };
    let (all, some): (Vec<&str>, Vec<&str>) = (selected("all"), selected("some"));
    assert_eq!((all, some), (vec!["a", "b", "c"], vec!["a", "b"]));
    assert_eq!(config.views["some"].surface, Surface::Search);
}

#[test]
fn fingerprints_tell_servers_apart_that_offer_other_things() {
    let of = |members: &str| toml(&format!("[servers.a]\n{members}\n")).servers["a"].fingerprint(Path::new("/"));
    let base = of("command = 'x'\nenv = { A = 'hunter2' }");
    assert!(!base.contains("hunter2"));
    assert_eq!(base, of("command = 'x'\nenv = { A = 'other' }\nidle-stop = 3\ntags = ['t']"));
    for other in [
        "command = 'y'\nenv = { A = 'hunter2' }",
        "command = 'x'\nenv = { B = 'hunter2' }",
        "command = 'x'\nargs = ['${A}']\nenv = { A = 'hunter2' }",
        "command = 'x'\nbox = { read = ['/a'] }\nenv = { A = 'hunter2' }",
        "command = 'x'\nbox = { network = 'on' }\nenv = { A = 'hunter2' }",
        "url = 'https://x'",
    ] {
        assert_ne!(base, of(other), "{other}");
    }
}

#[test]
fn the_usual_file_is_in_the_users_own_directory() {
    let with = |set: &'static [(&str, &str)]| {
        Config::usual_file(move |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    };
    assert_eq!(with(&[("HOME", "/h")]), Some("/h/.config/kennel/kennel.toml".into()));
    assert_eq!(with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]), Some("/c/kennel/kennel.toml".into()));
    assert_eq!(with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "c")]), Some("/h/.config/kennel/kennel.toml".into()));
    assert_eq!(with(&[]), None);
}

#[test]
fn code_is_read_and_its_times_go_together() {
    let text = "[code]\ntimeout = 5\nmax-timeout = 600\nwarm = 0\napprove = 'ask'\n\
                [views.a]\nsurface = 'code'\n[views.b]\ncode = true\napprove = 'deny'\n";
    let config = Config::parse(text.as_bytes(), Path::new("kennel.toml")).unwrap();
    assert_eq!((config.code.timeout.as_secs(), config.code.max_timeout.as_secs()), (5, 600));
    assert_eq!((config.code.warm, config.code.approve, config.code.enabled), (0, Approval::Ask, true));
    let (a, b) = (&config.views["a"], &config.views["b"]);
    assert_eq!((a.surface, a.code, a.approve), (Surface::Code, false, None));
    assert_eq!((b.surface, b.code, b.approve), (Surface::Full, true, Some(Approval::Deny)));
    assert_eq!(Config::default().code.timeout.as_secs(), 30);
    let error = Config::parse(b"[code]\ntimeout = 500\n", Path::new("kennel.toml")).unwrap_err().to_string();
    assert!(error.contains("kennel.toml:2") && error.contains("code.timeout"), "{error}");
}
