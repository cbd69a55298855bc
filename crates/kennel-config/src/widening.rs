//! Owns in which ways a configuration lets servers do more than another, so that a file that is not to be trusted can only
//! take away.
//!
//! Whatever is not known to take away counts as more: a server that is new or runs another command, a path, a variable, a
//! larger limit, other words for a tool.

use crate::code::CodeSettings;
use crate::config::Config;
use crate::name::ServerName;
use crate::pattern::ToolRules;
use crate::sandbox::BoxSettings;
use crate::server::{Launch, Process, Server};
use crate::template::Template;
use kennel_box::{EngineKind, Network};
use std::collections::BTreeMap;
use std::fmt;

/// One way in which a configuration lets servers do more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widening {
    /// The server, unless it is about all of them.
    pub server: Option<ServerName>,
    /// What it may do, as a phrase. No value of a variable is in it.
    pub what: String,
}

impl fmt::Display for Widening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) => write!(f, "{server}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl Widening {
    /// All that the new configuration allows and the old one does not. What needs another start of Kennel is not in it.
    #[must_use]
    pub fn between(old: &Config, new: &Config) -> Vec<Self> {
        let mut found = Vec::new();
        let moved = old.directory != new.directory;
        for (name, server) in new.enabled() {
            let whats = match old.servers.get(name).filter(|server| server.enabled) {
                None => vec![is_new(server)],
                Some(_) if moved => vec!["its relative paths start from another directory".to_owned()],
                Some(before) => of_server(before, server),
            };
            found.extend(whats.into_iter().map(|what| Self { server: Some(name.clone()), what }));
        }
        let mut add = |what: String| found.push(Self { server: None, what });
        for (name, view) in &new.views {
            if old.views.get(name) != Some(view) {
                add(format!("the view `{name}` is new or shows something else"));
            }
        }
        let without = CodeSettings { enabled: false, ..new.code.clone() };
        if old.code != new.code && new.code != without {
            add("code mode runs with other settings".to_owned());
        }
        found
    }
}

fn is_new(server: &Server) -> String {
    match &server.launch {
        Launch::Process(process) if process.sandbox.engine == EngineKind::Host => {
            "is new, and runs without a box (engine = \"host\")".to_owned()
        }
        _ => "is new".to_owned(),
    }
}

fn of_server(old: &Server, new: &Server) -> Vec<String> {
    let mut whats = Vec::new();
    let mut rest = new.clone();
    match (&old.launch, &new.launch) {
        (Launch::Process(old), Launch::Process(new)) => whats.extend(of_process(old, new)),
        (old, new) if old != new => whats.push("is reached in another way, or with other headers".to_owned()),
        _ => {}
    }
    rest.launch = old.launch.clone();
    if old.tools != new.tools && !only_denies_more(&old.tools, &new.tools) {
        whats.push("shows other tools, or in other words".to_owned());
    }
    rest.tools = old.tools.clone();
    if rest != *old {
        whats.push("has other settings (limits, timeouts, sharing, tags or description)".to_owned());
    }
    whats
}

fn only_denies_more(old: &ToolRules, new: &ToolRules) -> bool {
    let mut same = new.clone();
    same.filter.deny.clone_from(&old.filter.deny);
    same == *old && old.filter.deny.iter().all(|pattern| new.filter.deny.contains(pattern))
}

fn of_process(old: &Process, new: &Process) -> Vec<String> {
    let mut whats = Vec::new();
    let mut add = |is_so: bool, what: &str| {
        if is_so {
            whats.push(what.to_owned());
        }
    };
    add(old.command != new.command || old.args != new.args, "runs another command");
    add(old.cwd != new.cwd, "starts in another directory");
    add(new.refresh && !old.refresh, "takes up newer versions of its package");
    for (name, value) in &new.env {
        add(old.env.get(name) != Some(value), &format!("gets another value for the variable `{name}`"));
    }
    whats.extend(of_box(&old.sandbox, &new.sandbox));
    whats
}

fn of_box(old: &BoxSettings, new: &BoxSettings) -> Vec<String> {
    let mut whats = Vec::new();
    let mut add = |is_so: bool, what: String| {
        if is_so {
            whats.push(what);
        }
    };
    let unboxed = new.engine == EngineKind::Host && old.engine != EngineKind::Host;
    add(unboxed, "runs without a box (engine = \"host\")".to_owned());
    add(old.profile != new.profile, format!("has the profile `{}`", new.profile.name()));
    add(old.network != new.network && new.network != Some(Network::Off), "has another network".to_owned());
    for path in &new.write {
        add(!old.write.contains(path), format!("may write `{}`", path.written()));
    }
    for path in &new.read {
        let is_new = !old.read.contains(path) && !old.write.contains(path);
        add(is_new, format!("may read `{}`", path.written()));
    }
    add(new.infer && !old.infer, "may read what its command names".to_owned());
    let accepts = new.accept_missing.iter().any(|wall| !old.accept_missing.contains(wall));
    add(accepts, "accepts a missing wall (accept-missing)".to_owned());
    add(is_more(old.memory, new.memory), "may use more memory".to_owned());
    add(is_more(old.pids, new.pids), "may have more processes".to_owned());
    add(is_more(old.cpus, new.cpus), "may use more processors".to_owned());
    add(is_more(old.tmp_size, new.tmp_size), "may have a larger /tmp".to_owned());
    add(is_more(old.timeout, new.timeout), "may run for longer".to_owned());
    whats
}

/// Whether a limit may be larger than before; what a profile says is not known here.
fn is_more<T: PartialOrd + PartialEq>(old: Option<T>, new: Option<T>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => new > old,
        (old, new) => old != new,
    }
}

impl Config {
    /// The files that Kennel runs without a box for this configuration, as far as they are named by path: programs that
    /// print secrets, and servers with `engine = "host"`.
    #[must_use]
    pub fn unboxed_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (_, server) in self.enabled() {
            let values: &BTreeMap<_, _> = match &server.launch {
                Launch::Process(process) => {
                    if process.sandbox.engine == EngineKind::Host {
                        let named = [&process.command].into_iter().chain(&process.args);
                        words.extend(named.filter_map(Template::literal).map(str::to_owned));
                    }
                    &process.env
                }
                Launch::Upstream(upstream) => &upstream.headers,
            };
            words.extend(values.values().flat_map(|value| value.program().iter().cloned()));
        }
        words
    }
}

#[cfg(test)]
#[path = "widening_tests.rs"]
mod tests;
