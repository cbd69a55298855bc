//! Owns where in a file the lists of servers are, and whose file it is if nobody says.

use super::client::Client;
use super::document::{Node, Value};
use super::entry::Scope;
use std::path::{Path, PathBuf};

/// One list of servers in a file.
pub(crate) struct List<'a> {
    /// Its name, with all that it stands in.
    pub(crate) key: String,
    pub(crate) node: &'a Node,
    pub(crate) scope: Scope,
    /// Names of servers that another part of the file turns off.
    pub(crate) off: Vec<String>,
}

/// Where the list of a client's file is, and where a new entry goes.
pub(crate) fn path_of(client: Client, file: &Path, root: &Node) -> &'static [&'static str] {
    match client {
        Client::VsCode if file.file_name().is_some_and(|name| name == "settings.json") => &["mcp", "servers"],
        Client::VsCode if root.get("servers").is_none() && root.at(&["mcp", "servers"]).is_some() => {
            &["mcp", "servers"]
        }
        Client::VsCode => &["servers"],
        Client::Codex => &["mcp_servers"],
        Client::OpenCode if has_second_layout(root) => &["mcp", "servers"],
        Client::OpenCode => &["mcp"],
        Client::Zed => &["context_servers"],
        Client::Common if root.get("mcpServers").is_none() && root.get("servers").is_some() => &["servers"],
        // A list in it would hide all that is there.
        Client::Common | Client::ClaudeCode if root.get("mcpServers").is_none() && is_list(root) => &[],
        Client::ClaudeDesktop
        | Client::ClaudeCode
        | Client::Cursor
        | Client::Gemini
        | Client::Windsurf
        | Client::Common => &["mcpServers"],
    }
}

/// The second version of `OpenCode`'s file has its servers one step deeper; in the first, `servers` would be a server.
fn has_second_layout(root: &Node) -> bool {
    let servers = root.at(&["mcp", "servers"]);
    servers.is_some_and(|node| node.members().is_some() && node.get("type").is_none_or(|kind| kind.as_text().is_none()))
}

/// The lists of a file.
pub(crate) fn lists<'a>(client: Client, scope: &Scope, file: &Path, root: &'a Node) -> Vec<List<'a>> {
    let path = path_of(client, file, root);
    let mut lists = Vec::new();
    if let Some(node) = root.at(path).filter(|node| node.value != Value::Null) {
        let off = if client == Client::Gemini { gemini_off(root, node) } else { Vec::new() };
        let key = if path.is_empty() { "(file)".to_owned() } else { path.join(".") };
        lists.push(List { key, node, scope: scope.clone(), off });
    }
    if client == Client::ClaudeCode {
        for (directory, project) in root.get("projects").and_then(Node::members).unwrap_or_default() {
            let Some(node) = project.get("mcpServers").filter(|node| node.value != Value::Null) else { continue };
            lists.push(List {
                key: format!("projects.{directory}.mcpServers"),
                node,
                scope: Scope::Project(PathBuf::from(directory)),
                off: texts(project.get("disabledMcpServers")),
            });
        }
    }
    lists
}

/// Whether a file is the list itself, as that of a plugin or one of a directory of files may be.
fn is_list(root: &Node) -> bool {
    let is_launch = |node: &Node| node.get("command").is_some() || node.get("url").is_some();
    let members = root.members().unwrap_or_default();
    !members.is_empty() && members.iter().all(|(_, node)| is_launch(node))
}

fn texts(node: Option<&Node>) -> Vec<String> {
    let items = node.and_then(Node::items).unwrap_or_default();
    items.iter().filter_map(Node::as_text).map(str::to_owned).collect()
}

/// `mcp.excluded` turns servers off, `mcp.allowed` all others.
fn gemini_off(root: &Node, list: &Node) -> Vec<String> {
    let mut off = texts(root.at(&["mcp", "excluded"]));
    if root.at(&["mcp", "allowed"]).is_some() {
        let allowed = texts(root.at(&["mcp", "allowed"]));
        let names = list.members().unwrap_or_default().iter().map(|(name, _)| name);
        off.extend(names.filter(|name| !allowed.contains(name)).cloned());
    }
    off
}

/// Whose file that is, by its place and by what is in it.
pub(crate) fn client_of(file: &Path, root: &Node) -> Client {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let directory = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().to_lowercase();
    match (name.as_str(), directory.as_str()) {
        ("claude_desktop_config.json", _) => return Client::ClaudeDesktop,
        (".claude.json" | ".mcp.json", _) => return Client::ClaudeCode,
        ("mcp_config.json", _) => return Client::Windsurf,
        ("mcp.json", ".cursor") => return Client::Cursor,
        ("settings.json", ".gemini") => return Client::Gemini,
        _ => {}
    }
    let is_open_code = |node: &Node| {
        let kind = |entry: &Node| matches!(entry.get("type").and_then(Node::as_text), Some("local" | "remote"));
        node.members().unwrap_or_default().iter().any(|(_, entry)| kind(entry))
    };
    if root.get("mcp_servers").is_some() {
        Client::Codex
    } else if root.get("context_servers").is_some() {
        Client::Zed
    } else if root.get("mcp").is_some_and(is_open_code) || root.at(&["mcp", "servers"]).is_some_and(is_open_code) {
        Client::OpenCode
    } else if root.at(&["mcp", "servers"]).is_some()
        || (root.get("servers").is_some() && (directory == ".vscode" || root.get("mcpServers").is_none()))
    {
        Client::VsCode
    } else {
        Client::Common
    }
}
