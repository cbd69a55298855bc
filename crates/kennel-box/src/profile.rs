//! The named profiles: defaults for a spec, and fields that it may not change.

use crate::error::BoxError;
use crate::size::Size;
use crate::spec::{AccessMode, BoxSpec};
use kennel_jail::Network;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A profile by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Network on; what platforms give to code they half trust.
    Default,
    /// No network; Kennel's own choice where nothing is said.
    #[default]
    Offline,
    /// No network, nothing writable, half a processor; all of that locked.
    OfflineReadonly,
    /// The default profile by another name.
    NetworkBasic,
    /// Network on, twice of everything, and a root that can be written.
    NetworkExtended,
}

/// What a profile sets.
pub(crate) struct ProfileValues {
    pub(crate) network: Network,
    pub(crate) mode: AccessMode,
    pub(crate) milli_cpus: u32,
    pub(crate) memory: Size,
    pub(crate) pids: u32,
    pub(crate) read_only_rootfs: bool,
    pub(crate) longest: Duration,
}

impl Profile {
    /// The name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Offline => "offline",
            Self::OfflineReadonly => "offline_readonly",
            Self::NetworkBasic => "network_basic",
            Self::NetworkExtended => "network_extended",
        }
    }

    /// What a box sees of the network where nothing else is said.
    #[must_use]
    pub fn network(self) -> Network {
        self.values().network
    }

    pub(crate) fn values(self) -> ProfileValues {
        let basic = ProfileValues {
            network: Network::On,
            mode: AccessMode::ReadWrite,
            milli_cpus: 1000,
            memory: Size::mebibytes(512),
            pids: 128,
            read_only_rootfs: true,
            longest: Duration::from_mins(2),
        };
        match self {
            Self::Default | Self::NetworkBasic => basic,
            Self::Offline => ProfileValues { network: Network::Off, ..basic },
            Self::OfflineReadonly => ProfileValues {
                network: Network::Off,
                mode: AccessMode::ReadOnly,
                milli_cpus: 500,
                memory: Size::mebibytes(256),
                pids: 64,
                longest: Duration::from_mins(1),
                ..basic
            },
            Self::NetworkExtended => ProfileValues {
                milli_cpus: 2000,
                memory: Size::mebibytes(1024),
                pids: 256,
                read_only_rootfs: false,
                longest: Duration::from_mins(5),
                ..basic
            },
        }
    }

    /// Refuses a spec that sets what the profile locks to something else.
    pub(crate) fn check_locks(self, spec: &BoxSpec) -> Result<(), BoxError> {
        if self != Self::OfflineReadonly {
            return Ok(());
        }
        let locked = |field| Err(BoxError::Locked { field, profile: self.name() });
        let writes = spec.mounts.iter().any(|mount| mount.mode == AccessMode::ReadWrite);
        match spec {
            BoxSpec { network: Some(Network::On), .. } => locked("network"),
            BoxSpec { mode: Some(AccessMode::ReadWrite), .. } => locked("mode"),
            BoxSpec { read_only_rootfs: Some(false), .. } => locked("read_only_rootfs"),
            _ if writes => locked("mounts.mode"),
            _ => Ok(()),
        }
    }
}
