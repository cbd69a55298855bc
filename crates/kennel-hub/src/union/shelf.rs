//! What one server of many offers, as the clients of all see it.

use crate::catalog::{List, Offer};
use crate::union::member::Member;
use kennel_wire::{RawJson, is_lookalike};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};

/// The lists of one server under the names that clients see.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    lists: BTreeMap<List, Vec<RawJson>>,
    /// The names of tools as they are shown, without the server's and as clients see them, in the order of the list.
    shown: Vec<(String, String)>,
    /// The server's own names of tools and prompts by those that clients see.
    tools: HashMap<String, String>,
    prompts: HashMap<String, String>,
}

impl Shelf {
    pub(crate) fn new(offer: &Offer, member: &Member) -> Self {
        let mut shelf = Self::default();
        for (list, pages) in &offer.lists {
            let items = pages.iter().flat_map(|page| items(*list, page));
            let shown = items.filter_map(|item| shelf.shown(*list, &item, member)).collect();
            shelf.lists.insert(*list, shown);
        }
        shelf
    }

    pub(crate) fn items(&self, list: List) -> &[RawJson] {
        self.lists.get(&list).map(Vec::as_slice).unwrap_or_default()
    }

    /// The tools as they are shown: by their names without the server's and with it, and as they are listed.
    pub(crate) fn shown_tools(&self) -> impl Iterator<Item = (&str, &str, &RawJson)> {
        self.shown
            .iter()
            .zip(self.items(List::Tools))
            .map(|((shown, seen), tool)| (shown.as_str(), seen.as_str(), tool))
    }

    /// Whether it has a resource of this address of the server's own, or a template that begins like it. Listed addresses
    /// begin with `joined`.
    pub(crate) fn has_address(&self, own: &str, joined: &str) -> bool {
        let listed = |list, key: &'static str| {
            self.items(list).iter().filter_map(move |item| {
                let (_, value) = item.members().into_iter().find(|(name, _)| name == key)?;
                let address: String = serde_json::from_slice(value.as_bytes()).ok()?;
                address.strip_prefix(joined).map(str::to_owned)
            })
        };
        let begins = |template: &String| {
            let fixed = template.split('{').next().unwrap_or_default();
            // What may be anything says nothing.
            fixed.contains("://") && !fixed.ends_with("://") && own.starts_with(fixed)
        };
        listed(List::Resources, "uri").any(|address| address == own)
            || listed(List::Templates, "uriTemplate").any(|template| begins(&template))
    }

    /// The server's own name of a tool.
    pub(crate) fn tool(&self, name: &str) -> Option<&str> {
        self.tools.get(name).map(String::as_str)
    }

    /// The server's own name of a prompt.
    pub(crate) fn prompt(&self, name: &str) -> Option<&str> {
        self.prompts.get(name).map(String::as_str)
    }

    /// An item as clients see it; `None` for one that is hidden, or that has no name to be called by.
    fn shown(&mut self, list: List, item: &RawJson, member: &Member) -> Option<RawJson> {
        let mut members = item.members();
        let key = match list {
            List::Tools | List::Prompts => "name",
            List::Resources => "uri",
            List::Templates => "uriTemplate",
        };
        // One that readers could call by another name than its own is not shown: it could take that of another server.
        if members.iter().any(|(name, _)| is_lookalike(name, key))
            || members.iter().filter(|(name, _)| name == key).count() > 1
        {
            return None;
        }
        let (_, value) = members.iter_mut().find(|(name, _)| name == key)?;
        let own: String = serde_json::from_slice(value.as_bytes()).ok()?;
        let mut description = None;
        let seen = match list {
            List::Tools => {
                let presented = member.presentation.tool(&own)?;
                description = presented.description;
                let seen = free(&self.tools, member, member.name_of(&presented.name), &own)?;
                self.shown.push((presented.name, seen.clone()));
                seen
            }
            List::Prompts => free(&self.prompts, member, member.name_of(&own), &own)?,
            List::Resources | List::Templates => member.address_of(&own),
        };
        *value = RawJson::string(&seen);
        match list {
            List::Tools => drop(self.tools.insert(seen, own)),
            List::Prompts => drop(self.prompts.insert(seen, own)),
            List::Resources | List::Templates => {}
        }
        if let Some(description) = description {
            members.retain(|(name, _)| name != "description");
            members.push(("description".to_owned(), RawJson::string(&description)));
        }
        Some(RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value))))
    }
}

/// A name that no other of the server has: this one, or one that says what it stands for. `None` for something that is
/// there already: clients take no list that has a name twice.
fn free(taken: &HashMap<String, String>, member: &Member, name: String, own: &str) -> Option<String> {
    match taken.get(&name) {
        None => Some(name),
        Some(other) if other == own => None,
        Some(_) => member.name_apart(own).filter(|name| !taken.contains_key(name)),
    }
}

/// The items of a page.
fn items(list: List, page: &RawJson) -> Vec<RawJson> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Page<'a> {
        #[serde(borrow, default)]
        tools: Vec<&'a RawValue>,
        #[serde(borrow, default)]
        prompts: Vec<&'a RawValue>,
        #[serde(borrow, default)]
        resources: Vec<&'a RawValue>,
        #[serde(borrow, default)]
        resource_templates: Vec<&'a RawValue>,
    }
    let Ok(page) = serde_json::from_slice::<Page<'_>>(page.as_bytes()) else { return Vec::new() };
    let items = match list {
        List::Tools => page.tools,
        List::Prompts => page.prompts,
        List::Resources => page.resources,
        List::Templates => page.resource_templates,
    };
    items.into_iter().filter_map(|item| RawJson::parse(item.get().to_owned()).ok()).collect()
}
