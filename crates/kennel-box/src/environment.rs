//! The variables a boxed process gets: few, harmless, and nothing of the caller's but what is asked for.

use crate::engine::EngineKind;
use crate::error::BoxError;
use crate::toolchain::Toolchains;
use kennel_jail::INNER_HOME;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// What of the caller's surroundings a plan depends on.
#[derive(Debug, Clone, Default)]
pub struct HostView {
    /// The caller's `PATH`.
    pub path: OsString,
    /// The caller's home directory.
    pub home: PathBuf,
    /// The caller's working directory.
    pub cwd: PathBuf,
    /// The caller's variables that say how to talk to a person.
    pub manners: Vec<(OsString, OsString)>,
}

/// Language, time zone and terminal: they name no secret, and programs look odd without them.
const MANNERS: [&str; 6] = ["COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ"];

const SYSTEM_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

impl HostView {
    /// The surroundings of the calling process.
    #[must_use]
    pub fn current() -> Self {
        Self {
            path: std::env::var_os("PATH").unwrap_or_default(),
            home: std::env::home_dir().unwrap_or_else(|| PathBuf::from("/nonexistent")),
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            manners: MANNERS.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect(),
        }
    }
}

/// Puts together the whole environment of a process.
pub(crate) fn build(
    engine: EngineKind,
    host: &HostView,
    toolchains: &Toolchains,
    asked: &BTreeMap<String, String>,
) -> Result<Vec<(OsString, OsString)>, BoxError> {
    let mut env: BTreeMap<OsString, OsString> = host.manners.iter().cloned().collect();
    match engine {
        EngineKind::Host => {
            env.insert("HOME".into(), host.home.clone().into());
            env.insert("PATH".into(), host.path.clone());
        }
        EngineKind::Native => {
            let mut path = toolchains.path.clone();
            path.extend(SYSTEM_PATH.iter().map(PathBuf::from).filter(|directory| !toolchains.path.contains(directory)));
            env.insert("PATH".into(), std::env::join_paths(path).unwrap_or_default());
            for (name, value) in [
                ("HOME", INNER_HOME),
                ("USER", "kennel"),
                ("LOGNAME", "kennel"),
                ("SHELL", "/bin/sh"),
                ("TMPDIR", "/tmp"),
            ] {
                env.insert(name.into(), value.into());
            }
            env.extend(toolchains.env.iter().cloned());
        }
    }
    for (name, value) in asked {
        check_name(name)?;
        if value.contains('\0') {
            return Err(BoxError::field("env", format!("`{name}` has a NUL byte in its value")));
        }
        env.insert(name.into(), value.into());
    }
    Ok(env.into_iter().collect())
}

/// A name that every shell and libc takes.
fn check_name(name: &str) -> Result<(), BoxError> {
    let mut letters = name.chars();
    let starts_well = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if starts_well && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Ok(());
    }
    Err(BoxError::field("env", format!("`{name}` is not a name; use letters, digits and `_`")))
}
