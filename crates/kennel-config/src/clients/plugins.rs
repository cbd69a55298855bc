//! Owns the servers that plugins of Claude Code bring along.

use super::client::Client;
use super::document::{Document, Language, Node, Value};
use super::entry::Scope;
use super::error::ReadError;
use super::find::{Gathered, read_known, read_text};
use super::lists::List;
use super::places::Surroundings;
use super::read::{Found, read_list};
use std::path::{Path, PathBuf};

/// One plugin that is installed.
struct Plugin {
    name: String,
    root: PathBuf,
    is_enabled: bool,
}

/// Reads the servers of all plugins that are installed.
pub(crate) fn read_plugins(surroundings: &Surroundings, gathered: &mut Gathered) {
    let directory = surroundings.claude_directory();
    let register = directory.join("plugins/installed_plugins.json");
    if !register.exists() {
        return;
    }
    let enabled = enabled(&directory.join("settings.json"));
    match installed(&register, enabled.as_ref()) {
        Err(problem) => gathered.problems.push(problem),
        Ok(plugins) => {
            for plugin in plugins {
                read_plugin(&plugin, gathered);
            }
        }
    }
}

/// Which plugins the user has turned on; if that cannot be read, all that are installed count.
fn enabled(settings: &Path) -> Option<Node> {
    let text = read_text(settings).ok()?;
    let document = Document::parse(settings, Language::Json, &text).ok()?;
    document.root.get("enabledPlugins").cloned()
}

fn installed(register: &Path, enabled: Option<&Node>) -> Result<Vec<Plugin>, ReadError> {
    let text = read_text(register)?;
    let document = Document::parse(register, Language::Json, &text)?;
    let list = document.root.get("plugins").and_then(Node::members).unwrap_or_default();
    let mut plugins = Vec::new();
    for (id, installs) in list {
        // One plugin may be installed for the user and for projects; older files have one install, not a list.
        let installs = installs.items().unwrap_or(std::slice::from_ref(installs));
        let is_users = |install: &&Node| install.get("scope").and_then(Node::as_text) == Some("user");
        let install = installs.iter().find(is_users).or(installs.first());
        let root = install.and_then(|install| install.get("installPath")).and_then(Node::as_text);
        let Some(root) = root.map(PathBuf::from).filter(|root| root.is_absolute()) else { continue };
        let name = id.split('@').next().unwrap_or(id).to_owned();
        let is_enabled = enabled.is_none_or(|enabled| {
            enabled.get(id).or_else(|| enabled.get(&name)).is_some_and(|node| node.value == Value::Bool(true))
        });
        plugins.push(Plugin { name, root, is_enabled });
    }
    Ok(plugins)
}

/// The servers are in `.mcp.json` of the plugin, in its manifest, or in a file that the manifest names.
fn read_plugin(plugin: &Plugin, gathered: &mut Gathered) {
    let scope = Scope::Plugin { name: plugin.name.clone(), root: plugin.root.clone() };
    let mut files = vec![plugin.root.join(".mcp.json")];
    let manifest = plugin.root.join(".claude-plugin/plugin.json");
    if manifest.exists() {
        match read_manifest(plugin, &scope, &manifest) {
            Ok((found, named)) => {
                files.extend(named);
                add(plugin, gathered, &manifest, Ok(found));
            }
            Err(problem) => gathered.problems.push(problem),
        }
    }
    files.dedup();
    for file in files.into_iter().filter(|file| file.exists()) {
        let read = read_text(&file).and_then(|text| read_known(&file, Client::ClaudeCode, &scope, &text));
        add(plugin, gathered, &file, read);
    }
}

fn read_manifest(plugin: &Plugin, scope: &Scope, manifest: &Path) -> Result<(Found, Vec<PathBuf>), ReadError> {
    let text = read_text(manifest)?;
    let document = Document::parse(manifest, Language::Json, &text)?;
    let servers = document.root.get("mcpServers");
    let parts = servers.map(|node| node.items().unwrap_or(std::slice::from_ref(node))).unwrap_or_default();
    let (mut found, mut files) = (Found::default(), Vec::new());
    for part in parts {
        if let Some(path) = part.as_text() {
            let path = plugin.root.join(path.strip_prefix("./").unwrap_or(path));
            // A manifest may also name bundles of another kind.
            if path.extension().is_some_and(|ending| ending == "json") && !path.ends_with(".mcp.json") {
                files.push(path);
            }
        } else {
            let list = List { key: "mcpServers".to_owned(), node: part, scope: scope.clone(), off: Vec::new() };
            found.append(read_list(&document, Client::ClaudeCode, &list)?);
        }
    }
    Ok((found, files))
}

fn add(plugin: &Plugin, gathered: &mut Gathered, file: &Path, read: Result<Found, ReadError>) {
    let read = read.map(|mut found| {
        for entry in &mut found.entries {
            entry.enabled &= plugin.is_enabled;
        }
        found
    });
    gathered.add(file, read);
}
