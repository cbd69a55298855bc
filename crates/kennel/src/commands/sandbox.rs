//! From what is said of a box, in flags or in a definition, to its plan.

use crate::cli::{BoxFlags, EngineName, OnOff, ProfileName, WallName};
use crate::commands::belongings::Belongings;
use crate::commands::definition::no_variable;
use crate::failure::Failure;
use kennel_box::{AccessMode, BoxPlan, BoxSpec, EngineKind, HostView, MountRules, MountSpec, Network, Profile, Wall};
use kennel_jail::Isolation;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Checks the flags against the rules and this machine.
pub(crate) fn plan(flags: &BoxFlags, program: &OsStr) -> Result<BoxPlan, Failure> {
    let host = HostView::current();
    let programs = programs(program, &host);
    let programs = programs.iter().map(PathBuf::as_path).collect::<Vec<_>>();
    let spec = spec(flags, &host.cwd)?;
    let rules = match spec.engine {
        EngineKind::Native => Arc::new(Belongings::default()).rules(&host.home),
        // Without a box there is nothing to keep from it.
        EngineKind::Host => MountRules::for_user(&host.home),
    };
    Ok(spec.plan(&host, &rules, &programs)?)
}

/// The programs that are named by path, and not to be found on `PATH`.
pub(crate) fn programs(program: &OsStr, host: &HostView) -> Vec<PathBuf> {
    let program = Path::new(program);
    if program.components().count() > 1 { vec![host.cwd.join(program)] } else { Vec::new() }
}

/// Whether a path is granted already.
pub(crate) fn grants(spec: &BoxSpec, path: &Path) -> bool {
    spec.mounts.iter().any(|mount| mount.mount_path.is_none() && path.starts_with(&mount.host_path))
}

/// What is said where a program starts in a directory that was not granted.
pub(crate) fn bare(directory: &Path) -> String {
    let directory = directory.display();
    format!("{directory} is there in the box, but nothing of it that is not granted; grant it with --read or --write")
}

/// A path at the same place, read-only.
pub(crate) fn read_only(path: PathBuf) -> MountSpec {
    MountSpec { host_path: path, mount_path: None, mode: AccessMode::ReadOnly }
}

/// The way in which the box will be made if all goes well, known before it is planned.
pub(crate) fn first_isolation(flags: &BoxFlags) -> Isolation {
    match flags.engine {
        EngineName::Native => Isolation::Full,
        EngineName::Host => Isolation::None,
    }
}

pub(crate) fn spec(flags: &BoxFlags, cwd: &Path) -> Result<BoxSpec, Failure> {
    let mounts = |paths: &[PathBuf], mode| paths.iter().map(move |path| mount(path, mode, cwd)).collect::<Vec<_>>();
    Ok(BoxSpec {
        engine: engine_of(flags.engine),
        profile: profile_of(flags.profile),
        network: flags.network.map(network_of),
        mounts: [mounts(&flags.read, AccessMode::ReadOnly), mounts(&flags.write, AccessMode::ReadWrite)].concat(),
        workdir: flags.cwd.as_ref().map(|path| normal(&cwd.join(path))),
        env: flags.env.iter().map(|text| variable(text)).collect::<Result<BTreeMap<_, _>, _>>()?,
        cpus: flags.cpus,
        memory: flags.memory,
        pids: flags.pids,
        tmp_size: flags.tmp_size,
        timeout: flags.timeout,
        accept_missing: flags.accept_missing.iter().map(|wall| wall_of(*wall)).collect(),
        ..BoxSpec::default()
    })
}

pub(crate) fn engine_of(name: EngineName) -> EngineKind {
    match name {
        EngineName::Native => EngineKind::Native,
        EngineName::Host => EngineKind::Host,
    }
}

pub(crate) fn profile_of(name: ProfileName) -> Profile {
    match name {
        ProfileName::Default => Profile::Default,
        ProfileName::Offline => Profile::Offline,
        ProfileName::OfflineReadonly => Profile::OfflineReadonly,
        ProfileName::NetworkBasic => Profile::NetworkBasic,
        ProfileName::NetworkExtended => Profile::NetworkExtended,
    }
}

pub(crate) fn network_of(network: OnOff) -> Network {
    match network {
        OnOff::Off => Network::Off,
        OnOff::On => Network::On,
    }
}

pub(crate) fn wall_of(name: WallName) -> Wall {
    match name {
        WallName::Namespaces => Wall::Namespaces,
        WallName::Cpu => Wall::Cpu,
    }
}

/// `PATH` or `PATH:PLACE`; a colon that no absolute place follows belongs to the path.
pub(crate) fn mount(text: &Path, mode: AccessMode, cwd: &Path) -> MountSpec {
    let bytes = text.as_os_str().as_bytes();
    let split = bytes.windows(2).rposition(|pair| pair == b":/").filter(|_| !text.exists());
    let part = |bytes| PathBuf::from(OsString::from(OsStr::from_bytes(bytes)));
    match split {
        Some(at) => {
            MountSpec { host_path: cwd.join(part(&bytes[..at])), mount_path: Some(part(&bytes[at + 1..])), mode }
        }
        None => MountSpec { host_path: cwd.join(text), mount_path: None, mode },
    }
}

/// Takes `.` and `..` out of a path by its letters alone, for a place in the box.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            std::path::Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

fn variable(text: &str) -> Result<(String, String), Failure> {
    if let Some((name, value)) = text.split_once('=') {
        return Ok((name.to_owned(), value.to_owned()));
    }
    match std::env::var(text) {
        Ok(value) => Ok((text.to_owned(), value)),
        Err(error) => Err(no_variable(text, &error)),
    }
}
