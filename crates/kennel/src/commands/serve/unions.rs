//! Owns what is served beside single servers: all of them as one, views, and servers whose tools are shown otherwise.

use super::fleet::Member;
use crate::commands::server::Assembled;
use kennel_config::{Config, Server, ServerName, Surface, ToolFilter, ToolRules, View, ViewName};
use kennel_hub::{Endpoint, MemberSettings, Naming, Presentation, Presented, Union, UnionSettings};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use tokio::sync::Semaphore;

/// Many servers as one, in several ways.
#[derive(Default)]
pub(super) struct Unions {
    all: Option<Made>,
    views: BTreeMap<ViewName, (Surface, Made)>,
    /// Servers some of whose tools are hidden or have other names.
    shown: BTreeMap<ServerName, Made>,
}

/// A union, and what it was made of.
struct Made {
    union: Union,
    parts: Vec<Part>,
}

/// One server of a union, as clients see it there.
#[derive(Debug, Clone)]
struct Part {
    description: Option<String>,
    served: Weak<Assembled>,
    shown: Shown,
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        self.served.ptr_eq(&other.served) && self.description == other.description && self.shown == other.shown
    }
}

impl Unions {
    /// Brings everything in line with what the file says and what serves it. What is the same as before is not touched, so
    /// its clients hear of nothing.
    pub(super) fn update(&mut self, config: &Config, members: &BTreeMap<ServerName, Member>, trials: &Arc<Semaphore>) {
        let settings =
            |naming, surface| UnionSettings { naming, surface, trials: Arc::clone(trials), ..UnionSettings::default() };
        let servers = || members.iter().filter_map(|(name, member)| Some((name, config.servers.get(name)?, member)));
        let selected = |view: &View| -> Vec<Part> {
            let selected = servers().filter(|(name, server, _)| view.selects(name, server));
            selected.filter_map(|(name, server, member)| of(name, server, member, &view.tools)).collect()
        };
        let everything = View::default();
        replace(&mut self.all, selected(&everything), || settings(Naming::Joined, kennel_hub::Surface::Full));
        self.views.retain(|name, (surface, _)| config.views.get(name).is_some_and(|view| view.surface == *surface));
        for (name, view) in &config.views {
            let mut made = self.views.remove(name).map(|(_, made)| made);
            replace(&mut made, selected(view), || settings(Naming::Joined, surface(view.surface)));
            self.views.extend(made.map(|made| (name.clone(), (view.surface, made))));
        }
        let is_shown_otherwise = |name: &ServerName| {
            config.servers.get(name).is_some_and(|server| server.tools != ToolRules::default())
                && members.contains_key(name)
        };
        self.shown.retain(|name, _| is_shown_otherwise(name));
        for (name, server, member) in servers().filter(|(name, ..)| is_shown_otherwise(name)) {
            let mut made = self.shown.remove(name);
            let alone = of(name, server, member, &ToolFilter::default()).into_iter().collect();
            replace(&mut made, alone, || settings(Naming::Own, kennel_hub::Surface::Full));
            self.shown.extend(made.map(|made| (name.clone(), made)));
        }
    }

    /// All servers as one.
    pub(super) fn all(&self) -> Option<Endpoint> {
        self.all.as_ref().map(Made::endpoint)
    }

    /// A view.
    pub(super) fn view(&self, name: &str) -> Option<Endpoint> {
        self.views.get(name).map(|(_, made)| made.endpoint())
    }

    /// A server whose tools are shown otherwise.
    pub(super) fn shown(&self, name: &str) -> Option<Endpoint> {
        self.shown.get(name).map(Made::endpoint)
    }

    /// Everything.
    pub(super) fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        let views = self.views.values().map(|(_, made)| made);
        self.all.iter().chain(views).chain(self.shown.values()).map(Made::endpoint)
    }
}

impl Made {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Union(self.union.clone())
    }
}

/// Makes a union, or makes it one of other parts if they are others.
fn replace(made: &mut Option<Made>, parts: Vec<Part>, settings: impl FnOnce() -> UnionSettings) {
    let members = || parts.iter().filter_map(Part::member).collect();
    match made {
        Some(made) if made.parts == parts => {}
        Some(made) => {
            made.union.replace(members());
            made.parts = parts;
        }
        None => *made = Some(Made { union: Union::new(settings(), members()), parts }),
    }
}

fn surface(surface: Surface) -> kennel_hub::Surface {
    match surface {
        Surface::Full => kennel_hub::Surface::Full,
        Surface::Search => kennel_hub::Surface::Search,
    }
}

/// A server as one of many, if anything serves it.
fn of(name: &ServerName, server: &Server, member: &Member, filter: &ToolFilter) -> Option<Part> {
    let served = Arc::downgrade(member.served.as_ref().ok()?);
    let shown = Shown { server: name.to_string(), rules: server.tools.clone(), filter: filter.clone() };
    Some(Part { description: server.description.clone(), served, shown })
}

impl Part {
    fn member(&self) -> Option<MemberSettings> {
        Some(MemberSettings {
            name: self.shown.server.clone(),
            description: self.description.clone(),
            hub: self.served.upgrade()?.hub.clone(),
            presentation: Arc::new(self.shown.clone()),
        })
    }
}

/// How the file says that tools are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
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
