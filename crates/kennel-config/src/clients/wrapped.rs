//! Owns what an entry `kennel run FLAGS -- COMMAND` means: a server of its own, in a box, and not Kennel itself.

use super::document::{Node, Value};
use super::entry::{Entry, Launch};
use super::text::Text;
use std::path::Path;

/// What a flag says, in Kennel's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    Text(String),
    /// One of a list.
    Item(String),
    Number(String),
    Boolean(bool),
}

/// A command line of `kennel run`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrapped {
    /// Where the server's own command begins.
    pub(crate) command: usize,
    /// Keys below the server's, outer before inner, and what each is set to.
    pub(crate) settings: Vec<(&'static [&'static str], Setting)>,
    /// Variables with their values; those that are passed on have none.
    pub(crate) env: Vec<(String, Option<String>)>,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Path,
    Paths,
    Items,
    Number,
    On(bool),
    /// It matters to a gateway of its own only: how many words follow.
    Nothing(usize),
}

const FLAGS: [(&str, &[&str], Kind); 31] = [
    ("--read", &["box", "read"], Kind::Paths),
    ("--write", &["box", "write"], Kind::Paths),
    ("--network", &["box", "network"], Kind::Text),
    ("--memory", &["box", "memory"], Kind::Text),
    ("--pids", &["box", "pids"], Kind::Number),
    ("--cpus", &["box", "cpus"], Kind::Number),
    ("--tmp-size", &["box", "tmp-size"], Kind::Text),
    ("--timeout", &["box", "timeout"], Kind::Number),
    ("--profile", &["box", "profile"], Kind::Text),
    ("--no-infer", &["box", "infer"], Kind::On(false)),
    ("--cwd", &["cwd"], Kind::Path),
    ("--model", &["model"], Kind::Text),
    ("--era", &["era"], Kind::Text),
    ("--concurrency", &["concurrency"], Kind::Number),
    ("--max-message", &["max-message"], Kind::Text),
    ("--max-result", &["max-result"], Kind::Text),
    ("--max-processes", &["max-processes"], Kind::Number),
    ("--idle-stop", &["idle-stop"], Kind::Number),
    ("--restarts", &["restarts"], Kind::Number),
    ("--restart-delay", &["restart-delay"], Kind::Number),
    ("--call-timeout", &["timeouts", "call"], Kind::Number),
    ("--require-tool", &["require-tools"], Kind::Items),
    ("--refresh", &["refresh"], Kind::On(true)),
    ("--stdio", &[], Kind::Nothing(0)),
    ("--json", &[], Kind::Nothing(0)),
    ("--name", &[], Kind::Nothing(1)),
    ("--data", &[], Kind::Nothing(1)),
    ("--listen", &[], Kind::Nothing(1)),
    ("--allow-host", &[], Kind::Nothing(1)),
    ("--allow-origin", &[], Kind::Nothing(1)),
    ("--session-idle", &[], Kind::Nothing(1)),
];

/// Whether a word is the name or path of Kennel's program.
pub(crate) fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name) == "kennel"
}

/// Understands a command line, whose words are `None` where they have placeholders; nothing where it is no `kennel run`.
/// Relative paths start from a directory, if that is known. Otherwise the reason why it cannot be understood.
pub(crate) fn understood(words: &[Option<&str>], directory: Option<&str>) -> Result<Option<Wrapped>, String> {
    let starts = |pair: &[Option<&str>]| pair[0].is_some_and(is_program) && pair[1] == Some("run");
    match words.windows(2).position(starts) {
        None => return Ok(None),
        Some(0) => {}
        Some(_) => return Err("it starts `kennel run` by another program; name the server's own command".to_owned()),
    }
    let mut wrapped = Wrapped { command: 0, settings: Vec::new(), env: Vec::new() };
    let mut at = 2;
    loop {
        let Some(word) = words.get(at) else {
            return Err("it is `kennel run` without a command".to_owned());
        };
        let Some(word) = word else { return Err("a flag of its `kennel run` has a placeholder in it".to_owned()) };
        // The server's own command begins with the first word that is no flag.
        if !word.starts_with('-') {
            break;
        }
        at += 1;
        if *word == "--" {
            break;
        }
        let (flag, attached) = word.split_once('=').map_or((*word, None), |(flag, value)| (flag, Some(value)));
        let mut value = || {
            if let Some(value) = attached {
                return Ok(value.to_owned());
            }
            at += 1;
            let next = words.get(at - 1).copied().flatten();
            next.map(str::to_owned).ok_or_else(|| format!("`{flag}` of its `kennel run` has no value"))
        };
        if flag == "--env" {
            let value = value()?;
            let (name, value) =
                value.split_once('=').map_or((value.as_str(), None), |(name, value)| (name, Some(value)));
            wrapped.env.push((name.to_owned(), value.map(str::to_owned)));
            continue;
        }
        if flag == "--engine" && value()? == "native" {
            continue;
        }
        let Some((_, key, kind)) = FLAGS.iter().find(|(known, ..)| *known == flag) else {
            return Err(format!("its `kennel run` has `{flag}`, which is not taken over; add it to the file by hand"));
        };
        let setting = match kind {
            Kind::Text => Setting::Text(value()?),
            Kind::Path => Setting::Text(path(&value()?, flag, directory)?),
            Kind::Paths => Setting::Item(path(&value()?, flag, directory)?),
            Kind::Items => Setting::Item(value()?),
            Kind::Number => {
                let value = value()?;
                let is_number = value.parse::<f64>().is_ok_and(f64::is_finite);
                Setting::Number(Some(value).filter(|_| is_number).ok_or_else(|| format!("`{flag}` is no number"))?)
            }
            Kind::On(value) => Setting::Boolean(*value),
            Kind::Nothing(0) => continue,
            Kind::Nothing(_) => {
                value()?;
                continue;
            }
        };
        wrapped.settings.push((*key, setting));
    }
    wrapped.command = at;
    if at == words.len() {
        return Err("it is `kennel run` without a command".to_owned());
    }
    Ok(Some(wrapped))
}

fn path(path: &str, flag: &str, directory: Option<&str>) -> Result<String, String> {
    if path.starts_with(['/', '~']) {
        return Ok(path.to_owned());
    }
    match directory.filter(|directory| directory.starts_with('/')) {
        Some(directory) => Ok(Path::new(directory).join(path).to_string_lossy().into_owned()),
        None => Err(format!("`{flag} {path}` of its `kennel run` starts from a directory that only its client knows")),
    }
}

/// Keys of a server in Kennel's file.
type Keys = Vec<(String, Node)>;

/// The server behind an entry `kennel run`, and what Kennel's file says beside it.
pub(crate) fn unwrapped(entry: &Entry) -> Result<Option<(Entry, Keys)>, String> {
    let Launch::Stdio { command, args, env, cwd } = &entry.launch else { return Ok(None) };
    let texts: Vec<&Text> = [command].into_iter().chain(args).collect();
    let words: Vec<Option<&str>> = texts.iter().map(|text| text.literal()).collect();
    let directory = match (&entry.origin.scope, cwd) {
        (_, Some(cwd)) => cwd.literal().map(str::to_owned),
        (super::entry::Scope::Project(directory), None) => Some(directory.to_string_lossy().into_owned()),
        _ => None,
    };
    let Some(wrapped) = understood(&words, directory.as_deref())? else { return Ok(None) };
    let own = wrapped.env.iter().map(|(name, value)| {
        // What the client sets is set for Kennel, which passes on what it is told to.
        let known = || env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let value = value.as_deref().map(Text::from).or_else(known).unwrap_or_else(|| Text::variable(name.clone()));
        (name.clone(), value)
    });
    let launch = Launch::Stdio {
        command: texts[wrapped.command].clone(),
        args: texts[wrapped.command + 1..].iter().map(|text| (*text).clone()).collect(),
        env: own.collect(),
        cwd: if wrapped.settings.iter().any(|(key, _)| *key == ["cwd"]) { None } else { cwd.clone() },
    };
    let mut more = Keys::new();
    for (key, setting) in &wrapped.settings {
        put(&mut more, key, setting);
    }
    Ok(Some((Entry { launch, ..entry.clone() }, more)))
}

fn put(members: &mut Vec<(String, Node)>, key: &[&str], setting: &Setting) {
    let Some((name, inner)) = key.split_first() else { return };
    let at = members.iter().position(|(known, _)| known == name);
    if !inner.is_empty() {
        let at = at.unwrap_or_else(|| {
            members.push(((*name).to_owned(), Value::Table(Vec::new()).into()));
            members.len() - 1
        });
        if let Value::Table(members) = &mut members[at].1.value {
            put(members, inner, setting);
        }
        return;
    }
    let node = match setting {
        Setting::Text(text) => Node::text(text.replace("${", "$${")),
        Setting::Number(number) => Value::Number(number.clone()).into(),
        Setting::Boolean(boolean) => Value::Bool(*boolean).into(),
        Setting::Item(text) => {
            let item = Node::text(text.replace("${", "$${"));
            if let Some((_, node)) = at.map(|at| &mut members[at]) {
                if let Value::List(items) = &mut node.value {
                    items.push(item);
                }
                return;
            }
            Value::List(vec![item]).into()
        }
    };
    // The last one counts, as on a command line.
    members.retain(|(known, _)| known != name);
    members.push(((*name).to_owned(), node));
}

#[cfg(test)]
#[path = "wrapped_tests.rs"]
mod tests;
