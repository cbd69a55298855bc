//! What is in the files is in the entries: every server, every key.

use crate::scene::{Scene, files, shown};
use kennel_config::clients::{Client, Scope, read_client, read_path};
use serde_json::{Value, json};

#[test]
fn claude_desktop_has_texts_without_placeholders() {
    let expected = json!([
        {
            "name": "filesystem",
            "scope": "user",
            "command": [
                "npx", "-y", "@modelcontextprotocol/server-filesystem",
                "/home/me/Dokumente & Bücher", "$${HOME} stays as it is",
            ],
        },
        {
            "name": "Wetter – 天気",
            "scope": "user",
            "command": ["/opt/weather/bin/server"],
            "env": { "API_KEY": "weather-secret-1", "PRICE": "$5", "DEBUG": "1" },
        },
    ]);
    assert_eq!(Scene::new(Client::ClaudeDesktop).shown(Client::ClaudeDesktop), expected);
}

#[test]
fn claude_code_has_servers_of_the_user_of_projects_and_of_plugins() {
    let cache = "/home/.claude/plugins/cache/market";
    let expected = json!([
        {
            "name": "github",
            "scope": "user",
            "http": "https://api.example.com/mcp/",
            "headers": { "Authorization": "Bearer ${GITHUB_TOKEN}", "X-Org": "${ORG:-kennel}" },
            "call": 45.0,
        },
        {
            "name": "events",
            "scope": "user",
            "sse": "https://events.example.com/sse",
            "other.headersHelper": "/opt/headers.sh",
        },
        {
            "name": "everything",
            "scope": "user",
            "command": ["npx", "-y", "@modelcontextprotocol/server-everything"],
            "env": { "LOG_LEVEL": "${LOG_LEVEL:-info}", "CACHE": "${HOME}/cache" },
            "other.alwaysLoad": true,
        },
        {
            "name": "database",
            "scope": "project /srv/app",
            "command": ["uvx", "mcp-server-db", "--path", "./data.db"],
        },
        { "name": "retired", "scope": "project /srv/app", "command": ["retired-server"], "off": true },
        {
            "name": "shared",
            "scope": "project /project",
            "command": ["/project/tools/server", "--root", "/project"],
        },
        {
            "name": "maps",
            "scope": "plugin atlas",
            "command": [
                format!("{cache}/atlas/1.0.0/servers/maps"), "--config", format!("{cache}/atlas/1.0.0/config.json"),
            ],
            "env": { "MAPS_KEY": "${MAPS_KEY}" },
        },
        { "name": "inline-api", "scope": "plugin inline", "command": [format!("{cache}/inline/2.1.0/api"), "--port", "8080"] },
        { "name": "more", "scope": "plugin inline", "http": "https://more.example.com/mcp" },
        { "name": "sleeper", "scope": "plugin asleep", "command": ["sleeper"], "off": true },
    ]);
    assert_eq!(Scene::new(Client::ClaudeCode).shown(Client::ClaudeCode), expected);
}

#[test]
fn cursor_has_comments_variables_and_keys_of_its_own() {
    let expected = json!([
        {
            "name": "notes",
            "scope": "user",
            "command": ["python3", "${HOME}/notes/server.py", "--sep", "/"],
            "env": { "NOTES_TOKEN": "${NOTES_TOKEN}", "PLAIN": "a \"quoted\" value" },
            "other.envFile": "${workspaceFolder}/.env",
        },
        {
            "name": "remote",
            "scope": "user",
            "auto": "https://remote.example.com/mcp",
            "headers": { "X-Key": "cursor-secret-1" },
        },
        { "name": "old", "scope": "user", "sse": "https://old.example.com/sse" },
        { "name": "off", "scope": "user", "command": ["off-server"], "off": true },
        {
            "name": "figma",
            "scope": "user",
            "auto": "https://figma.example.com/mcp",
            "other.auth": { "CLIENT_ID": "id", "scopes": ["read"] },
        },
        {
            "name": "local",
            "scope": "project /project",
            "command": ["/project/run.sh", "project"],
            "cwd": "/project/sub",
        },
    ]);
    assert_eq!(Scene::new(Client::Cursor).shown(Client::Cursor), expected);
}

#[test]
fn vs_code_has_questions_and_two_files_for_the_user() {
    let scene = Scene::new(Client::VsCode);
    let expected = json!([
        {
            "name": "perplexity",
            "scope": "user",
            "command": ["docker", "run", "-i", "--rm", "-e", "PERPLEXITY_API_KEY", "mcp/perplexity-ask"],
            "env": { "PERPLEXITY_API_KEY": "${PERPLEXITY_KEY}", "RETRIES": "3" },
        },
        {
            "name": "github",
            "scope": "user",
            "http": "https://api.githubcopilot.example.com/mcp/",
            "headers": { "Authorization": "Bearer ${PERPLEXITY_KEY}" },
        },
        { "name": "stream", "scope": "user", "sse": "http://localhost:3000/sse" },
        {
            "name": "odd",
            "scope": "user",
            "command": ["${CONFIG_ODD_PATH}/bin"],
            "other.envFile": ".env",
            "other.dev": { "watch": "src/**/*.ts" },
        },
        { "name": "from-settings", "scope": "user", "command": ["uvx", "mcp-server-time", "--local-timezone=${TZ}"] },
        {
            "name": "workspace",
            "scope": "project /project",
            "command": ["node", "/project/server.js"],
            "cwd": "/project",
        },
    ]);
    assert_eq!(scene.shown(Client::VsCode), expected);
    let notes = read_client(Client::VsCode, &scene.surroundings).found.notes.join("\n");
    assert!(notes.contains("`perplexity`") && notes.contains("set the variable PERPLEXITY_KEY"), "{notes}");
    assert!(notes.contains("also says `envFile`, `dev`, for which Kennel has no word"), "{notes}");
    assert!(
        notes.contains("`odd`") && notes.contains("uses `${config:odd.path}`, which only VS Code can fill"),
        "{notes}"
    );
}

#[test]
fn codex_has_variables_by_name_times_and_choices_of_tools() {
    let expected = json!([
        {
            "name": "context7",
            "scope": "user",
            "command": ["npx", "-y", "@upstash/context7-mcp"],
            "env": {
                "MY_ENV_VAR": "MY_ENV_VALUE",
                "LITERAL": "$${NOT_EXPANDED}",
                "LOCAL_TOKEN": "${LOCAL_TOKEN}",
                "REMOTE_TOKEN": "${REMOTE_TOKEN}",
            },
            "start": 20.0,
            "call": 45.5,
        },
        {
            "name": "figma",
            "scope": "user",
            "http": "https://mcp.figma.example.com/mcp",
            "headers": {
                "X-Figma-Region": "us-east-1",
                "X-Trace": "${TRACE_ID}",
                "Authorization": "Bearer ${FIGMA_OAUTH_TOKEN}",
            },
            "allow": ["open", "screenshot"],
            "deny": ["screenshot"],
        },
        {
            "name": "chrome devtools",
            "scope": "user",
            "command": ["npx", "chrome-devtools-mcp@latest"],
            "cwd": "/home/me",
            "off": true,
            "start": 1.5,
            "other.required": true,
        },
        { "name": "docs", "scope": "project /project", "command": ["docs-server", "ä"] },
    ]);
    assert_eq!(Scene::new(Client::Codex).shown(Client::Codex), expected);
}

#[test]
fn gemini_has_two_names_for_addresses_and_lists_of_names() {
    let expected = json!([
        {
            "name": "pythonTools",
            "scope": "user",
            "command": ["python", "-m", "my_mcp_server", "--port", "8080"],
            "cwd": "./mcp-servers/python",
            "env": { "DATABASE_URL": "${DB_CONNECTION_STRING}", "API_KEY": "${EXTERNAL_API_KEY}", "MODE": "${MODE:-fast}" },
            "call": 15.0,
            "other.trust": true,
        },
        {
            "name": "httpServer",
            "scope": "user",
            "http": "http://localhost:3000/mcp",
            "headers": { "Authorization": "Bearer gemini-secret-1" },
            "call": 5.0,
            "allow": ["safe_tool", "file_reader"],
            "deny": ["dangerous_tool"],
            "description": "Files, read carefully",
        },
        { "name": "sseServer", "scope": "user", "auto": "http://localhost:8080/sse" },
        { "name": "typed", "scope": "user", "sse": "http://localhost:8081/events" },
        {
            "name": "google",
            "scope": "user",
            "http": "https://service.example.com/mcp",
            "other.authProviderType": "google_credentials",
            "other.oauth": { "scopes": ["https://www.example.com/auth/userinfo.email"] },
        },
        { "name": "dangerous", "scope": "user", "command": ["dangerous"], "off": true },
    ]);
    assert_eq!(Scene::new(Client::Gemini).shown(Client::Gemini), expected);
}

#[test]
fn windsurf_has_its_own_word_for_addresses() {
    let expected = json!([
        {
            "name": "remote-http",
            "scope": "user",
            "auto": "https://windsurf.example.com/mcp",
            "headers": { "API_KEY": "Bearer ${AUTH_TOKEN}", "FROM_FILE": "${FILE_HOME_ME_KEY_TXT}" },
        },
        { "name": "older", "scope": "user", "auto": "https://older.example.com/sse" },
        {
            "name": "github",
            "scope": "user",
            "command": ["docker", "run", "-i", "--rm", "ghcr.io/github/github-mcp-server"],
            "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${GITHUB_TOKEN}" },
            "off": true,
            "deny": ["delete_repo", "merge_pull_request"],
            "other.alwaysAllow": ["get_me"],
        },
    ]);
    assert_eq!(Scene::new(Client::Windsurf).shown(Client::Windsurf), expected);
}

#[test]
fn open_code_has_two_layouts() {
    let scene = Scene::new(Client::OpenCode);
    let expected = json!([
        {
            "name": "everything",
            "scope": "user",
            "command": ["npx", "-y", "@modelcontextprotocol/server-everything", "$${NOT_A_VARIABLE}"],
            "env": { "TOKEN": "${MY_TOKEN}", "KEY": "${FILE___SECRETS_KEY}", "LEVEL": "debug" },
            "call": 5.0,
        },
        {
            "name": "sentry",
            "scope": "user",
            "auto": "https://mcp.sentry.example.com/mcp",
            "headers": { "Authorization": "Bearer ${SENTRY_TOKEN}" },
            "off": true,
            "other.oauth": {},
        },
        {
            "name": "second",
            "scope": "project /project",
            "command": ["bun", "x", "my-mcp"],
            "cwd": ".",
            "start": 2.0,
            "call": 30.0,
        },
        { "name": "resting", "scope": "project /project", "auto": "https://resting.example.com/mcp", "off": true },
    ]);
    assert_eq!(scene.shown(Client::OpenCode), expected);
    let notes = read_client(Client::OpenCode, &scene.surroundings).found.notes;
    assert!(notes.iter().any(|note| note.contains("opencode.jsonc:19:13: `mcp.jira` says neither")), "{notes:?}");
}

#[test]
fn zed_has_servers_of_its_own_and_of_extensions() {
    let scene = Scene::new(Client::Zed);
    let expected = json!([
        { "name": "custom", "scope": "user", "command": ["uv", "run", "main.py"], "env": { "KEY": "zed-secret-1" } },
        { "name": "plain", "scope": "user", "command": ["some-command", "$${HOME}"], "call": 30.0 },
        {
            "name": "older",
            "scope": "user",
            "command": ["older-server", "--stdio"],
            "env": { "A": "b" },
            "other.settings": {},
        },
        {
            "name": "remote",
            "scope": "user",
            "http": "https://zed.example.com/mcp",
            "headers": { "Authorization": "Bearer zed-secret-2" },
        },
        { "name": "resting", "scope": "user", "command": ["resting"], "off": true },
    ]);
    assert_eq!(scene.shown(Client::Zed), expected);
    let notes = read_client(Client::Zed, &scene.surroundings).found.notes;
    assert!(
        notes.iter().any(|note| note.contains("`context_servers.from-extension`") && note.contains("extension")),
        "{notes:?}"
    );
}

#[test]
fn a_directory_may_hold_lists_single_servers_and_other_files() {
    let gathered = read_path(&files().join("directory"), None);
    assert!(gathered.problems.is_empty(), "{:?}", gathered.problems);
    let expected = json!([
        { "name": "toml", "scope": "file", "command": ["toml-server"] },
        { "name": "flat-a", "scope": "file", "command": ["a"] },
        { "name": "flat-b", "scope": "file", "auto": "https://b.example.com/mcp" },
        { "name": "one", "scope": "file", "command": ["one"], "other.autoApprove": ["read"] },
        { "name": "single", "scope": "file", "command": ["single", "--flag"], "env": { "A": "${A}" } },
        { "name": "crlf", "scope": "file", "command": ["C:\\Program Files\\server.exe", "/c"] },
    ]);
    assert_eq!(Value::Array(gathered.found.entries.iter().map(shown).collect()), expected);
    let notes = gathered.found.notes.join("\n");
    assert!(notes.contains("package.json has no list of servers"), "{notes}");
}

#[test]
fn a_named_file_is_known_by_its_place_and_by_what_is_in_it() {
    let cases = [
        ("claude-desktop/home/.config/Claude/claude_desktop_config.json", Client::ClaudeDesktop),
        ("claude-code/home/.claude.json", Client::ClaudeCode),
        ("claude-code/project/.mcp.json", Client::ClaudeCode),
        ("cursor/home/.cursor/mcp.json", Client::Cursor),
        ("vscode/home/.config/Code/User/mcp.json", Client::VsCode),
        ("vscode/home/.config/Code/User/settings.json", Client::VsCode),
        ("codex/home/.codex/config.toml", Client::Codex),
        ("gemini/home/.gemini/settings.json", Client::Gemini),
        ("windsurf/home/.codeium/windsurf/mcp_config.json", Client::Windsurf),
        ("opencode/home/.config/opencode/opencode.jsonc", Client::OpenCode),
        ("opencode/project/opencode.json", Client::OpenCode),
        ("zed/home/.config/zed/settings.json", Client::Zed),
        ("directory/one.json", Client::Common),
    ];
    for (file, client) in cases {
        let gathered = read_path(&files().join(file), None);
        assert!(gathered.problems.is_empty(), "{file}: {:?}", gathered.problems);
        assert_eq!(gathered.found.entries.first().map(|entry| entry.origin.client), Some(client), "{file}");
    }
    let project = read_path(&files().join("vscode/project/.vscode/mcp.json"), None);
    assert_eq!(project.found.entries[0].origin.scope, Scope::Project(files().join("vscode/project")));
}

#[test]
fn a_file_that_is_named_in_its_usual_place_is_the_users() {
    let scene = Scene::new(Client::Cursor);
    let file = scene.surroundings.home_of(Client::Cursor).expect("a file");
    let scope = |surroundings| read_path(&file, surroundings).found.entries[0].origin.scope.clone();
    assert_eq!(scope(Some(&scene.surroundings)), Scope::User);
    assert_eq!(scope(None), Scope::Project(scene.surroundings.home.clone()));
}

#[test]
fn servers_of_other_kinds_are_left_to_the_client_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("list.json");
    std::fs::write(&file, r#"{"mcpServers": {"ide": {"type": "ws-ide", "url": "ws://x"}, "b": {"command": "b"}}}"#)
        .expect("a file");
    let gathered = read_path(&file, None);
    assert_eq!(gathered.found.entries.len(), 1);
    let note = &gathered.found.notes[0];
    assert!(note.contains("list.json:1:24: `mcpServers.ide` is of the type `ws-ide`, which is left to"), "{note}");
}

#[test]
fn of_servers_of_one_name_in_one_list_the_last_counts() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("twice.json");
    let text =
        r#"{"mcpServers": {"a": {"command": "1"}, "b": {"command": "b"}, "a": {"command": "2", "command": "3"}}}"#;
    std::fs::write(&file, text).expect("a file");
    let entries: Vec<Value> = read_path(&file, None).found.entries.iter().map(shown).collect();
    let expected = [
        json!({"name": "b", "scope": "file", "command": ["b"]}),
        json!({"name": "a", "scope": "file", "command": ["3"]}),
    ];
    assert_eq!(entries, expected);
}

#[test]
fn every_entry_knows_its_line() {
    let scene = Scene::new(Client::Codex);
    let lines: Vec<(String, usize)> =
        scene.entries(Client::Codex).into_iter().map(|entry| (entry.origin.key, entry.origin.line)).collect();
    let expected = [
        ("mcp_servers.context7", 5),
        ("mcp_servers.figma", 16),
        ("mcp_servers.chrome devtools", 24),
        ("mcp_servers.docs", 1),
    ];
    assert_eq!(lines, expected.map(|(key, line)| (key.to_owned(), line)));
}

#[test]
fn secrets_are_in_no_debug_output() {
    for client in Client::ALL {
        let entries = Scene::new(client).entries(client);
        assert!(!entries.is_empty(), "{client}");
        assert!(!format!("{entries:?}").contains("secret-"), "{client}");
    }
}
