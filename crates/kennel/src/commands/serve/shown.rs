//! Owns how the file says that tools of a server are shown.

use kennel_config::{Pattern, ToolFilter, ToolRules};
use kennel_hub::{Presentation, Presented};
use kennel_wire::{folded, is_lookalike};

/// How the file says that tools are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) server: String,
    pub(super) rules: ToolRules,
    /// What the view says besides.
    pub(super) filter: ToolFilter,
}

impl Shown {
    fn is_in_view(&self, own: &str, shown: &str) -> bool {
        let joined = |name: &str| format!("{}__{name}", self.server);
        self.filter.shows(&[own, shown, &joined(own), &joined(shown)])
    }
}

impl Shown {
    /// Whether a tool is hidden, or has another name, that a lenient server could take this one for. Only asked of names
    /// that the server does not list: those mean what they say.
    fn hides_like(&self, own: &str) -> bool {
        let like = folded(own);
        let joined = folded(&format!("{}__{own}", self.server));
        let denies = |filter: &ToolFilter| {
            let mut patterns = filter.deny.iter().map(|pattern| Pattern::new(folded(pattern.as_str())));
            patterns.any(|pattern| pattern.matches(&like) || pattern.matches(&joined))
        };
        denies(&self.rules.filter)
            || denies(&self.filter)
            || self.rules.rename.keys().any(|renamed| is_lookalike(own, renamed))
    }
}

impl Presentation for Shown {
    fn tool(&self, own: &str) -> Option<Presented> {
        let name = self.rules.shown(own).filter(|shown| self.is_in_view(own, shown))?;
        Some(Presented { name: name.to_owned(), description: self.rules.descriptions.get(own).cloned() })
    }

    fn original(&self, shown: &str) -> Option<String> {
        let own = self.rules.original(shown).filter(|own| self.is_in_view(own, shown))?;
        Some(own.to_owned()).filter(|own| !self.hides_like(own))
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
