//! Owns how an entry is said in a client's words, and what of it the client has no words for.

use super::client::Client;
use super::codex;
use super::dialect::{CommandForm, Dialect, Kind, Switch, Unit, WritesKind};
use super::document::{Node, Value};
use super::edit::Change;
use super::entry::{Entry, Launch, Transport};
use super::error::SayError;
use super::text::{Part, Text};
use std::time::Duration;

/// What a client is told of a server.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) changes: Vec<Change>,
    /// What the client has no words for, as sentences.
    pub(crate) notes: Vec<String>,
}

/// Says an entry in a client's words. `path` is where the list is.
pub(crate) fn say(entry: &Entry, client: Client, path: &'static [&'static str]) -> Result<Said, SayError> {
    let dialect = client.dialect();
    let is_second = client == Client::OpenCode && path.len() == 2;
    let mut writer = Writer { entry, client, dialect, is_second, members: Vec::new(), notes: Vec::new() };
    writer.launch()?;
    let mut further = Vec::new();
    if !entry.enabled {
        match dialect.switch {
            Switch::None => return Err(SayError::Off { name: entry.name.clone(), client }),
            Switch::Key if is_second => writer.put("disabled", Value::Bool(true)),
            Switch::Key => {
                let (name, off) = dialect.off.first().copied().unwrap_or(("disabled", true));
                writer.put(name, Value::Bool(off));
            }
            Switch::List(list) => further.push(Change::Append { list, item: Node::text(entry.name.clone()) }),
        }
    }
    writer.timeouts();
    writer.tools_and_description();
    writer.other();
    if client == Client::VsCode {
        further.extend(questions(entry, path));
    }
    let mut changes = vec![Change::Put { path, name: entry.name.clone(), value: Value::Table(writer.members).into() }];
    changes.extend(further);
    Ok(Said { changes, notes: writer.notes })
}

/// VS Code wants every question to be declared.
fn questions(entry: &Entry, path: &'static [&'static str]) -> Vec<Change> {
    let list: &[&str] = if path.len() == 2 { &["mcp", "inputs"] } else { &["inputs"] };
    let question = |id: &str| {
        let members = [
            ("type", Value::Text("promptString".to_owned())),
            ("id", Value::Text(id.to_owned())),
            ("description", Value::Text(format!("{id} for {}", entry.name))),
            ("password", Value::Bool(true)),
        ];
        Value::Table(members.map(|(name, value)| (name.to_owned(), value.into())).into()).into()
    };
    let ids = entry.launch.texts().into_iter().flat_map(|text| &text.0);
    let ids = ids.filter_map(|part| if let Part::Input(id) = part { Some(id) } else { None });
    ids.map(|id| Change::AppendNamed { list, key: "id", item: question(id) }).collect()
}

struct Writer<'a> {
    entry: &'a Entry,
    client: Client,
    dialect: &'static Dialect,
    /// Whether it is `OpenCode`'s file of the second version.
    is_second: bool,
    members: Vec<(String, Node)>,
    notes: Vec<String>,
}

impl Writer<'_> {
    fn put(&mut self, name: &str, value: impl Into<Node>) {
        self.members.push((name.to_owned(), value.into()));
    }

    /// Leaves out what the client has no words for.
    fn leave_out(&mut self, what: &str) {
        self.notes.push(format!("{} has no word for {what} of `{}`, so it is left out", self.client, self.entry.name));
    }

    fn spelled(&self, key: &str, text: &Text) -> Result<String, SayError> {
        text.spelled(self.dialect.spelling).map_err(|unsayable| SayError::Placeholder {
            name: self.entry.name.clone(),
            client: self.client,
            key: key.to_owned(),
            placeholder: unsayable.to_string(),
        })
    }

    fn table(&self, key: &str, texts: &[(String, Text)]) -> Result<Node, SayError> {
        let member = |(name, text): &(String, Text)| {
            Ok((name.clone(), Node::text(self.spelled(&format!("{key}.{name}"), text)?)))
        };
        Ok(Value::Table(texts.iter().map(member).collect::<Result<_, _>>()?).into())
    }

    fn put_table(&mut self, key: &str, texts: &[(String, Text)]) -> Result<(), SayError> {
        if !texts.is_empty() {
            let table = self.table(key, texts)?;
            self.put(key, table);
        }
        Ok(())
    }

    fn kind(&mut self, wanted: Kind) {
        let word = self.dialect.kinds.iter().find(|(_, kind)| *kind == wanted);
        let word = word.or_else(|| self.dialect.kinds.iter().find(|(_, kind)| *kind == Kind::Either));
        if let (Some(key), Some((word, _))) = (self.dialect.kind, word) {
            self.put(key, Node::text(*word));
        }
    }

    fn launch(&mut self) -> Result<(), SayError> {
        let (dialect, entry) = (self.dialect, self.entry);
        for (name, value) in dialect.always {
            // An entry that came with another value of its own keeps that.
            if entry.other.iter().all(|(other, _)| other != name) {
                self.put(name, Node::text(*value));
            }
        }
        match &entry.launch {
            Launch::Stdio { command, args, env, cwd } => {
                if dialect.writes_kind == WritesKind::Always {
                    self.kind(Kind::Stdio);
                }
                let command = self.spelled("command", command)?;
                let args = args.iter().map(|text| self.spelled("args", text)).collect::<Result<Vec<_>, _>>()?;
                if dialect.command == CommandForm::Together {
                    self.put("command", Node::texts([command].into_iter().chain(args)));
                } else {
                    self.put("command", Node::text(command));
                    if !args.is_empty() || dialect.command == CommandForm::ApartOrTable {
                        self.put("args", Node::texts(args));
                    }
                }
                self.env(env)?;
                match (cwd, dialect.cwd.filter(|_| self.takes_directory())) {
                    (Some(cwd), Some(key)) => {
                        let cwd = self.spelled(key, cwd)?;
                        self.put(key, Node::text(cwd));
                    }
                    (Some(_), None) => self.leave_out("the working directory"),
                    (None, _) => {}
                }
            }
            Launch::Http { url, headers, transport } => {
                self.address(*transport, url)?;
                self.headers(headers)?;
            }
        }
        Ok(())
    }

    /// The first version of `OpenCode`'s file may refuse a key that it does not know, and with it the whole file.
    fn takes_directory(&self) -> bool {
        self.client != Client::OpenCode || self.is_second || self.entry.origin.client == Client::OpenCode
    }

    fn address(&mut self, transport: Transport, url: &Text) -> Result<(), SayError> {
        let dialect = self.dialect;
        let meaning = |wanted: Transport| dialect.urls.iter().find(|(_, implied)| *implied == wanted);
        let named = meaning(transport).or_else(|| meaning(Transport::Auto)).or(dialect.urls.first());
        let Some((key, implied)) = named else {
            return Err(SayError::Address { name: self.entry.name.clone(), client: self.client });
        };
        if dialect.kind.is_none() && transport == Transport::Sse {
            return Err(SayError::Transport { name: self.entry.name.clone(), client: self.client });
        }
        if dialect.writes_kind != WritesKind::WhereNeeded || *implied != transport {
            self.kind(match transport {
                Transport::Auto | Transport::Http => Kind::Http,
                Transport::Sse => Kind::Sse,
            });
        }
        let url = self.spelled(key, url)?;
        self.put(key, Node::text(url));
        Ok(())
    }

    fn env(&mut self, env: &[(String, Text)]) -> Result<(), SayError> {
        if self.client != Client::Codex {
            return self.put_table(self.dialect.env, env);
        }
        let (set, passed) = codex::split_env(env);
        self.put_table(self.dialect.env, &set)?;
        self.members.extend(passed);
        Ok(())
    }

    fn headers(&mut self, headers: &[(String, Text)]) -> Result<(), SayError> {
        if self.client != Client::Codex {
            return self.put_table(self.dialect.headers, headers);
        }
        let (set, named) = codex::split_headers(headers);
        self.put_table(self.dialect.headers, &set)?;
        self.members.extend(named);
        Ok(())
    }

    fn timeouts(&mut self) {
        let (start, call) = (self.entry.timeouts.start, self.entry.timeouts.call);
        if self.is_second {
            let members = [("startup", start), ("request", call)];
            let members = members
                .into_iter()
                .filter_map(|(name, time)| Some((name.to_owned(), Node::from(number(time?, Unit::Milliseconds)))));
            let members: Vec<_> = members.collect();
            if !members.is_empty() {
                self.put("timeout", Value::Table(members));
            }
            return;
        }
        let dialect = self.dialect;
        for (time, key, what) in
            [(start, dialect.start_timeout, "the time to start"), (call, dialect.call_timeout, "the time of calls")]
        {
            match (time, key) {
                (Some(time), Some((key, unit))) => self.put(key, number(time, unit)),
                (Some(_), None) => self.leave_out(what),
                (None, _) => {}
            }
        }
    }

    fn tools_and_description(&mut self) {
        let (entry, dialect) = (self.entry, self.dialect);
        match (&entry.tools.allow, dialect.allow) {
            (Some(names), Some(key)) => self.put(key, Node::texts(names.clone())),
            (Some(_), None) => self.leave_out("the choice of tools"),
            (None, _) => {}
        }
        match dialect.deny {
            Some(key) if !entry.tools.deny.is_empty() => self.put(key, Node::texts(entry.tools.deny.clone())),
            None if !entry.tools.deny.is_empty() => self.leave_out("the tools that are not wanted"),
            _ => {}
        }
        match (&entry.description, dialect.description) {
            (Some(text), Some(key)) => self.put(key, Node::text(text.clone())),
            (Some(_), None) => self.leave_out("the description"),
            (None, _) => {}
        }
    }

    /// What only the client itself understands goes back to no other.
    fn other(&mut self) {
        if self.entry.origin.client == self.client {
            self.members.extend(self.entry.other.iter().cloned());
        } else {
            for (name, _) in &self.entry.other {
                self.leave_out(&format!("`{name}`"));
            }
        }
    }
}

/// A length of time, exactly.
fn number(time: Duration, unit: Unit) -> Value {
    let (of_unit, digits) = match unit {
        Unit::Seconds => (1_000_000_000, 9),
        Unit::Milliseconds => (1_000_000, 6),
    };
    let (whole, rest) = (time.as_nanos() / of_unit, time.as_nanos() % of_unit);
    let spelled = if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:0digits$}") };
    Value::Number(if rest == 0 { spelled } else { spelled.trim_end_matches('0').to_owned() })
}
