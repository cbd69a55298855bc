//! Owns what is served beside single servers: all of them as one, views, and servers whose tools are shown otherwise.

use super::fleet::Member;
use kennel_config::{Config, Server, ServerName, Surface, ToolFilter, ToolRules, View, ViewName};
use kennel_hub::{Endpoint, MemberSettings, Naming, Presentation, Presented, Union, UnionSettings};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Many servers as one, in several ways.
#[derive(Default)]
pub(super) struct Unions {
    all: Option<Union>,
    views: BTreeMap<ViewName, (Surface, Union)>,
    /// Servers some of whose tools are hidden or have other names.
    shown: BTreeMap<ServerName, Union>,
}

impl Unions {
    /// Brings everything in line with what the file says and what serves it.
    pub(super) fn update(&mut self, config: &Config, members: &BTreeMap<ServerName, Member>, trials: &Arc<Semaphore>) {
        let settings =
            |naming, surface| UnionSettings { naming, surface, trials: Arc::clone(trials), ..UnionSettings::default() };
        let servers = || members.iter().filter_map(|(name, member)| Some((name, config.servers.get(name)?, member)));
        let selected = |view: &View| -> Vec<MemberSettings> {
            let selected = servers().filter(|(name, server, _)| view.selects(name, server));
            selected.filter_map(|(name, server, member)| of(name, server, member, &view.tools)).collect()
        };
        let everything = View::default();
        replace(&mut self.all, selected(&everything), || settings(Naming::Joined, kennel_hub::Surface::Full));
        self.views.retain(|name, (surface, _)| config.views.get(name).is_some_and(|view| view.surface == *surface));
        for (name, view) in &config.views {
            let mut union = self.views.remove(name).map(|(_, union)| union);
            replace(&mut union, selected(view), || settings(Naming::Joined, surface(view.surface)));
            self.views.extend(union.map(|union| (name.clone(), (view.surface, union))));
        }
        let is_shown_otherwise = |name: &ServerName| {
            config.servers.get(name).is_some_and(|server| server.tools != ToolRules::default())
                && members.contains_key(name)
        };
        self.shown.retain(|name, _| is_shown_otherwise(name));
        for (name, server, member) in servers().filter(|(name, ..)| is_shown_otherwise(name)) {
            let mut union = self.shown.remove(name);
            let alone = of(name, server, member, &ToolFilter::default()).into_iter().collect();
            replace(&mut union, alone, || settings(Naming::Own, kennel_hub::Surface::Full));
            self.shown.extend(union.map(|union| (name.clone(), union)));
        }
    }

    /// All servers as one.
    pub(super) fn all(&self) -> Option<Endpoint> {
        self.all.clone().map(Endpoint::Union)
    }

    /// A view.
    pub(super) fn view(&self, name: &str) -> Option<Endpoint> {
        self.views.get(name).map(|(_, union)| Endpoint::Union(union.clone()))
    }

    /// A server whose tools are shown otherwise.
    pub(super) fn shown(&self, name: &str) -> Option<Endpoint> {
        self.shown.get(name).map(|union| Endpoint::Union(union.clone()))
    }

    /// Everything.
    pub(super) fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        let views = self.views.values().map(|(_, union)| union);
        self.all.iter().chain(views).chain(self.shown.values()).cloned().map(Endpoint::Union)
    }
}

fn replace(union: &mut Option<Union>, members: Vec<MemberSettings>, settings: impl FnOnce() -> UnionSettings) {
    match union {
        Some(union) => union.replace(members),
        None => *union = Some(Union::new(settings(), members)),
    }
}

fn surface(surface: Surface) -> kennel_hub::Surface {
    match surface {
        Surface::Full => kennel_hub::Surface::Full,
        Surface::Search => kennel_hub::Surface::Search,
    }
}

/// A server as one of many, if anything serves it.
fn of(name: &ServerName, server: &Server, member: &Member, filter: &ToolFilter) -> Option<MemberSettings> {
    let assembled = member.served.as_ref().ok()?;
    let presentation = Shown { server: name.to_string(), rules: server.tools.clone(), filter: filter.clone() };
    Some(MemberSettings {
        name: name.to_string(),
        description: server.description.clone(),
        hub: assembled.hub.clone(),
        presentation: Arc::new(presentation),
    })
}

/// How the file says that tools are shown.
#[derive(Debug)]
struct Shown {
    server: String,
    rules: ToolRules,
    /// What the view says besides.
    filter: ToolFilter,
}

impl Shown {
    fn is_in_view(&self, own: &str, shown: &str) -> bool {
        let joined = |name: &str| format!("{}__{name}", self.server);
        self.filter.shows(&[own, shown, &joined(own), &joined(shown)])
    }
}

impl Presentation for Shown {
    fn tool(&self, own: &str) -> Option<Presented> {
        let name = self.rules.shown(own).filter(|shown| self.is_in_view(own, shown))?;
        Some(Presented { name: name.to_owned(), description: self.rules.descriptions.get(own).cloned() })
    }

    fn original(&self, shown: &str) -> Option<String> {
        let own = self.rules.original(shown).filter(|own| self.is_in_view(own, shown))?;
        Some(own.to_owned())
    }
}

#[cfg(test)]
#[path = "unions_tests.rs"]
mod tests;
