//! Owns the whole of a configuration, and how a file becomes one.

use crate::check::{Checker, Ownership};
use crate::code::CodeSettings;
use crate::defaults::with_defaults;
use crate::fields::Fields;
use crate::foreign;
use crate::gateway::{GatewaySettings, View};
use crate::keys::SERVER;
use crate::name::{ServerName, ViewName};
use crate::problem::{ConfigError, Problem, Report};
use crate::references;
use crate::server::Server;
use crate::tree::{Content, Node, read_json, read_toml};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More servers or views than this are nobody's.
const MOST_NAMED: usize = 1000;
/// The largest file that is read.
const LARGEST_FILE: u64 = 16 << 20;

/// All servers and views, and how clients reach them.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The servers by name, those that are not enabled too.
    pub servers: BTreeMap<ServerName, Server>,
    /// The views by name.
    pub views: BTreeMap<ViewName, View>,
    /// How clients reach them.
    pub gateway: GatewaySettings,
    /// How Python is run that calls their tools.
    pub code: CodeSettings,
    /// The directory that relative paths in the file start from.
    pub directory: PathBuf,
    /// What somebody should know, though everything works.
    pub warnings: Vec<Problem>,
}

impl Config {
    /// Reads a file: Kennel's own TOML, or the JSON that other clients keep their servers in. Its content says which.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Unreadable { file: file.to_owned(), source };
        // Paths in the file must mean the same wherever Kennel goes.
        let whole = std::path::absolute(file).map_err(unreadable)?;
        let mut bytes = Vec::new();
        let opened = std::fs::File::open(file).map_err(unreadable)?;
        opened.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(ConfigError::TooLarge { file: file.to_owned(), limit: LARGEST_FILE });
        }
        let mut config = Self::parse(&bytes, file)?;
        config.directory = whole.parent().map(Path::to_owned).unwrap_or_default();
        Ok(config)
    }

    /// Reads what a file holds; its name is for messages, and says where relative paths start.
    pub fn parse(bytes: &[u8], file: &Path) -> Result<Self, ConfigError> {
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let good = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
                let mut report = Report::new(file, good);
                report.problem(good.len(), "", "this is not UTF-8", Some("save the file as UTF-8".to_owned()));
                return Err(report.finish().err().unwrap_or(ConfigError::Invalid { problems: Vec::new() }));
            }
        };
        // Some editors begin every file with a mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut report = Report::new(file, text);
        let mut config = read(text, &mut report);
        config.warnings = report.finish()?;
        config.directory = file.parent().map(Path::to_owned).unwrap_or_default();
        Ok(config)
    }

    /// The servers that are served.
    pub fn enabled(&self) -> impl Iterator<Item = (&ServerName, &Server)> {
        self.servers.iter().filter(|(_, server)| server.enabled)
    }

    /// Where the file is that counts where none is named: `$XDG_CONFIG_HOME/kennel/kennel.toml` or
    /// `~/.config/kennel/kennel.toml`. It is never in the working directory, which may be anybody's.
    pub fn usual_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
        Some(base.join("kennel/kennel.toml"))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            servers: BTreeMap::new(),
            views: BTreeMap::new(),
            gateway: GatewaySettings::default(),
            code: CodeSettings::default(),
            directory: PathBuf::new(),
            warnings: Vec::new(),
        }
    }
}

/// What the text says, as far as it makes sense; the report has what does not.
fn read(text: &str, report: &mut Report<'_>) -> Config {
    let (root, ownership) = if looks_like_json(text) {
        (read_json(text, report).and_then(|root| foreign::with_sections(&root, report)), Ownership::Foreign)
    } else {
        (read_toml(text, report), Ownership::Kennel)
    };
    let Some(root) = root.filter(|root| !has_too_many(root, report)) else { return Config::default() };
    let root = match ownership {
        Ownership::Kennel => root,
        Ownership::Foreign => foreign::as_own(root, report),
    };
    Checker { report, ownership }.file(&root);
    references::check(&root, report);
    if report.problem_count() > 0 {
        return Config::default();
    }
    let fields = Fields::of(Some(&root));
    let empty = Node::new(0, Content::Table(Vec::new()));
    let defaults = fields.get("defaults").unwrap_or(&empty);
    let servers = fields.get("servers").map(Node::entries).unwrap_or_default();
    let views = fields.get("views").map(Node::entries).unwrap_or_default();
    let server = |entry: &crate::tree::Entry| {
        let server = Server::read(&with_defaults(&entry.value, defaults, &SERVER))?;
        Some((entry.key.parse().ok()?, server))
    };
    let view = |entry: &crate::tree::Entry| Some((entry.key.parse().ok()?, View::read(Fields::of(Some(&entry.value)))));
    Config {
        servers: servers.iter().filter_map(server).collect(),
        views: views.iter().filter_map(view).collect(),
        gateway: GatewaySettings::read(fields.table("gateway")),
        code: CodeSettings::read(fields.table("code")),
        ..Config::default()
    }
}

/// Whether there are more servers or views than anybody has; before anything is done for each of them.
fn has_too_many(root: &Node, report: &mut Report<'_>) -> bool {
    let mut has_too_many = false;
    for section in root.entries().iter().filter(|entry| matches!(entry.key.as_str(), "servers" | "views")) {
        if let Some(entry) = section.value.entries().get(MOST_NAMED) {
            report.problem(entry.at, &section.written, format!("there are more than {MOST_NAMED}"), None);
            has_too_many = true;
        }
    }
    has_too_many
}

/// TOML never begins with a brace or a slash; JSON, with comments or without, always does.
fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '/'])
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
