//! Owns how an entry is said in Kennel's own file, and what a server of that file is as an entry.

use super::client::Client;
use super::document::{Node, Value};
use super::entry::{Entry, Launch, Origin, Scope, Timeouts, Tools, Transport};
use super::error::SayError;
use super::text::{Part, Spelling, Text, Unsayable};
use crate::template;
use crate::{ServerName, Template};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The table that says an entry in Kennel's file.
pub(crate) fn table_of(entry: &Entry) -> Result<Node, Unsayable> {
    let mut members: Vec<(String, Node)> = Vec::new();
    let mut put = |name: &str, node: Node| members.push((name.to_owned(), node));
    match &entry.launch {
        Launch::Stdio { command, args, env, cwd } => {
            put("command", text(command)?);
            if !args.is_empty() {
                put("args", Value::List(args.iter().map(text).collect::<Result<_, _>>()?).into());
            }
            if let Some(cwd) = directory(entry, cwd.as_ref()) {
                put("cwd", text(&cwd)?);
            }
            if !env.is_empty() {
                put("env", values(env)?);
            }
        }
        Launch::Http { url, headers, transport } => {
            put("url", text(url)?);
            match transport {
                Transport::Auto => {}
                Transport::Http => put("transport", Node::text("http")),
                Transport::Sse => put("transport", Node::text("sse")),
            }
            if !headers.is_empty() {
                put("headers", values(headers)?);
            }
        }
    }
    if !entry.enabled {
        put("enabled", Value::Bool(false).into());
    }
    if let Some(description) = &entry.description {
        put("description", Node::text(description.clone()));
    }
    let times = [("call", entry.timeouts.call), ("start", entry.timeouts.start)];
    let times = times.into_iter().filter_map(|(name, time)| Some((name.to_owned(), seconds(time?)?)));
    let times: Vec<_> = times.collect();
    if !times.is_empty() {
        put("timeouts", Value::Table(times).into());
    }
    if let Some(tools) = tools(&entry.tools) {
        put("tools", tools);
    }
    Ok(Value::Table(members).into())
}

fn text(text: &Text) -> Result<Node, Unsayable> {
    Ok(Node::text(text.spelled(Spelling::Kennel)?))
}

/// What a variable or header is set to: a text, or a reference for what is a secret elsewhere.
fn values(texts: &[(String, Text)]) -> Result<Node, Unsayable> {
    let member = |(name, value): &(String, Text)| Ok((name.clone(), reference(value).map_or_else(|| text(value), Ok)?));
    Ok(Value::Table(texts.iter().map(member).collect::<Result<_, _>>()?).into())
}

/// A secret that somebody is asked for or that a file holds, with text before it or not.
fn reference(value: &Text) -> Option<Node> {
    let (prefix, part) = match value.0.as_slice() {
        [part] => (None, part),
        [Part::Literal(prefix), part] => (Some(prefix), part),
        _ => return None,
    };
    let (key, place) = match part {
        Part::Input(_) => ("from-env", part.stand_in()?),
        Part::File(path) => ("from-file", path.replace("${", "$${")),
        Part::Literal(_) | Part::Variable { .. } | Part::Foreign(_) => return None,
    };
    let members = [(key, Some(place)), ("prefix", prefix.cloned())];
    let members = members.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Node::text(text?))));
    Some(Value::Table(members.collect()).into())
}

/// Clients start a project's servers in the project's directory, and Kennel would not know which that is.
fn directory(entry: &Entry, cwd: Option<&Text>) -> Option<Text> {
    let base = match &entry.origin.scope {
        Scope::Project(directory) => directory,
        Scope::User | Scope::Plugin { .. } | Scope::File => return cwd.cloned(),
    };
    let Some(cwd) = cwd else { return Some(path_text(base)) };
    let is_absolute = match cwd.0.first() {
        Some(Part::Literal(start)) => Path::new(start).is_absolute() || start.starts_with('~'),
        Some(_) => true,
        None => false,
    };
    if is_absolute {
        return Some(cwd.clone());
    }
    let mut whole = path_text(base).0;
    match cwd.literal().map(|relative| relative.trim_start_matches("./")) {
        Some("" | ".") => {}
        Some(relative) => return Some(path_text(&base.join(relative))),
        None => {
            whole.push(Part::Literal("/".to_owned()));
            whole.extend(cwd.0.iter().cloned());
        }
    }
    Some(Text(whole))
}

fn path_text(path: &Path) -> Text {
    Text::from(path.to_string_lossy().into_owned())
}

/// Nothing is no time that Kennel knows.
fn seconds(time: Duration) -> Option<Node> {
    let spelled = if time.subsec_nanos() == 0 { time.as_secs().to_string() } else { time.as_secs_f64().to_string() };
    (time > Duration::ZERO).then(|| Value::Number(spelled).into())
}

/// Where clients show none of the tools because none is allowed, Kennel denies all.
fn tools(tools: &Tools) -> Option<Node> {
    let allow = tools.allow.clone().unwrap_or_default();
    let is_none = tools.allow.as_ref().is_some_and(Vec::is_empty);
    let deny = if is_none { vec!["*".to_owned()] } else { tools.deny.clone() };
    let lists = [("allow", allow), ("deny", deny)].into_iter().filter(|(_, names)| !names.is_empty());
    let lists: Vec<_> = lists.map(|(name, names)| (name.to_owned(), Node::texts(names))).collect();
    (!lists.is_empty()).then(|| Value::Table(lists).into())
}

/// A server of Kennel's file as an entry. What only Kennel has (boxes, models, limits) is not in it.
pub fn entry_of(name: &ServerName, server: &crate::Server, file: &Path) -> Result<Entry, SayError> {
    let referenced = |key: &str| SayError::Reference { name: name.to_string(), key: key.to_owned() };
    let launch = match &server.launch {
        crate::Launch::Process(process) => Launch::Stdio {
            command: of_template(&process.command),
            args: process.args.iter().map(of_template).collect(),
            env: of_values(&process.env).map_err(|key| referenced(&format!("env.{key}")))?,
            cwd: process.cwd.as_ref().map(of_template),
        },
        crate::Launch::Upstream(upstream) => Launch::Http {
            url: of_template(&upstream.url),
            headers: of_values(&upstream.headers).map_err(|key| referenced(&format!("headers.{key}")))?,
            transport: match upstream.transport {
                crate::Transport::Auto => Transport::Auto,
                crate::Transport::Http => Transport::Http,
                crate::Transport::Sse => Transport::Sse,
            },
        },
    };
    let names = |patterns: &[crate::Pattern]| patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect();
    let filter = &server.tools.filter;
    Ok(Entry {
        name: name.to_string(),
        origin: Origin {
            client: Client::Common,
            scope: Scope::File,
            file: file.to_owned(),
            line: 0,
            key: format!("servers.{name}"),
        },
        launch,
        enabled: server.enabled,
        timeouts: Timeouts { start: server.timeouts.start, call: server.timeouts.call },
        tools: Tools {
            allow: if filter.allow.is_empty() { None } else { Some(names(&filter.allow)) },
            deny: names(&filter.deny),
        },
        description: server.description.clone(),
        other: Vec::new(),
    })
}

fn of_template(template: &Template) -> Text {
    let part = |part: &template::Part| match part {
        template::Part::Literal(text) => Part::Literal(text.clone()),
        template::Part::Variable { name, default } => Part::Variable { name: name.clone(), default: default.clone() },
        template::Part::Foreign(word) => Part::Foreign(format!("${{{word}}}")),
    };
    Text(template.parts().iter().map(part).collect())
}

/// The first key with a secret that no client can fetch, as the error.
fn of_values<'a>(
    values: impl IntoIterator<Item = (&'a String, &'a crate::Value)>,
) -> Result<Vec<(String, Text)>, String> {
    let text = |(name, value): (&String, &crate::Value)| match of_value(value) {
        Some(text) => Ok((name.clone(), text)),
        None => Err(name.clone()),
    };
    values.into_iter().map(text).collect()
}

fn of_value(value: &crate::Value) -> Option<Text> {
    match value {
        crate::Value::Text(template) => Some(of_template(template)),
        crate::Value::FromEnv(variable) => Some(Text::variable(variable.clone())),
        crate::Value::FromFile(path) => Some(Text(vec![Part::File(of_template(path).literal()?.to_owned())])),
        crate::Value::Prefixed { prefix, secret } => {
            let mut whole = Text::from(prefix.as_str());
            whole.0.extend(of_value(secret)?.0);
            Some(whole)
        }
        crate::Value::FromCommand(_) | crate::Value::FromKeyring { .. } => None,
    }
}

/// Where the usual file of Kennel is.
#[must_use]
pub fn usual_file() -> Option<PathBuf> {
    crate::Config::usual_file(|name| std::env::var_os(name))
}
