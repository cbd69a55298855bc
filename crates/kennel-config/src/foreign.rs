//! Owns how the JSON in which other clients keep their servers is understood: as Kennel's own file would have said it.
//!
//! The file belongs to another program. What Kennel has no use for is left alone, and said where it could matter.

use crate::clients::{Setting, leads_to, starts_kennel, understood};
use crate::gateway::GatewaySettings;
use crate::name::names_for;
use crate::nearest::did_you_mean;
use crate::problem::{Report, join};
use crate::tree::{Content, Entry, Node, Number};

/// Keys that say something to other programs alone.
const OTHERS_AFFAIR: [&str; 22] = [
    "$schema",
    "alwaysAllow",
    "autoApprove",
    "autoStart",
    "authProviderType",
    "comment",
    "dev",
    "displayName",
    "fromGalleryId",
    "gallery",
    "icon",
    "icons",
    "id",
    "inputs",
    "isActive",
    "name",
    "notes",
    "sandboxEnabled",
    "source",
    "trust",
    "version",
    "//",
];
/// Keys of a server that Kennel takes from such a file.
const TAKEN: [&str; 20] = [
    "type",
    "transport",
    "command",
    "args",
    "env",
    "environment",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "http_headers",
    "disabled",
    "enabled",
    "description",
    "disabledTools",
    "excludeTools",
    "enabledTools",
    "includeTools",
    "kennel",
];

/// The file with Kennel's sections in it, its servers still as they are; or `None` and a problem.
pub(crate) fn with_sections(root: &Node, report: &mut Report<'_>) -> Option<Node> {
    let Some((written, at, servers)) = find_servers(root) else {
        let suggestion = "the servers stand in an object under `mcpServers`".to_owned();
        report.problem(root.at, "", "there are no servers in this file", Some(suggestion));
        return None;
    };
    let mut sections = vec![Entry { key: "servers".to_owned(), written, at, value: servers.clone() }];
    if let Some(kennel) = root.entry("kennel") {
        for entry in kennel.value.entries().iter().filter(|entry| entry.key != "servers") {
            sections.push(Entry { written: format!("kennel.{}", entry.key), ..entry.clone() });
        }
    }
    Some(Node::new(root.at, Content::Table(sections)))
}

/// The sections, with the servers as Kennel's own file would have said them.
pub(crate) fn as_own(mut root: Node, report: &mut Report<'_>) -> Node {
    let gateway = root.entry("gateway").and_then(|entry| entry.value.get("listen")).and_then(Node::text);
    let gateway = gateway.map_or_else(|| GatewaySettings::default().listen.to_string(), str::to_owned);
    if let Content::Table(sections) = &mut root.content {
        for section in sections.iter_mut().filter(|section| section.key == "servers") {
            section.value = as_own_servers(&section.value, &section.written, std::slice::from_ref(&gateway), report);
        }
    }
    root
}

/// Where the servers are: under the usual keys, or at the top of a file that has nothing but servers.
fn find_servers(root: &Node) -> Option<(String, usize, &Node)> {
    for path in [["mcpServers", ""], ["servers", ""], ["mcp", "servers"], ["mcp", "mcpServers"]] {
        let [first, second] = path;
        let Some(entry) = root.entry(first) else { continue };
        if second.is_empty() {
            return Some((first.to_owned(), entry.at, &entry.value));
        }
        if let Some(inner) = entry.value.entry(second) {
            return Some((format!("{first}.{second}"), inner.at, &inner.value));
        }
    }
    let is_server = |entry: &Entry| entry.value.get("command").is_some() || entry.value.get("url").is_some();
    let bare = !root.entries().is_empty() && root.entries().iter().all(is_server);
    bare.then(|| (String::new(), root.at, root))
}

fn as_own_servers(servers: &Node, path: &str, gateway: &[String], report: &mut Report<'_>) -> Node {
    let Content::Table(entries) = &servers.content else { return servers.clone() };
    let texts: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let named = entries.iter().zip(names_for(&texts)).map(|(entry, name)| {
        let path = join(path, &entry.key);
        if name != entry.key {
            report.warning(entry.at, &path, format!("is called `{name}` here"), None);
        }
        let value = match &entry.value.content {
            Content::Table(members) => Translation::new(&path, report).server(entry.value.at, members),
            _ => entry.value.clone(),
        };
        Entry { key: name, written: entry.key.clone(), at: entry.at, value }
    });
    let named: Vec<Entry> = named.collect();
    let (own, others): (Vec<Entry>, Vec<Entry>) = named.into_iter().partition(|entry| is_kennel(&entry.value, gateway));
    for entry in own {
        // A client that was pointed at Kennel; to serve it would be to go round in circles.
        report.warning(entry.at, &join(path, &entry.written), "is left out, because it is Kennel itself", None);
    }
    let mut taken = Vec::new();
    for mut entry in others {
        match behind_run(&entry.value) {
            Ok(Some(server)) => entry.value = server,
            Ok(None) => {}
            Err(why) => {
                report.warning(entry.at, &join(path, &entry.written), format!("is left out: {why}"), None);
                continue;
            }
        }
        taken.push(entry);
    }
    Node::new(servers.at, Content::Table(taken))
}

/// The server that an entry starts by `kennel run`, as Kennel's own file would have said it.
fn behind_run(server: &Node) -> Result<Option<Node>, String> {
    let words: Vec<&Node> =
        server.get("command").into_iter().chain(server.get("args").map(Node::items).unwrap_or_default()).collect();
    let texts: Vec<Option<&str>> = words.iter().map(|word| word.text().filter(|text| !text.contains("${"))).collect();
    let directory = server.get("cwd").and_then(Node::text);
    let Some(wrapped) = understood(&texts, directory)? else { return Ok(None) };
    let at = server.at;
    let mut entries: Vec<Entry> = server.entries().to_vec();
    let mut set = |key: &str, content: Content| {
        entries.retain(|entry| entry.key != key);
        entries.push(Entry::new(key, at, Node::new(at, content)));
    };
    set("command", words[wrapped.command].content.clone());
    set("args", Content::List(words[wrapped.command + 1..].iter().map(|word| (*word).clone()).collect()));
    let text = |text: &str| Content::Text(text.replace("${", "$${"));
    let variables = wrapped.env.iter().map(|(name, value)| {
        // What the client sets is set for Kennel, which passes on what it is told to.
        let known = || server.get("env").and_then(|env| env.get(name)).map(|value| value.content.clone());
        let passed = || Content::Table(vec![Entry::new("from-env", at, Node::new(at, Content::Text(name.clone())))]);
        let content = value.as_deref().map(text).or_else(known).unwrap_or_else(passed);
        Entry::new(name, at, Node::new(at, content))
    });
    set("env", Content::Table(variables.collect()));
    for (key, setting) in &wrapped.settings {
        let content = match setting {
            Setting::Text(value) | Setting::Item(value) => text(value),
            Setting::Boolean(value) => Content::Boolean(*value),
            Setting::Number(spelled) => Content::Number(Number {
                value: spelled.parse().unwrap_or_default(),
                whole: spelled.parse().ok(),
                spelled: spelled.clone(),
            }),
        };
        put_setting(&mut entries, at, key, content, matches!(setting, Setting::Item(_)));
    }
    Ok(Some(Node::new(at, Content::Table(entries))))
}

fn put_setting(entries: &mut Vec<Entry>, at: usize, key: &[&str], content: Content, is_item: bool) {
    let Some((name, inner)) = key.split_first() else { return };
    let known = entries.iter().position(|entry| entry.key == *name);
    let found = known.map(|found| entries.remove(found).value.content);
    let content = match (found, inner.is_empty()) {
        (found, false) => {
            let mut members = if let Some(Content::Table(members)) = found { members } else { Vec::new() };
            put_setting(&mut members, at, inner, content, is_item);
            Content::Table(members)
        }
        (Some(Content::List(mut items)), true) if is_item => {
            items.push(Node::new(at, content));
            Content::List(items)
        }
        (_, true) if is_item => Content::List(vec![Node::new(at, content)]),
        (_, true) => content,
    };
    entries.push(Entry::new(name, at, Node::new(at, content)));
}

/// Whether a server is Kennel itself.
fn is_kennel(server: &Node, gateway: &[String]) -> bool {
    let words = server.get("command").into_iter().chain(server.get("args").map(Node::items).unwrap_or_default());
    let words: Vec<&str> = words.filter_map(Node::text).collect();
    let url = server.get("url").and_then(Node::text);
    starts_kennel(&words, gateway) || url.is_some_and(|url| leads_to(url, gateway))
}

/// One server on its way into Kennel's words.
struct Translation<'a, 'b, 'c> {
    path: &'a str,
    report: &'b mut Report<'c>,
    entries: Vec<Entry>,
}

impl<'a, 'b, 'c> Translation<'a, 'b, 'c> {
    fn new(path: &'a str, report: &'b mut Report<'c>) -> Self {
        Self { path, report, entries: Vec::new() }
    }

    fn server(mut self, at: usize, members: &[Entry]) -> Node {
        for member in members {
            self.member(member);
        }
        if let Some(kennel) = members.iter().find(|member| member.key == "kennel") {
            for entry in kennel.value.entries() {
                self.put(&entry.key, Entry { written: format!("kennel.{}", entry.key), ..entry.clone() });
            }
        }
        self.drop_what_does_not_apply();
        Node::new(at, Content::Table(self.entries))
    }

    fn member(&mut self, member: &Entry) {
        let is_empty = member.value.text().is_some_and(str::is_empty);
        match member.key.as_str() {
            // Some programs write all keys, with nothing in those that they do not use.
            "command" | "url" | "serverUrl" | "httpUrl" | "cwd" | "type" | "transport" | "description" if is_empty => {}
            "type" | "transport" => self.transport(member),
            "command" if matches!(member.value.content, Content::List(_)) => self.command_line(member),
            "command" | "args" | "env" | "cwd" | "url" | "headers" | "enabled" | "description" => {
                self.put(&member.key, member.clone());
            }
            "environment" => self.put("env", member.clone()),
            "http_headers" => self.put("headers", member.clone()),
            "serverUrl" => self.put("url", member.clone()),
            "httpUrl" => {
                self.put("url", member.clone());
                self.put("transport", with_text(member, "http"));
            }
            "disabled" => match member.value.boolean() {
                Some(disabled) => {
                    let value = Node::new(member.value.at, Content::Boolean(!disabled));
                    self.put("enabled", Entry { value, ..member.clone() });
                }
                None => self.put("enabled", member.clone()),
            },
            "disabledTools" | "excludeTools" => self.put_tools("deny", member),
            "enabledTools" | "includeTools" => self.put_tools("allow", member),
            "kennel" if !matches!(member.value.content, Content::Table(_)) => {
                let said = format!("this is {}, and must be an object", member.value.what());
                self.report.problem(member.at, &join(self.path, "kennel"), said, None);
            }
            "kennel" => {}
            key if OTHERS_AFFAIR.contains(&key) => {}
            key => self.unknown(key, member),
        }
    }

    fn unknown(&mut self, key: &str, member: &Entry) {
        let suggestion = match key {
            "timeout" => Some("say it in seconds as `\"kennel\": { \"timeouts\": { \"call\": … } }`".to_owned()),
            "envFile" => Some("the variables in that file are not set; say them in `env`".to_owned()),
            _ => did_you_mean(key, TAKEN),
        };
        self.report.warning(member.at, &join(self.path, key), "is not used by Kennel", suggestion);
    }

    fn transport(&mut self, member: &Entry) {
        match member.value.text().map(|text| text.to_lowercase().replace(['-', '_'], "")).as_deref() {
            Some("http" | "streamablehttp" | "streamable") => self.put("transport", with_text(member, "http")),
            Some("sse") => self.put("transport", with_text(member, "sse")),
            Some("stdio" | "local" | "remote") => {}
            _ => {
                let suggestion = Some("there are `stdio`, `http` and `sse`".to_owned());
                self.report.problem(member.value.at, &join(self.path, &member.key), "is not known here", suggestion);
            }
        }
    }

    /// A command with its arguments in one list.
    fn command_line(&mut self, member: &Entry) {
        let Some((program, args)) = member.value.items().split_first() else {
            return self.put("command", with_text(member, ""));
        };
        self.put("command", Entry { value: program.clone(), ..member.clone() });
        let args = Node::new(member.value.at, Content::List(args.to_vec()));
        self.put("args", Entry { value: args, ..member.clone() });
    }

    fn put_tools(&mut self, key: &str, member: &Entry) {
        if !self.entries.iter().any(|entry| entry.key == "tools") {
            let none = Node::new(member.at, Content::Table(Vec::new()));
            self.entries.push(Entry::new("tools", member.at, none));
        }
        let entry = Entry { key: key.to_owned(), written: member.key.clone(), ..member.clone() };
        for tools in self.entries.iter_mut().filter(|entry| entry.key == "tools") {
            if let Content::Table(members) = &mut tools.value.content {
                members.push(entry.clone());
            }
        }
    }

    /// The later one counts: what is said to Kennel comes last.
    fn put(&mut self, key: &str, entry: Entry) {
        self.entries.retain(|known| known.key != key);
        self.entries.push(Entry { key: key.to_owned(), ..entry });
    }

    /// Other programs are not strict about keys that do nothing.
    fn drop_what_does_not_apply(&mut self) {
        let has = |key: &str| self.entries.iter().any(|entry| entry.key == key);
        let unfit: &[&str] = match (has("command"), has("url")) {
            (true, false) => &["headers", "transport"],
            (false, true) => &["args", "env", "cwd"],
            (true, true) | (false, false) => &[],
        };
        let unfit: Vec<Entry> = self.entries.extract_if(.., |entry| unfit.contains(&entry.key.as_str())).collect();
        for entry in unfit {
            if !entry.value.entries().is_empty() || !entry.value.items().is_empty() || entry.key == "cwd" {
                let said = "does nothing for a server of this kind";
                self.report.warning(entry.at, &join(self.path, &entry.written), said, None);
            }
        }
    }
}

fn with_text(entry: &Entry, text: &str) -> Entry {
    Entry { value: Node::new(entry.value.at, Content::Text(text.to_owned())), ..entry.clone() }
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
