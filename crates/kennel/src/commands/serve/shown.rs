//! Owns how the file says that tools of a server are shown.

use kennel_config::{ToolFilter, ToolRules};
use kennel_hub::{Presentation, Presented};

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
#[path = "shown_tests.rs"]
mod tests;
