//! What clients want to hear of on a stream of `subscriptions/listen`, and what of it a server can honour.

use crate::catalog::{List, Offering};
use kennel_supervisor::Handshake;
use kennel_wire::{Message, RawJson, ValueKind};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;

/// What a client wants to hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Filter {
    pub(crate) tools_list_changed: bool,
    pub(crate) prompts_list_changed: bool,
    pub(crate) resources_list_changed: bool,
    pub(crate) resource_subscriptions: BTreeSet<String>,
    /// Tasks of a modern process (the extension of 2026-07-28).
    pub(crate) task_ids: BTreeSet<String>,
}

impl Filter {
    /// What a request for a stream asks for; the text says what is wrong with it.
    pub(crate) fn read(request: &Message) -> Result<Self, String> {
        let filter = request.field(&["params", "notifications"]).ok().flatten();
        let filter = filter.filter(|filter| filter.kind() == ValueKind::Object);
        let filter = filter.ok_or("`params.notifications` is missing or no object")?;
        serde_json::from_slice(filter.as_bytes())
            .map_err(|error| format!("`params.notifications` cannot be read: {error}"))
    }

    /// All that it names.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &String> {
        self.resource_subscriptions.iter().chain(&self.task_ids)
    }

    /// All lists, and these resources.
    pub(crate) fn all(resource_subscriptions: BTreeSet<String>) -> Self {
        Self {
            tools_list_changed: true,
            prompts_list_changed: true,
            resources_list_changed: true,
            resource_subscriptions,
            task_ids: BTreeSet::new(),
        }
    }

    pub(crate) fn wants(&self, list: List) -> bool {
        match list {
            List::Tools => self.tools_list_changed,
            List::Prompts => self.prompts_list_changed,
            List::Resources | List::Templates => self.resources_list_changed,
        }
    }

    /// What of it a server of the old era can honour.
    pub(crate) fn honoured(&self, handshake: &Handshake) -> Self {
        let subscribes = handshake.has_capability_flag("resources", "subscribe");
        Self {
            tools_list_changed: self.tools_list_changed && handshake.has_capability("tools"),
            prompts_list_changed: self.prompts_list_changed && handshake.has_capability("prompts"),
            resources_list_changed: self.resources_list_changed && handshake.has_capability("resources"),
            resource_subscriptions: if subscribes { self.resource_subscriptions.clone() } else { BTreeSet::new() },
            task_ids: BTreeSet::new(),
        }
    }

    pub(crate) fn raw(&self) -> RawJson {
        let mut members = Vec::new();
        for (name, wanted) in [
            ("toolsListChanged", self.tools_list_changed),
            ("promptsListChanged", self.prompts_list_changed),
            ("resourcesListChanged", self.resources_list_changed),
        ] {
            members.extend(wanted.then(|| (name, RawJson::boolean(true))));
        }
        for (name, wanted) in [("resourceSubscriptions", &self.resource_subscriptions), ("taskIds", &self.task_ids)] {
            let wanted = (!wanted.is_empty()).then(|| RawJson::parse(json!(wanted).to_string()).ok());
            members.extend(wanted.flatten().map(|wanted| (name, wanted)));
        }
        RawJson::object(members.iter().map(|(name, value)| (*name, value)))
    }
}
