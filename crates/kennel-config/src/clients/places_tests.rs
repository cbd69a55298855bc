use super::*;

fn surroundings(system: System, variables: &[(&'static str, &str)]) -> Surroundings {
    Surroundings {
        system,
        home: PathBuf::from("/home/me"),
        project: Some(PathBuf::from("/srv/app")),
        variables: variables.iter().map(|(name, value)| (*name, PathBuf::from(value))).collect(),
    }
}

fn first(client: Client, surroundings: &Surroundings) -> PathBuf {
    surroundings.places(client).remove(0).file
}

#[test]
fn files_are_where_each_system_has_them() {
    let cases = [
        (Client::ClaudeDesktop, System::Linux, "/home/me/.config/Claude/claude_desktop_config.json"),
        (
            Client::ClaudeDesktop,
            System::MacOs,
            "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (Client::ClaudeDesktop, System::Windows, "/home/me/AppData/Roaming/Claude/claude_desktop_config.json"),
        (Client::ClaudeCode, System::Linux, "/home/me/.claude.json"),
        (Client::Cursor, System::MacOs, "/home/me/.cursor/mcp.json"),
        (Client::VsCode, System::Linux, "/home/me/.config/Code/User/mcp.json"),
        (Client::VsCode, System::MacOs, "/home/me/Library/Application Support/Code/User/mcp.json"),
        (Client::VsCode, System::Windows, "/home/me/AppData/Roaming/Code/User/mcp.json"),
        (Client::Codex, System::Windows, "/home/me/.codex/config.toml"),
        (Client::Gemini, System::Linux, "/home/me/.gemini/settings.json"),
        (Client::Windsurf, System::Linux, "/home/me/.codeium/windsurf/mcp_config.json"),
        (Client::OpenCode, System::MacOs, "/home/me/.config/opencode/opencode.json"),
        (Client::Zed, System::MacOs, "/home/me/.config/zed/settings.json"),
        (Client::Zed, System::Windows, "/home/me/AppData/Roaming/Zed/settings.json"),
    ];
    for (client, system, file) in cases {
        assert_eq!(first(client, &surroundings(system, &[])), Path::new(file), "{client} on {system:?}");
    }
}

#[test]
fn variables_move_files() {
    let moved = surroundings(
        System::Linux,
        &[
            ("XDG_CONFIG_HOME", "/xdg"),
            ("CLAUDE_CONFIG_DIR", "/claude"),
            ("CODEX_HOME", "/codex"),
            ("GEMINI_CLI_HOME", "/gemini"),
            ("OPENCODE_CONFIG", "/oc/mine.jsonc"),
        ],
    );
    assert_eq!(first(Client::ClaudeDesktop, &moved), Path::new("/xdg/Claude/claude_desktop_config.json"));
    assert_eq!(first(Client::ClaudeCode, &moved), Path::new("/claude/.claude.json"));
    assert_eq!(first(Client::Codex, &moved), Path::new("/codex/config.toml"));
    assert_eq!(first(Client::Gemini, &moved), Path::new("/gemini/.gemini/settings.json"));
    assert_eq!(first(Client::Zed, &moved), Path::new("/xdg/zed/settings.json"));
    assert!(moved.places(Client::OpenCode).iter().any(|place| place.file == Path::new("/oc/mine.jsonc")));
    let windows = surroundings(System::Windows, &[("APPDATA", "/roaming")]);
    assert_eq!(first(Client::VsCode, &windows), Path::new("/roaming/Code/User/mcp.json"));
}

#[test]
fn a_project_has_files_of_its_own_once() {
    let mut here = surroundings(System::Linux, &[]);
    let files = |here: &Surroundings| -> Vec<(Scope, PathBuf)> {
        here.places(Client::Cursor).into_iter().map(|place| (place.scope, place.file)).collect()
    };
    let project = PathBuf::from("/srv/app");
    assert_eq!(files(&here)[1], (Scope::Project(project.clone()), project.join(".cursor/mcp.json")));
    here.project = Some(here.home.clone());
    assert_eq!(files(&here), [(Scope::User, PathBuf::from("/home/me/.cursor/mcp.json"))]);
}

#[test]
fn a_file_knows_its_project() {
    let project = |client, file| project_of(client, Path::new(file));
    assert_eq!(project(Client::VsCode, "/a/b/.vscode/mcp.json"), Some(PathBuf::from("/a/b")));
    assert_eq!(project(Client::ClaudeCode, "/a/b/.mcp.json"), Some(PathBuf::from("/a/b")));
    assert_eq!(project(Client::OpenCode, "/a/.opencode/opencode.json"), Some(PathBuf::from("/a")));
    assert_eq!(project(Client::VsCode, "/home/me/.config/Code/User/mcp.json"), None);
}
