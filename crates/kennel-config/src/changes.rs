//! Owns what is different between two configurations, so that only what changed is touched.

use crate::config::Config;
use crate::name::ServerName;
use crate::server::Server;

/// What is different between two configurations. Servers that are not enabled count as not there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Servers that are new.
    pub added: Vec<ServerName>,
    /// Servers that are gone.
    pub removed: Vec<ServerName>,
    /// Servers that need another process.
    pub changed: Vec<ServerName>,
    /// Servers that are shown otherwise, by other names of tools for example, and may keep their processes.
    pub shown_otherwise: Vec<ServerName>,
    /// Servers that are as they were.
    pub same: Vec<ServerName>,
    /// Whether a view is new, gone or different.
    pub views: bool,
    /// Whether Python is run otherwise.
    pub code: bool,
    /// Whether clients reach Kennel in another way, which takes another start of the gateway.
    pub gateway: bool,
}

impl Changes {
    /// What has to be done to come from the old configuration to the new one.
    #[must_use]
    pub fn between(old: &Config, new: &Config) -> Self {
        let mut changes = Self {
            views: old.views != new.views,
            code: old.code != new.code,
            gateway: old.gateway != new.gateway,
            ..Self::default()
        };
        // Relative paths mean something else from another place.
        let moved = old.directory != new.directory;
        for (name, server) in new.enabled() {
            let list = match enabled(old, name) {
                None => &mut changes.added,
                Some(before) if moved || !before.runs_like(server) => &mut changes.changed,
                Some(before) if before != server => &mut changes.shown_otherwise,
                Some(_) => &mut changes.same,
            };
            list.push(name.clone());
        }
        let gone = old.enabled().filter(|(name, _)| enabled(new, name).is_none());
        changes.removed = gone.map(|(name, _)| name.clone()).collect();
        changes
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let lists = [&self.added, &self.removed, &self.changed, &self.shown_otherwise];
        lists.iter().all(|list| list.is_empty()) && !self.views && !self.code && !self.gateway
    }
}

fn enabled<'a>(config: &'a Config, name: &ServerName) -> Option<&'a Server> {
    config.servers.get(name).filter(|server| server.enabled)
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
