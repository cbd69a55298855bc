//! Owns what a definition says of a box, in the words that `kennel run` has for it.

use crate::fields::Fields;
use crate::template::Template;
use kennel_box::{EngineKind, Network, Profile, Size, Wall};

/// What a box may touch and use. What is `None` is the profile's affair.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxSettings {
    /// What makes the box.
    pub engine: EngineKind,
    /// Where the defaults come from.
    pub profile: Profile,
    /// Paths that it sees, read-only: `PATH` or `PATH:PLACE`.
    pub read: Vec<Template>,
    /// Paths that it sees and may change.
    pub write: Vec<Template>,
    /// Whether paths that the command names are granted read-only.
    pub infer: bool,
    /// What it sees of the network.
    pub network: Option<Network>,
    /// Memory of the whole box.
    pub memory: Option<Size>,
    /// Processes and threads.
    pub pids: Option<u32>,
    /// Processors.
    pub cpus: Option<f64>,
    /// What `/tmp`, `/var/tmp` and the home directory may hold, each.
    pub tmp_size: Option<Size>,
    /// Seconds after which a process is ended.
    pub timeout: Option<f64>,
    /// Walls that may be missing on this machine.
    pub accept_missing: Vec<Wall>,
}

impl Default for BoxSettings {
    fn default() -> Self {
        Self::read(Fields::of(None))
    }
}

impl BoxSettings {
    /// Whether a box has the network of this machine.
    #[must_use]
    pub fn has_network(&self) -> bool {
        self.engine == EngineKind::Native && self.network.unwrap_or_else(|| self.profile.network()) == Network::On
    }

    pub(crate) fn read(fields: Fields<'_>) -> Self {
        Self {
            engine: match fields.text("engine") {
                Some("host") => EngineKind::Host,
                _ => EngineKind::Native,
            },
            profile: match fields.text("profile") {
                Some("default") => Profile::Default,
                Some("offline_readonly") => Profile::OfflineReadonly,
                Some("network_basic") => Profile::NetworkBasic,
                Some("network_extended") => Profile::NetworkExtended,
                _ => Profile::Offline,
            },
            read: fields.templates("read"),
            write: fields.templates("write"),
            infer: fields.boolean("infer").unwrap_or(true),
            network: fields.text("network").map(|network| match network {
                "on" => Network::On,
                _ => Network::Off,
            }),
            memory: fields.size("memory"),
            pids: fields.count("pids"),
            cpus: fields.number("cpus"),
            tmp_size: fields.size("tmp-size"),
            timeout: fields.number("timeout"),
            accept_missing: fields.texts("accept-missing").iter().filter_map(|name| wall(name)).collect(),
        }
    }
}

fn wall(name: &str) -> Option<Wall> {
    match name {
        "namespaces" => Some(Wall::Namespaces),
        "cpu" => Some(Wall::Cpu),
        _ => None,
    }
}
