//! Owns the list of clients whose files Kennel knows, and what they are called.

use std::fmt;
use std::str::FromStr;

/// A program that keeps a list of MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Anthropic's desktop program; starts programs only, and reaches no address.
    ClaudeDesktop,
    /// Anthropic's terminal program.
    ClaudeCode,
    /// The editor Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// `OpenAI`'s terminal program.
    Codex,
    /// Google's terminal program.
    Gemini,
    /// The editor Windsurf.
    Windsurf,
    /// The terminal program `OpenCode`.
    OpenCode,
    /// The editor Zed.
    Zed,
    /// No client in particular: a file with `mcpServers`, as most programs read it.
    Common,
}

impl Client {
    /// All that have a place of their own for their files.
    pub const ALL: [Self; 9] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
        Self::OpenCode,
        Self::Zed,
    ];

    /// The word for it on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Windsurf => "windsurf",
            Self::OpenCode => "opencode",
            Self::Zed => "zed",
            Self::Common => "json",
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::OpenCode => "OpenCode",
            Self::Zed => "Zed",
            Self::Common => "an mcpServers file",
        })
    }
}

/// A word that names no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Kennel knows no client `{word}`; it knows {}", known())]
pub struct UnknownClient {
    /// The word.
    pub word: String,
}

fn known() -> String {
    Client::ALL.iter().chain([&Client::Common]).map(|client| client.word()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(word: &str) -> Result<Self, UnknownClient> {
        let plain: String =
            word.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
        let client = match plain.as_str() {
            "claudedesktop" => Self::ClaudeDesktop,
            "claudecode" | "claude" => Self::ClaudeCode,
            "cursor" => Self::Cursor,
            "vscode" | "code" | "copilot" => Self::VsCode,
            "codex" => Self::Codex,
            "gemini" | "geminicli" => Self::Gemini,
            "windsurf" => Self::Windsurf,
            "opencode" => Self::OpenCode,
            "zed" => Self::Zed,
            "json" | "mcpservers" | "common" => Self::Common,
            _ => return Err(UnknownClient { word: word.to_owned() }),
        };
        Ok(client)
    }
}
