//! Which settings may bring a file or a directory of the host into an install's box, and which of those are private.
//!
//! A path is worth nothing by itself: anybody can write `~/.ssh/id_rsa` behind any key. Only keys that an installer needs
//! a file for count, only in the user's own settings, and only as far as the rules for grants go.

use kennel_box::{Access, HostView, MountRules};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is copied.
const LARGEST: u64 = 4 << 20;

/// What a setting names, where it names a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Certificates of authorities, or the user's own without its key.
    Certificates,
    /// What holds, or may hold, a private key.
    PrivateKey,
    /// Bounds of versions.
    Constraints,
    /// A directory of packages.
    Packages,
    /// Something that is outside by its nature, and that Kennel decides itself.
    Outside,
    /// Nothing that an install needs.
    Nothing,
}

const CERTIFICATES: [&str; 8] = [
    "cafile",
    "cert",
    "certfile",
    "curl-ca-bundle",
    "node-extra-ca-certs",
    "requests-ca-bundle",
    "ssl-cert-dir",
    "ssl-cert-file",
];
const PRIVATE_KEYS: [&str; 4] = ["client-cert", "key", "keyfile", "ssl-client-cert"];
const CONSTRAINTS: [&str; 3] = ["build-constraint", "constraint", "override"];
const PACKAGES: [&str; 5] = ["default-index", "extra-index-url", "find-links", "index", "index-url"];

/// What a setting names, by its name in a file or as a variable.
pub(super) fn named_by(key: &str) -> Named {
    let key = bare(key);
    let is_one = |names: &[&str]| names.contains(&key.as_str());
    if is_one(&CERTIFICATES) {
        Named::Certificates
    } else if is_one(&PRIVATE_KEYS) {
        Named::PrivateKey
    } else if is_one(&CONSTRAINTS) {
        Named::Constraints
    } else if is_one(&PACKAGES) {
        Named::Packages
    } else if super::NOT_TAKEN.split_whitespace().any(|name| bare(name) == key) {
        Named::Outside
    } else {
        Named::Nothing
    }
}

/// A setting's name without the host it is for, the prefix of a variable and differences of spelling.
fn bare(key: &str) -> String {
    let key = key.to_ascii_lowercase().replace('_', "-");
    let key = ["npm-config-", "pip-", "uv-"].iter().find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(&key);
    let key = if key.starts_with("//") { key.rsplit(':').next().unwrap_or(key) } else { key };
    key.to_owned()
}

/// Whether a setting of a project's own file may count: where packages come from, what that host wants to see, and
/// plain switches. Nothing that names a file or a variable, and nothing that makes a connection less safe.
pub(super) fn may_be_a_projects(key: &str, value: &str) -> bool {
    const SWITCHES_OF_THE_USER: [&str; 2] = ["strict-ssl", "ca"];
    let refers = value.contains("${") || value.starts_with('/') || value.starts_with('~') || value.starts_with("file:");
    let is_registry = key == "registry" || (key.starts_with('@') && key.ends_with(":registry"));
    let is_for_host = key.starts_with("//") && named_by(key) == Named::Nothing;
    let is_switch = (value == "true" || value == "false" || value.bytes().all(|byte| byte.is_ascii_digit()))
        && !SWITCHES_OF_THE_USER.contains(&bare(key).as_str());
    // The ports of registries are open to all steps of an install: a project opens none that is not open anyway.
    let opens_port = value.contains("://") && !has_usual_port(value);
    !refers && !opens_port && (is_registry || is_for_host || is_switch)
}

/// Whether an address has no port of its own but that of the web.
fn has_usual_port(address: &str) -> bool {
    let authority = address.split_once("://").map_or("", |(_, rest)| rest).split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit('@').next().unwrap_or("");
    let after_brackets = host.rsplit(']').next().unwrap_or(host);
    after_brackets.rsplit_once(':').is_none_or(|(_, port)| matches!(port, "" | "80" | "443"))
}

/// The path that a value stands for, if it is one.
pub(super) fn path_of(value: &str, host: &HostView) -> Option<PathBuf> {
    let below_home = ["~/", "${HOME}/"].iter().find_map(|prefix| value.strip_prefix(prefix));
    let path = below_home.map_or_else(|| PathBuf::from(value), |rest| host.home.join(rest));
    path.is_absolute().then_some(path)
}

/// Whether a file or directory may be shown to an installer.
pub(super) fn may_be_shown(real: &Path, rules: &MountRules) -> bool {
    if rules.check(real, Access::ReadOnly).is_ok() {
        return true;
    }
    // Certificates of the machine lie here, for everybody to read.
    let readable = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|there| there.is_file() && there.permissions().mode() & 0o004 != 0)
    };
    real.starts_with("/etc") && readable(real)
}

/// Whether a content holds a private key, whatever it is called.
pub(super) fn holds_private_key(content: &[u8]) -> bool {
    const MARK: &[u8] = b"PRIVATE KEY";
    content.windows(MARK.len()).any(|part| part == MARK)
}

/// Whether links to a settings file are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Followed,
    Refused,
}

/// Reads a regular file that is not too large. Nobody is waited for, whatever is there.
pub(super) fn read(path: &Path, links: Links) -> Option<Vec<u8>> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    let file = openat(CWD, path, flags, Mode::empty()).ok()?;
    let stat = fstat(&file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut content = Vec::new();
    File::from(file).take(LARGEST + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= LARGEST).then_some(content)
}
