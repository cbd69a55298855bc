//! What an import does to Kennel's own file.

use crate::scene::{Scene, files, shown};
use kennel_config::clients::{
    Client, Entry, Outcome, PlanError, entry_for_kennel, entry_of, masked, plan, plan_removal, read_path, unified,
};
use kennel_config::{Config, Launch};
use std::path::Path;

const FILE: &str = "/etc/kennel/kennel.toml";

fn file() -> &'static Path {
    Path::new(FILE)
}

fn entries(json: &str) -> Vec<Entry> {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("list.json");
    std::fs::write(&file, json).expect("a file");
    let gathered = read_path(&file, None);
    assert!(gathered.problems.is_empty(), "{:?}", gathered.problems);
    gathered.found.entries
}

fn outcomes(before: Option<&str>, entries: Vec<Entry>) -> (Vec<String>, String) {
    let plan = plan(file(), before.map(str::to_owned), entries, &["127.0.0.1:7330".to_owned()]).expect("a plan");
    (plan.items.iter().map(|item| item.outcome.to_string()).collect(), plan.after)
}

#[test]
fn every_server_of_every_client_becomes_one_of_kennels() {
    for client in Client::ALL {
        let scene = Scene::new(client);
        let found = scene.entries(client);
        let first = plan(file(), None, found.clone(), &[]).expect("a plan");
        assert_eq!(first.added(), found.len(), "{client}: {:?}", first.items);
        let config = Config::parse(first.after.as_bytes(), file()).expect("Kennel's file");
        assert_eq!(config.servers.len(), found.len(), "{client}");
        assert!(config.warnings.is_empty(), "{client}: {:?}", config.warnings);
        // Whatever Kennel has no word for stands beside it.
        for (entry, (name, _)) in found.iter().flat_map(|entry| entry.other.iter().map(move |other| (entry, other))) {
            let kept = format!("# kept from {}: {name} = ", entry.origin.client);
            assert!(first.after.contains(&kept), "{client}: {kept}\n{}", first.after);
        }
        // Again: nothing is new.
        let second = plan(file(), Some(first.after.clone()), found, &[]).expect("a plan");
        assert_eq!((second.added(), second.after.as_str()), (0, first.after.as_str()), "{client}");
        assert!(second.items.iter().all(|item| matches!(item.outcome, Outcome::Same { .. })), "{client}");
    }
}

#[test]
fn what_comes_back_from_kennels_file_is_what_was_imported() {
    for client in [Client::ClaudeCode, Client::Gemini, Client::Codex, Client::Cursor] {
        let scene = Scene::new(client);
        let found = scene.entries(client);
        let planned = plan(file(), None, found, &[]).expect("a plan");
        let config = Config::parse(planned.after.as_bytes(), file()).expect("Kennel's file");
        for item in &planned.items {
            let (Outcome::Added { name } | Outcome::Renamed { name, .. }) = &item.outcome else { panic!("not added") };
            let (name, server) = config.servers.get_key_value(name.as_str()).expect("the server");
            let back = entry_of(name, server, file()).expect("an entry");
            let (mut before, mut after) = (shown(&item.entry), shown(&back));
            for shown in [&mut before, &mut after] {
                let members = shown.as_object_mut().expect("members");
                members.retain(|key, _| !key.starts_with("other.") && key != "scope" && key != "name" && key != "cwd");
            }
            assert_eq!(before, after, "{client}");
        }
    }
}

#[test]
fn comments_and_order_of_kennels_file_stay() {
    let before = "# mine\n\n[servers.a] # first\ncommand = 'a'   # literal\n\n[views.v]\nservers = [\"a\"]\n\n[gateway]\nlisten = \"127.0.0.1:7330\"\n# end\n";
    let (outcomes, after) =
        outcomes(Some(before), entries(r#"{"mcpServers": {"b": {"command": "b", "env": {"K": "v"}}}}"#));
    assert_eq!(outcomes, ["added as `b`"]);
    for line in before.lines() {
        assert!(after.contains(line), "{line} is gone:\n{after}");
    }
    let added = unified("x", [before; 2], [&after; 2]);
    assert!(!added.lines().any(|line| line.starts_with('-') && !line.starts_with("---")), "{added}");
    assert!(after.find("[servers.b]") < after.find("[views.v]"), "{after}");
    assert!(after.contains("env = { K = \"v\" }"), "{after}");
}

#[test]
fn a_new_file_says_what_it_is_and_comments_stay_at_the_top() {
    let found = || entries(r#"{"mcpServers": {"b": {"command": "b"}}}"#);
    let (_, new) = outcomes(None, found());
    assert!(new.starts_with("# The MCP servers that Kennel serves."), "{new}");
    assert_eq!(new.matches("# The MCP").count(), 1, "{new}");
    let (_, commented) = outcomes(Some("# only words\n"), found());
    assert!(commented.starts_with("# only words\n\n# from"), "{commented}");
}

#[test]
fn servers_of_one_name_are_the_same_or_told_apart() {
    let one = r#"{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}"#;
    let other = r#"{"mcpServers": {"git": {"command": "npx", "args": ["git-mcp"]}}}"#;
    let (said, after) = outcomes(None, entries(one).into_iter().chain(entries(other)).chain(entries(one)).collect());
    assert_eq!(
        said,
        [
            "added as `git`",
            "added as `git-2`, because `git` is there and is started in another way",
            "there already as `git`",
        ]
    );
    // The second is known under its other name, and the user's limits make no difference.
    let limited =
        after.replace("[servers.git-2]\n", "[servers.git-2]\nmodel = \"shared\"\nbox = { memory = \"1G\" }\n");
    assert_ne!(limited, after);
    assert_eq!(outcomes(Some(&limited), entries(other)).0, ["there already as `git-2`"]);
    // Defaults of the file count for what is there and for what comes.
    let defaults = format!("[defaults.env]\nHTTPS_PROXY = \"http://proxy\"\n{after}");
    assert_eq!(outcomes(Some(&defaults), entries(other)).0, ["there already as `git-2`"]);
}

#[test]
fn names_that_are_none_become_names() {
    let (said, _) = outcomes(
        None,
        entries(
            r#"{"mcpServers": {"My Server": {"command": "a"}, "my/server!": {"command": "b"}, "天気": {"command": "c"}}}"#,
        ),
    );
    assert_eq!(said, ["added as `My-Server`", "added as `my-server`", "added as `server`"]);
}

#[test]
fn kennel_does_not_serve_itself() {
    let own = Client::ALL
        .map(|client| entry_for_kennel(client, "http://localhost:7330/mcp", Path::new("/usr/bin/kennel"), None));
    let (said, after) = outcomes(Some("# mine\n"), own.into());
    assert!(said.iter().all(|said| said == "skipped, because it is Kennel itself"), "{said:?}");
    assert_eq!(after, "# mine\n");
}

#[test]
fn secrets_stay_and_references_are_made() {
    let scene = Scene::new(Client::VsCode);
    let (_, after) = outcomes(None, scene.entries(Client::VsCode));
    assert!(after.contains("PERPLEXITY_API_KEY = { from-env = \"PERPLEXITY_KEY\" }"), "{after}");
    let header = "Authorization = { from-env = \"PERPLEXITY_KEY\", prefix = \"Bearer \" }";
    assert!(after.contains(header), "{after}");
    let (_, windsurf) = outcomes(None, Scene::new(Client::Windsurf).entries(Client::Windsurf));
    assert!(windsurf.contains("FROM_FILE = { from-file = \"/home/me/key.txt\" }"), "{windsurf}");
    let (_, zed) = outcomes(None, Scene::new(Client::Zed).entries(Client::Zed));
    assert!(zed.contains("zed-secret-1") && zed.contains("Bearer zed-secret-2"), "{zed}");
    let seen = unified("kennel.toml", [""; 2], [&zed, &masked(file(), &zed)]);
    assert!(!seen.contains("secret-") && seen.contains("+command = \"uv\""), "{seen}");
}

#[test]
fn a_projects_server_starts_in_the_project() {
    let scene = Scene::new(Client::OpenCode);
    let (_, after) = outcomes(None, scene.entries(Client::OpenCode));
    let config = Config::parse(after.as_bytes(), file()).expect("Kennel's file");
    let Launch::Process(process) = &config.servers["second"].launch else { panic!("a program") };
    let project = scene.surroundings.project.as_deref().expect("a project").to_string_lossy().into_owned();
    assert_eq!(process.cwd.as_ref().and_then(|cwd| cwd.literal().map(str::to_owned)), Some(project));
    let Launch::Process(process) = &config.servers["everything"].launch else { panic!("a program") };
    assert_eq!(process.cwd, None);
    // Where the file says no directory, it is the project's.
    let (_, after) = outcomes(None, Scene::new(Client::ClaudeCode).entries(Client::ClaudeCode));
    let config = Config::parse(after.as_bytes(), file()).expect("Kennel's file");
    let Launch::Process(process) = &config.servers["database"].launch else { panic!("a program") };
    assert_eq!(process.cwd.as_ref().and_then(|cwd| cwd.literal()), Some("/srv/app"));
}

#[test]
fn none_of_the_tools_is_none_in_kennel_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let codex = directory.path().join("config.toml");
    std::fs::write(&codex, "[mcp_servers.a]\ncommand = \"a\"\nenabled_tools = []\n").expect("a file");
    let (_, after) = outcomes(None, read_path(&codex, None).found.entries);
    let config = Config::parse(after.as_bytes(), file()).expect("Kennel's file");
    assert!(!config.servers["a"].tools.filter.shows(&["anything"]), "{after}");
}

#[test]
fn a_broken_file_of_kennels_is_not_touched() {
    let found = || entries(r#"{"mcpServers": {"a": {"command": "a"}}}"#);
    for broken in ["[servers.x]\ncomand = 'a'\n", "[servers.x\n", "servers = 5\n"] {
        let error = plan(file(), Some(broken.to_owned()), found(), &[]).expect_err("refused");
        assert!(matches!(error, PlanError::Config(_)), "{error}");
        assert!(error.to_string().contains("/etc/kennel/kennel.toml:"), "{error}");
    }
    let json = plan(Path::new("servers.json"), None, found(), &[]).expect_err("refused");
    assert!(matches!(json, PlanError::Json { .. }), "{json}");
}

#[test]
fn what_kennel_cannot_run_is_refused_alone() {
    let list = "{\"mcpServers\": {\"bad\": {\"command\": \"a\\u0000b\"}, \"good\": {\"command\": \"good\"}}}";
    let (said, after) = outcomes(None, entries(list));
    assert!(said[0].starts_with("skipped: `command` has a null character"), "{said:?}");
    assert_eq!(said[1], "added as `good`");
    assert!(!after.contains("servers.bad"), "{after}");
}

#[test]
fn a_server_behind_kennel_run_is_imported_with_its_box() {
    let list = r#"{"mcpServers": {
        "notes": {"command": "kennel", "cwd": "/home/ada",
                  "args": ["run", "--stdio", "--write", "notes", "--network", "on", "--env", "T", "--", "npx", "-y", "notes"],
                  "env": {"T": "${TOKEN}", "OTHER": "x"}},
        "host": {"command": "kennel", "args": ["run", "--engine", "host", "--", "tool"]},
        "gateway": {"command": "kennel", "args": ["connect"]}}}"#;
    let (said, after) = outcomes(None, entries(list));
    assert_eq!(said[0], "added as `notes`");
    assert!(said[1].starts_with("skipped: its `kennel run` has `--engine`"), "{said:?}");
    assert!(said[2].contains("Kennel itself"), "{said:?}");
    let config = Config::parse(after.as_bytes(), file()).expect("Kennel's file");
    let (_, server) = config.servers.iter().next().expect("a server");
    let Launch::Process(notes) = &server.launch else { panic!("a process") };
    assert_eq!(notes.command.literal(), Some("npx"), "{after}");
    let written: Vec<_> = notes.sandbox.write.iter().map(kennel_config::Template::written).collect();
    assert_eq!(written, ["/home/ada/notes"], "{after}");
    assert_eq!(notes.env.keys().collect::<Vec<_>>(), ["T"], "{after}");
    // Again: nothing is new.
    assert_eq!(outcomes(Some(&after), entries(list)).0[0], "there already as `notes`");
}

#[test]
fn what_does_not_go_together_is_not_shown_as_a_change() {
    let servers: Vec<String> =
        (0..1001).map(|number| format!("\"s{number}\": {{\"command\": \"x{number}\"}}")).collect();
    let many = entries(&format!("{{\"mcpServers\": {{{}}}}}", servers.join(",")));
    let error = plan(file(), None, many, &[]).expect_err("refused");
    assert!(matches!(error, PlanError::Together { .. }), "{error}");
}

#[test]
fn windows_line_ends_and_marks_of_kennels_file_stay() {
    let before = "\u{feff}# mine\r\n[servers.a]\r\ncommand = \"a\"\r\n";
    let (_, after) = outcomes(Some(before), entries(r#"{"mcpServers": {"b": {"command": "b"}}}"#));
    assert!(after.starts_with(before), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
}

#[test]
fn a_server_is_taken_out_unless_a_view_needs_it() {
    let text = "# top\n[servers.a]\ncommand = \"a\"\n\n# about b\n[servers.b]\ncommand = \"b\"\n\n[views.v]\nservers = [\"b\"]\n";
    let gone = plan_removal(file(), text.to_owned(), "a").expect("a plan");
    assert!(!gone.after.contains("servers.a") && gone.after.contains("# about b\n[servers.b]"), "{}", gone.after);
    let needed = plan_removal(file(), text.to_owned(), "b").expect_err("refused").to_string();
    assert!(needed.contains("`b` cannot be taken out") && needed.contains("views.v"), "{needed}");
    let missing = plan_removal(file(), text.to_owned(), "c").expect_err("refused").to_string();
    assert!(missing.contains("has no server `c`; it has `a`, `b`"), "{missing}");
}

#[test]
fn a_directory_of_files_is_imported_as_one() {
    let gathered = read_path(&files().join("directory"), None);
    let (said, _) = outcomes(None, gathered.found.entries);
    assert!(said.iter().all(|said| said.starts_with("added as")) && said.len() == 6, "{said:?}");
}
