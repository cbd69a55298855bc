//! Owns what is served beside single servers: all of them as one, views, and servers whose tools are shown otherwise.

use super::coded::Coded;
use super::fleet::Member;
use super::shown::Shown;
use crate::commands::coding::{Coding, NAME};
use crate::commands::server::Assembled;
use kennel_config::{Config, Server, ServerName, Surface, ToolFilter, ToolRules, View, ViewName};
use kennel_hub::{Endpoint, Hub, MemberSettings, Naming, Union, UnionSettings};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use tokio::sync::Semaphore;

/// Many servers as one, in several ways.
#[derive(Default)]
pub(super) struct Unions {
    all: Option<Made>,
    /// Code over all servers.
    code: Option<Arc<Coded>>,
    views: BTreeMap<ViewName, ShownView>,
    /// What stands before servers some of whose tools are hidden or have other names, at their own addresses.
    shown: BTreeMap<ServerName, Made>,
}

/// What a view shows.
#[derive(Default)]
struct ShownView {
    surface: Surface,
    /// Its tools; nothing where it shows code alone.
    made: Option<Made>,
    /// The servers that code sees, and that code.
    servers: Option<Made>,
    code: Option<Arc<Coded>>,
}

/// A union, and what it was made of.
struct Made {
    union: Union,
    parts: Vec<Part>,
}

/// One part of a union, as clients see it there.
#[derive(Clone)]
enum Part {
    /// A server.
    Server { description: Option<String>, served: Weak<Assembled>, shown: Shown },
    /// Code that calls the others.
    Code(Arc<Coded>),
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Server { description, served, shown },
                Self::Server { description: other_description, served: other_served, shown: other_shown },
            ) => served.ptr_eq(other_served) && description == other_description && shown == other_shown,
            (Self::Code(code), Self::Code(other)) => Arc::ptr_eq(code, other),
            _ => false,
        }
    }
}

/// What unions are made of.
pub(super) struct Served<'a> {
    pub(super) config: &'a Config,
    pub(super) members: &'a BTreeMap<ServerName, Member>,
    pub(super) coding: Option<&'a Arc<Coding>>,
    pub(super) trials: &'a Arc<Semaphore>,
}

impl Served<'_> {
    fn settings(&self, naming: Naming, surface: kennel_hub::Surface) -> UnionSettings {
        UnionSettings { naming, surface, trials: Arc::clone(self.trials), ..UnionSettings::default() }
    }

    fn servers(&self) -> impl Iterator<Item = (&ServerName, &Server, &Member)> {
        self.members.iter().filter_map(|(name, member)| Some((name, self.config.servers.get(name)?, member)))
    }

    fn selected(&self, view: &View) -> Vec<Part> {
        let selected = self.servers().filter(|(name, server, _)| view.selects(name, server));
        selected.filter_map(|(name, server, member)| of(name, server, member, &view.tools)).collect()
    }
}

impl Unions {
    /// Brings everything in line with what the file says and what serves it. What is the same as before is not touched, so
    /// its clients hear of nothing. Returns the hubs that serve no longer.
    pub(super) fn update(&mut self, served: &Served<'_>) -> Vec<Hub> {
        let mut retired = Vec::new();
        let full = || served.settings(Naming::Joined, kennel_hub::Surface::Full);
        replace(&mut self.all, served.selected(&View::default()), full);
        let coding = served.coding.filter(|_| !served.config.servers.contains_key(NAME));
        self.code = Coded::renewed(self.code.take(), coding, None, &mut retired, |coding| {
            Coded::new(coding, None, &self.all.as_ref()?.union, None)
        });
        let mut before = std::mem::take(&mut self.views);
        for (name, view) in &served.config.views {
            let former = before.remove(name).unwrap_or_default();
            self.views.insert(name.clone(), former.updated(name, view, served, &mut retired));
        }
        retired.extend(before.into_values().filter_map(ShownView::end));
        let is_shown_otherwise = |name: &ServerName| {
            served.config.servers.get(name).is_some_and(|server| server.tools != ToolRules::default())
                && served.members.contains_key(name)
        };
        for (name, server, member) in served.servers().filter(|(name, ..)| is_shown_otherwise(name)) {
            let mut made = self.shown.remove(name);
            let alone = of(name, server, member, &ToolFilter::default()).into_iter().collect();
            let is_new = replace(&mut made, alone, || served.settings(Naming::Own, kennel_hub::Surface::Full));
            if let (true, Ok(assembled), Some(made)) = (is_new, &member.served, &made) {
                assembled.hub.show_through(Some(&made.union));
                assembled.hub.tools_changed();
            }
            self.shown.extend(made.map(|made| (name.clone(), made)));
        }
        // Only when nothing leads there any more is a union dropped.
        for (name, ..) in self.shown.extract_if(.., |name, _| !is_shown_otherwise(name)) {
            if let Some(Ok(assembled)) = served.members.get(&name).map(|member| &member.served) {
                assembled.hub.show_through(None);
                assembled.hub.tools_changed();
            }
        }
        retired
    }

    /// All servers as one.
    pub(super) fn all(&self) -> Option<Endpoint> {
        self.all.as_ref().map(Made::endpoint)
    }

    /// Code over all servers.
    pub(super) fn code(&self) -> Option<Endpoint> {
        self.code.as_ref().map(|code| code.endpoint())
    }

    /// A view.
    pub(super) fn view(&self, name: &str) -> Option<Endpoint> {
        let view = self.views.get(name)?;
        view.made.as_ref().map(Made::endpoint).or_else(|| view.code.as_ref().map(|code| code.endpoint()))
    }

    /// Everything.
    pub(super) fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        let views = self.views.values().filter_map(|view| view.made.as_ref());
        let unions = self.all.iter().chain(views).map(Made::endpoint);
        unions.chain(self.hubs().map(Endpoint::Server))
    }

    /// The hubs that belong to unions alone.
    pub(super) fn hubs(&self) -> impl Iterator<Item = Hub> {
        let views = self.views.values().filter_map(|view| view.code.as_ref());
        self.code.iter().chain(views).map(|code| code.hub.clone())
    }
}

impl ShownView {
    /// The same as the file says it now.
    fn updated(self, name: &ViewName, view: &View, served: &Served<'_>, retired: &mut Vec<Hub>) -> Self {
        let Self { surface: former, mut made, mut servers, code } = self;
        let settings = |surface| served.settings(Naming::Joined, surface);
        let mut parts = served.selected(view);
        let coding = served.coding.filter(|_| view.code || view.surface == Surface::Code);
        if coding.is_some() {
            replace(&mut servers, parts.clone(), || settings(kennel_hub::Surface::Full));
        } else {
            servers.take().iter().for_each(Made::empty);
        }
        let code = Coded::renewed(code, coding, view.approve, retired, |coding| {
            Coded::new(coding, Some(name), &servers.as_ref()?.union, view.approve)
        });
        let surface = match view.surface {
            Surface::Full => Some(kennel_hub::Surface::Full),
            Surface::Search => Some(kennel_hub::Surface::Search),
            Surface::Code => None,
        };
        match surface {
            Some(surface) => {
                parts.extend(code.clone().map(Part::Code));
                if let Some(made) = made.as_mut().filter(|_| former != view.surface) {
                    // Sessions that are open see it, too.
                    made.union.show(surface);
                    made.parts.clear();
                }
                replace(&mut made, parts, || settings(surface));
            }
            None => made.take().iter().for_each(Made::empty),
        }
        Self { surface: view.surface, made, servers, code }
    }

    /// Leaves nothing to the sessions that are open here. Returns the hub that serves no longer.
    fn end(self) -> Option<Hub> {
        self.made.iter().chain(&self.servers).for_each(Made::empty);
        self.code.map(|code| code.hub.clone())
    }
}

impl Made {
    /// Has those who still know it see nothing: doors keep what they once found at an address.
    fn empty(&self) {
        self.union.replace(Vec::new());
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::Union(self.union.clone())
    }
}

/// Makes a union, or makes it one of other parts if they are others. Says whether anything was done.
fn replace(made: &mut Option<Made>, parts: Vec<Part>, settings: impl FnOnce() -> UnionSettings) -> bool {
    let members = || parts.iter().filter_map(Part::member).collect();
    match made {
        Some(made) if made.parts == parts => return false,
        Some(made) => {
            made.union.replace(members());
            made.parts = parts;
        }
        None => *made = Some(Made { union: Union::new(settings(), members()), parts }),
    }
    true
}

/// A server as one of many, if anything serves it.
fn of(name: &ServerName, server: &Server, member: &Member, filter: &ToolFilter) -> Option<Part> {
    let assembled = Arc::downgrade(member.served.as_ref().ok()?);
    let shown = Shown { server: name.to_string(), rules: server.tools.clone(), filter: filter.clone() };
    Some(Part::Server { description: server.description.clone(), served: assembled, shown })
}

impl Part {
    fn member(&self) -> Option<MemberSettings> {
        match self {
            Self::Server { description, served, shown } => Some(MemberSettings {
                name: shown.server.clone(),
                description: description.clone(),
                hub: served.upgrade()?.hub.clone(),
                presentation: Arc::new(shown.clone()),
            }),
            Self::Code(code) => Some(code.member()),
        }
    }
}
