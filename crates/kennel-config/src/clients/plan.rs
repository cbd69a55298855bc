//! Owns what an import does to Kennel's file: which entries are added under which names, which are not, and why.

use super::document::{BYTE_ORDER_MARK, Language, Node, Value};
use super::edit_toml::{of_table, with_line_ends};
use super::entry::Entry;
use super::export::is_kennel;
use super::kennel::table_of;
use super::mask::KEPT;
use super::wrapped::unwrapped;
use crate::{Config, ConfigError, Launch, name_like};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Table};

/// What a new file begins with.
const HEADER: &str = "# The MCP servers that Kennel serves. `kennel config schema` says what can be written here.\n";
/// What a server is called while it is looked at alone.
const ALONE: &str = "alone";
/// How many servers of one name are told apart.
const MOST_NAMESAKES: usize = 1000;

/// What becomes of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is added under its own name, or the one most like it.
    Added {
        /// The name in Kennel.
        name: String,
    },
    /// Kennel has a server of that name that is started in another way; it is added under another name.
    Renamed {
        /// The name in Kennel.
        name: String,
        /// The server that has the name.
        other: String,
    },
    /// Kennel has it already.
    Same {
        /// The name in Kennel.
        name: String,
    },
    /// It leads back to Kennel.
    Itself,
    /// Kennel cannot run it.
    Refused {
        /// Why.
        why: String,
    },
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { name } => write!(f, "added as `{name}`"),
            Self::Renamed { name, other } => {
                write!(f, "added as `{name}`, because `{other}` is there and is started in another way")
            }
            Self::Same { name } => write!(f, "there already as `{name}`"),
            Self::Itself => f.write_str("skipped, because it is Kennel itself"),
            Self::Refused { why } => write!(f, "skipped: {why}"),
        }
    }
}

/// An entry and what becomes of it.
#[derive(Debug)]
pub struct Planned {
    /// The entry.
    pub entry: Entry,
    /// What becomes of it.
    pub outcome: Outcome,
}

/// What an import would do. Nothing is written by it.
#[derive(Debug)]
pub struct Plan {
    /// Kennel's file.
    pub file: PathBuf,
    /// Its text; `None` if it is not there.
    pub before: Option<String>,
    /// Its text with what is added.
    pub after: String,
    /// Every entry.
    pub items: Vec<Planned>,
}

impl Plan {
    /// How many servers are added.
    #[must_use]
    pub fn added(&self) -> usize {
        let is_added = |item: &&Planned| matches!(item.outcome, Outcome::Added { .. } | Outcome::Renamed { .. });
        self.items.iter().filter(is_added).count()
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Kennel's own file is broken.
    #[error("Kennel's own file has to be mended first, nothing was changed:\n{0}")]
    Config(#[from] ConfigError),
    /// Kennel's file is another client's.
    #[error("{} is JSON, which belongs to other clients; name a file that ends in .toml, or import it into one", .file.display())]
    Json {
        /// The file.
        file: PathBuf,
    },
    /// There is no such server.
    #[error("{} has no server `{name}`{}", .file.display(), known(.names))]
    NoServer {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
        /// Those that there are.
        names: Vec<String>,
    },
    /// What is there and what comes do not go together.
    #[error("{} was not changed, because it would be wrong with all that is added:\n{source}", .file.display())]
    Together {
        /// The file.
        file: PathBuf,
        /// What would be wrong.
        source: ConfigError,
    },
    /// A view would point to nothing.
    #[error("`{name}` cannot be taken out of {}:\n{source}", .file.display())]
    Needed {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
        /// What is wrong without it.
        source: ConfigError,
    },
}

fn known(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; it has `{}`", names.join("`, `")) }
}

/// Plans to add entries to Kennel's file. Entries that lead to one of the addresses are Kennel's own endpoints.
pub fn plan(file: &Path, before: Option<String>, entries: Vec<Entry>, addresses: &[String]) -> Result<Plan, PlanError> {
    let mut draft = Draft::new(file, before.as_deref())?;
    let mut items = Vec::new();
    for entry in entries {
        let outcome = match unwrapped(&entry) {
            _ if is_kennel(&entry, addresses) => Outcome::Itself,
            Ok(None) => draft.take(&entry, Vec::new()),
            Ok(Some((behind, settings))) => draft.take(&behind, settings),
            Err(why) => Outcome::Refused { why },
        };
        items.push(Planned { entry, outcome });
    }
    let plan = Plan { file: file.to_owned(), after: before.clone().unwrap_or_default(), before, items };
    // A file to which nothing is added stays as it is, byte for byte.
    if plan.added() == 0 {
        return Ok(plan);
    }
    let after = draft.text();
    match Config::parse(after.as_bytes(), file) {
        Ok(_) => Ok(Plan { after, ..plan }),
        Err(source) => Err(PlanError::Together { file: file.to_owned(), source }),
    }
}

/// Kennel's file without a server.
pub fn plan_removal(file: &Path, before: String, name: &str) -> Result<Plan, PlanError> {
    let mut draft = Draft::new(file, Some(&before))?;
    let names: Vec<String> = draft.known.keys().cloned().collect();
    let removed = draft.document.get_mut("servers").and_then(Item::as_table_like_mut).and_then(|all| all.remove(name));
    if removed.is_none() {
        return Err(PlanError::NoServer { file: file.to_owned(), name: name.to_owned(), names });
    }
    let after = draft.text();
    if let Err(source) = Config::parse(after.as_bytes(), file) {
        return Err(PlanError::Needed { file: file.to_owned(), name: name.to_owned(), source });
    }
    Ok(Plan { file: file.to_owned(), before: Some(before), after, items: Vec::new() })
}

/// The file while entries are added.
struct Draft<'a> {
    file: &'a Path,
    document: DocumentMut,
    /// How the servers are started that are there, and those that were added.
    known: BTreeMap<String, Launch>,
    /// What comes before all that the document says.
    head: String,
    has_windows_line_ends: bool,
}

impl<'a> Draft<'a> {
    fn new(file: &'a Path, before: Option<&str>) -> Result<Self, PlanError> {
        if Language::of(file) != Language::Toml {
            return Err(PlanError::Json { file: file.to_owned() });
        }
        let text = before.filter(|text| !text.is_empty()).unwrap_or(HEADER);
        let config = Config::parse(text.as_bytes(), file)?;
        let body = text.strip_prefix(BYTE_ORDER_MARK);
        let mut head = if body.is_some() { BYTE_ORDER_MARK.to_owned() } else { String::new() };
        // The same text was just understood; a document that is not TOML is empty and gets nothing.
        let mut document: DocumentMut = body.unwrap_or(text).parse().unwrap_or_default();
        if document.is_empty() {
            // The comments of a file that has nothing else would come after what is added.
            head.push_str(document.trailing().as_str().unwrap_or_default());
            document.set_trailing("");
        }
        let known = config.servers.into_iter().map(|(name, server)| (name.to_string(), server.launch)).collect();
        Ok(Self { file, document, known, head, has_windows_line_ends: text.contains("\r\n") })
    }

    fn text(&self) -> String {
        let text = format!("{}{}", self.head, self.document);
        if self.has_windows_line_ends { with_line_ends(&text) } else { text }
    }

    /// Adds an entry, with what else is to be said of it, unless it is there.
    fn take(&mut self, entry: &Entry, settings: Vec<(String, Node)>) -> Outcome {
        let mut table = match table_of(entry) {
            Ok(table) => table,
            Err(unsayable) => {
                return Outcome::Refused { why: format!("Kennel cannot write {unsayable} after a `$`") };
            }
        };
        if let Value::Table(members) = &mut table.value {
            members.retain(|(name, _)| !settings.iter().any(|(other, _)| name == other));
            members.extend(settings);
        }
        let launch = match self.launch(&table) {
            Ok(launch) => launch,
            Err(error) => return Outcome::Refused { why: reasons(&error) },
        };
        let wanted = name_like(&entry.name);
        let mut name = wanted.clone();
        for number in 2..MOST_NAMESAKES {
            match self.known.get(&name) {
                None => {
                    self.insert(&name, &table, entry);
                    self.known.insert(name.clone(), launch);
                    return if name == wanted {
                        Outcome::Added { name }
                    } else {
                        Outcome::Renamed { name, other: wanted }
                    };
                }
                Some(known) if starts_alike(known, &launch) => return Outcome::Same { name },
                Some(_) => name = numbered(&wanted, number),
            }
        }
        Outcome::Refused { why: format!("there are too many servers called `{wanted}`") }
    }

    /// How a table is started, with the file's defaults, which count for servers that are there too.
    fn launch(&self, table: &Node) -> Result<Launch, ConfigError> {
        let mut document = DocumentMut::new();
        if let Some(defaults) = self.document.get("defaults") {
            document.insert("defaults", defaults.clone());
        }
        let mut servers = Table::new();
        servers.set_implicit(true);
        servers.insert(ALONE, of_table(table).map_or(Item::None, Item::Table));
        document.insert("servers", Item::Table(servers));
        let mut config = Config::parse(document.to_string().as_bytes(), self.file)?;
        let server = config.servers.pop_first().map(|(_, server)| server.launch);
        server.ok_or(ConfigError::Invalid { problems: Vec::new() })
    }

    fn insert(&mut self, name: &str, table: &Node, entry: &Entry) {
        let servers = self.document.entry("servers").or_insert_with(|| {
            let mut servers = Table::new();
            servers.set_implicit(true);
            Item::Table(servers)
        });
        if let (Some(servers), Some(mut new)) = (servers.as_table_like_mut(), of_table(table)) {
            new.decor_mut().set_prefix(comment(entry));
            servers.insert(name, Item::Table(new));
        }
    }
}

/// Says where a server came from, and keeps what Kennel has no word for.
fn comment(entry: &Entry) -> String {
    let one_line = |text: String| text.replace(char::is_control, " ");
    let mut lines = String::from("\n");
    if !entry.origin.file.as_os_str().is_empty() {
        lines.push_str(&one_line(format!("# from {}", entry.origin)));
        lines.push('\n');
    }
    for (name, node) in &entry.other {
        // JSON without control letters is on one line.
        lines.push_str(&one_line(format!("{KEPT} {}: {name} = {}", entry.origin.client, node.to_json())));
        lines.push('\n');
    }
    lines
}

fn numbered(name: &str, number: usize) -> String {
    let suffix = format!("-{number}");
    let kept: String = name.chars().take(crate::LONGEST_NAME.saturating_sub(suffix.len())).collect();
    kept + &suffix
}

/// Boxes and limits are the user's to change; the same server is what is started or reached in the same way.
fn starts_alike(one: &Launch, other: &Launch) -> bool {
    match (one, other) {
        (Launch::Process(one), Launch::Process(other)) => {
            (&one.command, &one.args, &one.env, &one.cwd) == (&other.command, &other.args, &other.env, &other.cwd)
        }
        (Launch::Upstream(one), Launch::Upstream(other)) => one == other,
        (Launch::Process(_), Launch::Upstream(_)) | (Launch::Upstream(_), Launch::Process(_)) => false,
    }
}

/// What is wrong, without places in a text that nobody has seen.
fn reasons(error: &ConfigError) -> String {
    let key =
        |key: &str| key.trim_start_matches("servers.").trim_start_matches(ALONE).trim_start_matches('.').to_owned();
    let problems = error.problems().iter().map(|problem| format!("`{}` {}", key(&problem.key), problem.text));
    problems.collect::<Vec<_>>().join("; ")
}
