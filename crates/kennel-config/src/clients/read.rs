//! Owns how the servers in a client's file become entries.

use super::client::Client;
use super::codex;
use super::dialect::{CommandForm, Dialect, Kind, Unit};
use super::document::{Document, Node, Value};
use super::entry::{Entry, Launch, Origin, Scope, Timeouts, Tools, Transport};
use super::error::ReadError;
use super::fields::Fields;
use super::lists::List;
use super::text::{Part, Words};
use std::path::Path;
use std::time::Duration;

/// What was found in a file.
#[derive(Debug, Default)]
pub struct Found {
    /// The servers, in the file's order.
    pub entries: Vec<Entry>,
    /// What people should know about what was found, as sentences.
    pub notes: Vec<String>,
}

impl Found {
    /// Adds what was found elsewhere.
    pub fn append(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.notes.extend(other.notes);
    }
}

/// Reads the servers of one list.
pub(crate) fn read_list(document: &Document<'_>, client: Client, list: &List<'_>) -> Result<Found, ReadError> {
    let words = words_of(&list.scope, document.file());
    let mut found = Found::default();
    let names = Fields::of(document, list.key.clone(), list.node, client.dialect().spelling, &words)?;
    for (name, node) in names.rest() {
        let key = format!("{}.{name}", list.key);
        let reader = Reader { document, client, dialect: client.dialect(), words: &words };
        if let Some(word) = reader.unknown_kind(&node) {
            let spot = document.spot(&node);
            found.notes.push(format!("{spot}: `{key}` is of the type `{word}`, which is left to {client}"));
            continue;
        }
        match reader.launch_and_rest(&key, &node)? {
            Some(mut entry) => {
                entry.enabled &= !list.off.contains(&name);
                entry.origin = Origin {
                    client,
                    scope: list.scope.clone(),
                    file: document.file().to_owned(),
                    line: document.spot(&node).line,
                    key,
                };
                entry.name = name;
                found.notes.extend(remarks(&entry));
                found.entries.push(entry);
            }
            None => found.notes.push(format!(
                "{}: `{key}` says neither a command nor an address ({}), so it is left to {client}",
                document.spot(&node),
                node.get("source").and_then(Node::as_text).unwrap_or("nothing to start"),
            )),
        }
    }
    Ok(found)
}

/// What the words of editors stand for in files of that scope.
fn words_of(scope: &Scope, file: &Path) -> Words {
    let text = |path: &Path| Some(path.to_string_lossy().into_owned());
    let absolute = std::path::absolute(file).ok();
    let directory = absolute.as_deref().and_then(Path::parent).and_then(text);
    match scope {
        Scope::Project(project) => Words { workspace: text(project), plugin: None, directory },
        Scope::Plugin { root, .. } => Words { workspace: None, plugin: text(root), directory },
        Scope::User | Scope::File => Words { directory, ..Words::default() },
    }
}

struct Reader<'a> {
    document: &'a Document<'a>,
    client: Client,
    dialect: &'static Dialect,
    words: &'a Words,
}

impl Reader<'_> {
    /// The entry without its name and origin; `None` if the file does not say how to start or reach the server.
    fn launch_and_rest(&self, key: &str, node: &Node) -> Result<Option<Entry>, ReadError> {
        let dialect = self.dialect;
        let mut fields = Fields::of(self.document, key.to_owned(), node, dialect.spelling, self.words)?;
        let kind = self.kind(&mut fields)?;
        let url = dialect.urls.iter().find(|(name, _)| fields.has(name)).copied();
        let launch = match (kind, url) {
            (Some(Kind::Http | Kind::Sse | Kind::Either), Some(url)) => self.http(&mut fields, kind, url)?,
            (_, Some(url)) if !fields.has("command") => self.http(&mut fields, kind, url)?,
            _ => self.stdio(&mut fields)?,
        };
        let Some(launch) = launch else { return Ok(None) };
        let mut enabled = true;
        for (name, off) in dialect.off {
            enabled &= fields.truth(name)? != Some(*off);
        }
        let timeouts = self.timeouts(&mut fields)?;
        let mut names = |name: Option<&str>| name.map_or(Ok(None), |name| fields.names(name));
        let tools = Tools { allow: names(dialect.allow)?, deny: names(dialect.deny)?.unwrap_or_default() };
        let description = dialect.description.map_or(Ok(None), |name| fields.plain(name))?.map(str::to_owned);
        for (name, value) in dialect.always {
            if node.get(name).and_then(Node::as_text) == Some(value) {
                fields.take(name);
            }
        }
        let origin = Origin {
            client: self.client,
            scope: Scope::File,
            file: self.document.file().to_owned(),
            line: 0,
            key: String::new(),
        };
        let other = fields.rest();
        Ok(Some(Entry { name: String::new(), origin, launch, enabled, timeouts, tools, description, other }))
    }

    fn kind(&self, fields: &mut Fields<'_>) -> Result<Option<Kind>, ReadError> {
        let Some(name) = self.dialect.kind else { return Ok(None) };
        let Some(node) = fields.take(name) else { return Ok(None) };
        let word = node.as_text().ok_or_else(|| fields.kind_error(name, node, "a text"))?;
        Ok(self.dialect.kinds.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind))
    }

    /// Some clients have servers of other kinds, such as those that are part of them.
    fn unknown_kind<'a>(&self, node: &'a Node) -> Option<&'a str> {
        let word = node.get(self.dialect.kind?)?.as_text()?;
        self.dialect.kinds.iter().all(|(known, _)| *known != word).then_some(word)
    }

    fn http(
        &self,
        fields: &mut Fields<'_>,
        kind: Option<Kind>,
        (name, implied): (&str, Transport),
    ) -> Result<Option<Launch>, ReadError> {
        let Some(url) = fields.text(name)? else { return Ok(None) };
        let mut headers = fields.table(self.dialect.headers)?;
        if self.client == Client::Codex {
            codex::read_headers(fields, &mut headers)?;
        }
        let transport = match kind {
            Some(Kind::Sse) => Transport::Sse,
            Some(Kind::Http) => Transport::Http,
            Some(Kind::Either) => Transport::Auto,
            Some(Kind::Stdio) | None => implied,
        };
        Ok(Some(Launch::Http { url, headers, transport }))
    }

    fn stdio(&self, fields: &mut Fields<'_>) -> Result<Option<Launch>, ReadError> {
        let mut env = Vec::new();
        let (command, mut args) = match self.dialect.command {
            CommandForm::Together => {
                let Some(mut words) = fields.texts("command")? else { return Ok(None) };
                if words.is_empty() {
                    return Ok(None);
                }
                (words.remove(0), words)
            }
            CommandForm::ApartOrTable if !fields.has("command") => return Ok(None),
            form => {
                let node = fields.take("command");
                match node {
                    None => return Ok(None),
                    Some(Node { value: Value::Text(text), .. }) => (fields.parse(text), Vec::new()),
                    Some(node @ Node { value: Value::Table(_), .. }) if form == CommandForm::ApartOrTable => {
                        let key = "command".to_owned();
                        let mut inner = Fields::of(self.document, key, node, self.dialect.spelling, self.words)?;
                        let Some(path) = inner.text("path")? else { return Ok(None) };
                        env = inner.table("env")?;
                        (path, inner.texts("args")?.unwrap_or_default())
                    }
                    Some(node) => return Err(fields.kind_error("command", node, "a text")),
                }
            }
        };
        if self.dialect.command != CommandForm::Together {
            args.extend(fields.texts("args")?.unwrap_or_default());
        }
        env.extend(fields.table(self.dialect.env)?);
        if self.client == Client::Codex {
            codex::read_variables(fields, &mut env)?;
        }
        let cwd = self.dialect.cwd.map_or(Ok(None), |name| fields.text(name))?;
        Ok(Some(Launch::Stdio { command, args, env, cwd }))
    }

    fn timeouts(&self, fields: &mut Fields<'_>) -> Result<Timeouts, ReadError> {
        let mut timeouts = Timeouts::default();
        // The second version of OpenCode's file has both in one table.
        if self.client == Client::OpenCode {
            let node = fields.take("timeout");
            match node {
                None => {}
                Some(Node { value: Value::Number(_), .. }) => timeouts.call = number(fields, "timeout", node, 0.001)?,
                Some(node) => {
                    let key = "timeout".to_owned();
                    let mut inner = Fields::of(self.document, key, node, self.dialect.spelling, self.words)?;
                    timeouts.start = inner.duration("startup", 0.001)?;
                    timeouts.call = inner.duration("request", 0.001)?;
                }
            }
            return Ok(timeouts);
        }
        let unit = |unit: Unit| if unit == Unit::Seconds { 1.0 } else { 0.001 };
        if let Some((name, of)) = self.dialect.start_timeout {
            timeouts.start = fields.duration(name, unit(of))?;
        }
        if let Some((name, of)) = self.dialect.call_timeout {
            timeouts.call = fields.duration(name, unit(of))?;
        }
        // Codex knows the same in thousandths.
        if self.client == Client::Codex && timeouts.start.is_none() {
            timeouts.start = fields.duration("startup_timeout_ms", 0.001)?;
        }
        Ok(timeouts)
    }
}

fn number(fields: &Fields<'_>, name: &str, node: Option<&Node>, unit: f64) -> Result<Option<Duration>, ReadError> {
    let Some(node @ Node { value: Value::Number(spelled), .. }) = node else { return Ok(None) };
    let seconds = spelled.parse::<f64>().ok().and_then(|count| Duration::try_from_secs_f64(count * unit).ok());
    seconds.map(Some).ok_or_else(|| fields.value_error(name, node, "is no length of time"))
}

/// What people should know about an entry's placeholders.
fn remarks(entry: &Entry) -> Vec<String> {
    let mut notes = Vec::new();
    for text in entry.launch.texts() {
        for part in &text.0 {
            let what = match part {
                Part::Literal(_) | Part::Variable { .. } => continue,
                Part::File(_) if matches!(text.0.as_slice(), [_] | [Part::Literal(_), _]) => continue,
                Part::Input(id) => format!("asks for `{id}` when it starts"),
                Part::File(path) => format!("has what is in `{path}` in the middle of a text"),
                Part::Foreign(word) => format!("uses `{word}`, which only {} can fill", entry.origin.client),
            };
            let variable = part.stand_in().unwrap_or_default();
            notes.push(format!(
                "`{}` from {} {what}: set the variable {variable} for Kennel, or name another secret",
                entry.name, entry.origin
            ));
        }
    }
    notes.dedup();
    if !entry.other.is_empty() {
        let names: Vec<String> = entry.other.iter().map(|(name, _)| format!("`{name}`")).collect();
        notes.push(format!(
            "`{}` from {} also says {}, for which Kennel has no word",
            entry.name,
            entry.origin,
            names.join(", ")
        ));
    }
    notes
}
