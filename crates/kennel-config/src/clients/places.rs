//! Owns where each client keeps its files, on each system.

use super::client::Client;
use super::entry::Scope;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A kind of operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and what is like it.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// What decides where files are.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The system.
    pub system: System,
    /// The user's home.
    pub home: PathBuf,
    /// The project whose files count too: where the user is.
    pub project: Option<PathBuf>,
    /// Variables that move files, by their names.
    pub variables: BTreeMap<&'static str, PathBuf>,
}

/// The variables that move files of clients.
const VARIABLES: [&str; 7] = [
    "XDG_CONFIG_HOME",
    "APPDATA",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
];

/// A file that a client reads, whether it is there or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The client.
    pub client: Client,
    /// For whom the file holds.
    pub scope: Scope,
    /// The file.
    pub file: PathBuf,
}

impl Surroundings {
    /// Those of this process; `None` for a user without a home.
    #[must_use]
    pub fn current() -> Option<Self> {
        let home = std::env::home_dir().filter(|home| home.is_absolute())?;
        let set = |name: &'static str| {
            let value = std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())?;
            Some((name, value))
        };
        let system = match std::env::consts::OS {
            "macos" => System::MacOs,
            "windows" => System::Windows,
            _ => System::Linux,
        };
        Some(Self {
            system,
            home,
            project: std::env::current_dir().ok(),
            variables: VARIABLES.into_iter().filter_map(set).collect(),
        })
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).cloned()
    }

    /// Where programs that follow XDG keep their settings, on every system.
    fn xdg(&self) -> PathBuf {
        self.variable("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
    }

    /// Where programs of the desktop keep their settings.
    fn desktop(&self) -> PathBuf {
        match self.system {
            System::Linux => self.xdg(),
            System::MacOs => self.home.join("Library/Application Support"),
            System::Windows => self.roaming(),
        }
    }

    fn roaming(&self) -> PathBuf {
        self.variable("APPDATA").unwrap_or_else(|| self.home.join("AppData/Roaming"))
    }

    /// Where Claude Code keeps what is not in its one file.
    pub(crate) fn claude_directory(&self) -> PathBuf {
        self.variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| self.home.join(".claude"))
    }

    /// The files of a client: first the one that new entries go to.
    #[must_use]
    pub fn places(&self, client: Client) -> Vec<Place> {
        let user = self.user_files(client).into_iter().map(|file| (Scope::User, file));
        let project = self.project.iter().flat_map(|directory| {
            let files = project_files(client).iter().map(|file| directory.join(file));
            files.map(|file| (Scope::Project(directory.clone()), file))
        });
        let mut places: Vec<Place> = Vec::new();
        for (scope, file) in user.chain(project) {
            // In the home directory a project's file may be the user's own.
            if places.iter().all(|known| known.file != file) {
                places.push(Place { client, scope, file });
            }
        }
        places
    }

    fn user_files(&self, client: Client) -> Vec<PathBuf> {
        let under = |directory: PathBuf, names: &[&str]| -> Vec<PathBuf> {
            names.iter().map(|name| directory.join(name)).collect()
        };
        match client {
            Client::ClaudeDesktop => under(self.desktop(), &["Claude/claude_desktop_config.json"]),
            Client::ClaudeCode => {
                let directory = self.variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| self.home.clone());
                under(directory, &[".claude.json"])
            }
            Client::Cursor => under(self.home.join(".cursor"), &["mcp.json"]),
            Client::VsCode => under(
                self.desktop(),
                &[
                    "Code/User/mcp.json",
                    "Code/User/settings.json",
                    "Code - Insiders/User/mcp.json",
                    "Code - Insiders/User/settings.json",
                ],
            ),
            Client::Codex => {
                under(self.variable("CODEX_HOME").unwrap_or_else(|| self.home.join(".codex")), &["config.toml"])
            }
            Client::Gemini => {
                let home = self.variable("GEMINI_CLI_HOME").unwrap_or_else(|| self.home.clone());
                under(home.join(".gemini"), &["settings.json"])
            }
            Client::Windsurf => under(self.home.join(".codeium/windsurf"), &["mcp_config.json"]),
            Client::OpenCode => {
                let directories = [Some(self.xdg().join("opencode")), self.variable("OPENCODE_CONFIG_DIR")];
                let files = directories.into_iter().flatten();
                let files = files.flat_map(|directory| under(directory, &["opencode.json", "opencode.jsonc"]));
                files.chain(self.variable("OPENCODE_CONFIG")).collect()
            }
            Client::Zed if self.system == System::Windows => under(self.roaming(), &["Zed/settings.json"]),
            Client::Zed => under(self.xdg(), &["zed/settings.json"]),
            Client::Common => Vec::new(),
        }
    }

    /// The user's file of a client that new entries go to: the first that is there, or the usual one.
    #[must_use]
    pub fn home_of(&self, client: Client) -> Option<PathBuf> {
        let files = self.user_files(client);
        // Older settings of VS Code are read, but its own program writes to `mcp.json`.
        let own = |file: &&PathBuf| client != Client::VsCode || file.ends_with("mcp.json");
        files.iter().filter(own).find(|file| file.exists()).or(files.first()).cloned()
    }
}

fn project_files(client: Client) -> &'static [&'static str] {
    match client {
        Client::ClaudeCode => &[".mcp.json"],
        Client::Cursor => &[".cursor/mcp.json"],
        Client::VsCode => &[".vscode/mcp.json", ".vscode/settings.json"],
        Client::Codex => &[".codex/config.toml"],
        Client::Gemini => &[".gemini/settings.json"],
        Client::OpenCode => &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
        Client::Zed => &[".zed/settings.json"],
        Client::ClaudeDesktop | Client::Windsurf | Client::Common => &[],
    }
}

/// The directory of the project that a client's file in it belongs to.
pub(crate) fn project_of(client: Client, file: &Path) -> Option<PathBuf> {
    let names = project_files(client).iter().filter(|name| file.ends_with(name));
    let depth = names.map(|name| Path::new(name).components().count()).max()?;
    file.ancestors().nth(depth).map(Path::to_owned)
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
