//! The user's registry settings: what the box that downloads gets of them, and what no other may see.
//!
//! Variables and configuration files of the installers are taken as they are. A file that one of them names for its
//! certificates comes along as a copy; a directory of packages is granted; both where the rules allow that (`named`). The
//! copies are written into the box's own home directory, in memory, so that nothing of them is ever on a disk of the host
//! or outlives the box. A project's own file counts for less than the user's: it says where packages come from, and
//! brings neither files nor variables. What is left out is said.

mod named;

use crate::foreign::shown;
use crate::secrets::{Secrets, is_secret_name};
use crate::spec::Ecosystem;
use kennel_box::{HostView, MountRules};
use named::{Links, Named, holds_private_key, may_be_a_projects, may_be_shown, named_by, path_of, read};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// The home directory of every box.
pub(crate) const BOX_HOME: &str = "/home/kennel";
/// Where copies of named files are, in the box's home.
const COPIES: &str = ".kennel/file-";
/// Where the settings of the system are, in the box's home; the installers are told by `XDG_CONFIG_DIRS`.
const SYSTEM_SETTINGS: [&str; 2] = [".kennel/system-0", ".kennel/system-1"];
/// The most that is said of what is left out.
const MOST_NOTES: usize = 20;

/// Variables that say how to reach any host.
const NETWORK_VARIABLES: [&str; 10] = [
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SSL_CLIENT_CERT",
];

/// Variables that every box has of its own, or that change what a program loads: no setting brings the user's.
const OWN_VARIABLES: [&str; 12] = [
    "BASH_ENV",
    "ENV",
    "HOME",
    "LOGNAME",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PWD",
    "PYTHONPATH",
    "SHELL",
    "TMPDIR",
    "USER",
];

/// Settings of the installers that say where things are outside, or what Kennel decides itself; without their prefix.
const NOT_TAKEN: &str = "BIN_LINKS CACHE CACHE_DIR CONFIG_SETTINGS DRY_RUN ENV_FILE FORMAT GLOBAL GLOBALCONFIG GLOBAL_PREFIX \
    IGNORE_INSTALLED INIT_MODULE LINK_MODE LOCAL_PREFIX LOCATION LOG LOGLEVEL LOGS_DIR NODE_OPTIONS PREFIX \
    PROJECT PROJECT_ENVIRONMENT PYTHON PYTHON_INSTALL_DIR QUIET REPORT REQUIREMENT ROOT SRC TARGET TOOL_DIR \
    USER USERCONFIG WORKING_DIRECTORY";

/// What of the host every box shows.
const SHOWN: [&str; 8] =
    ["/usr", "/bin", "/lib", "/lib64", "/nix/store", "/etc/ssl/certs", "/etc/pki/ca-trust", "/etc/pki/tls/certs"];

/// A file in the home directory of the box.
#[derive(Clone)]
pub(crate) struct SettingFile {
    /// Its path below the home directory.
    pub(crate) place: String,
    /// What is in it.
    pub(crate) content: Vec<u8>,
    /// Whether only a box that runs no foreign code may have it.
    private: bool,
}

/// The settings for one installer.
#[derive(Clone, Default)]
pub(crate) struct RegistrySettings {
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) files: Vec<SettingFile>,
    /// Directories that the settings name, to be granted read-only.
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) secrets: Secrets,
    /// What was left out, and why.
    pub(crate) notes: Vec<String>,
}

impl fmt::Debug for RegistrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistrySettings").field("secrets", &self.secrets).finish_non_exhaustive()
    }
}

impl RegistrySettings {
    /// Collects the settings of one installer.
    pub(crate) fn gather(
        ecosystem: Ecosystem,
        host: &HostView,
        variables: &[(OsString, OsString)],
        system: &Path,
    ) -> Self {
        let rules = MountRules::for_user(&host.home);
        let mut gathering = Gathering { rules, host, variables, found: Self::default(), copies: 0 };
        gathering.take_variables(ecosystem);
        match ecosystem {
            Ecosystem::Npm => gathering.take_npm_files(host),
            Ecosystem::Python => gathering.take_python_files(host, system),
        }
        gathering.found
    }

    /// The same without anything secret, for a box that runs foreign code.
    pub(crate) fn without_secrets(&self) -> Self {
        let without = |file: &SettingFile| {
            let text = String::from_utf8_lossy(&file.content);
            let lines = text.lines().filter(|line| !self.is_secret_line(line)).map(|line| format!("{line}\n"));
            SettingFile { place: file.place.clone(), content: lines.collect::<String>().into_bytes(), private: false }
        };
        let harmless = |name: &OsStr, value: &OsStr| {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            !is_private_name(&name) && !self.secrets.are_in(&value) && !self.names_private_copy(&value)
        };
        Self {
            variables: self.variables.iter().filter(|(name, value)| harmless(name, value)).cloned().collect(),
            files: self.files.iter().filter(|file| !file.private).map(without).collect(),
            directories: self.directories.clone(),
            secrets: self.secrets.clone(),
            notes: Vec::new(),
        }
    }

    fn is_secret_line(&self, line: &str) -> bool {
        self.secrets.are_in(line)
            || self.names_private_copy(line)
            || setting(line).is_some_and(|(name, _)| is_private_name(name))
    }

    /// Whether a text names a copy that only a box with credentials has.
    fn names_private_copy(&self, text: &str) -> bool {
        let place = |file: &SettingFile| format!("{BOX_HOME}/{}", file.place);
        let words = || text.split(['=', ' ', '"', '\'', ',']);
        self.files.iter().filter(|file| file.private).any(|file| words().any(|word| word == place(file)))
    }
}

/// Whether a setting holds a secret, or names what holds a private key.
fn is_private_name(name: &str) -> bool {
    is_secret_name(name) || named_by(name) == Named::PrivateKey
}

struct Gathering<'a> {
    rules: MountRules,
    host: &'a HostView,
    variables: &'a [(OsString, OsString)],
    found: RegistrySettings,
    copies: usize,
}

impl Gathering<'_> {
    fn variable(&self, name: &str) -> Option<&OsStr> {
        let same = |other: &OsStr| other.to_str().is_some_and(|other| other.eq_ignore_ascii_case(name));
        self.variables
            .iter()
            .find(|(other, value)| same(other) && !value.is_empty())
            .map(|(_, value)| value.as_os_str())
    }

    fn take_variables(&mut self, ecosystem: Ecosystem) {
        let prefixes: &[&str] = match ecosystem {
            Ecosystem::Npm => &["NPM_CONFIG_"],
            Ecosystem::Python => &["PIP_", "UV_"],
        };
        for (name, value) in self.variables {
            let (Some(text), Some(value_text)) = (name.to_str(), value.to_str()) else { continue };
            let upper = text.to_ascii_uppercase();
            let own = prefixes.iter().find_map(|prefix| upper.strip_prefix(prefix));
            let wanted = match own {
                Some(setting) => !NOT_TAKEN.split(' ').any(|name| name == setting) && setting != "CONFIG_FILE",
                None => NETWORK_VARIABLES.contains(&upper.as_str()),
            };
            if !wanted {
                continue;
            }
            self.found.secrets.note(text, value_text);
            if let Some(value) = self.brought(text, value_text, "your environment") {
                self.found.variables.push((name.clone(), value.into()));
            }
        }
    }

    /// What a setting has to say in the box: where it names a file, its copy; nothing where it names what cannot be
    /// shown.
    fn brought(&mut self, key: &str, value: &str, whence: &str) -> Option<String> {
        let Some(path) = path_of(value, self.host) else { return Some(value.to_owned()) };
        let Ok(real) = path.canonicalize() else { return Some(value.to_owned()) };
        let is_shown = |path: &Path| SHOWN.iter().any(|shown| path.starts_with(shown));
        if is_shown(&path) && is_shown(&real) {
            return Some(value.to_owned());
        }
        let named = named_by(key);
        match named {
            Named::Outside => return None,
            Named::Nothing => {
                self.note(key, whence, "it names a file, and an install needs none for that");
                return None;
            }
            Named::Certificates | Named::PrivateKey | Named::Constraints | Named::Packages => {}
        }
        if !may_be_shown(&real, &self.rules) {
            self.note(key, whence, "what it names is never shown to a box");
            return None;
        }
        if real.is_dir() {
            if named == Named::PrivateKey {
                self.note(key, whence, "it names a directory, and a key is a file");
                return None;
            }
            self.found.directories.push(real.clone());
            return real.to_str().map(str::to_owned);
        }
        let Some(content) = read(&real, Links::Followed).filter(|_| named != Named::Packages) else {
            self.note(key, whence, "what it names is no regular file of a reasonable size");
            return None;
        };
        let private = named == Named::PrivateKey || is_secret_name(key) || holds_private_key(&content);
        let place = format!("{COPIES}{}", self.copies);
        self.copies += 1;
        self.found.files.push(SettingFile { place: place.clone(), content, private });
        Some(format!("{BOX_HOME}/{place}"))
    }

    /// Says that a setting is left out.
    fn note(&mut self, key: &str, whence: &str, why: &str) {
        if self.found.notes.len() < MOST_NOTES {
            self.found.notes.push(format!("`{}` of {whence} is left out: {why}", shown(key)));
        }
    }

    /// Takes a configuration file of the user's or the system's, with all that it names.
    fn take_file(&mut self, path: &Path, place: &str) {
        if let Some(content) = read(path, Links::Followed).and_then(|content| String::from_utf8(content).ok()) {
            let content = self.prepared(&content, path);
            self.found.files.push(SettingFile {
                place: place.to_owned(),
                content: content.into_bytes(),
                private: false,
            });
        }
    }

    /// Notes what is secret in a configuration and makes its paths those of the box.
    fn prepared(&mut self, content: &str, path: &Path) -> String {
        let whence = path.display().to_string();
        let mut lines = String::with_capacity(content.len());
        let mut last = String::new();
        for line in content.lines() {
            let mut line = line.to_owned();
            // A line that continues a list has no name of its own.
            let (name, value) = match setting(&line) {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (last, line.trim().trim_end_matches(',').trim_matches(['"', '\'']).to_owned()),
            };
            self.found.secrets.note(&name, &value);
            self.take_references(&name, &value, &whence);
            match self.brought(&name, &value, &whence) {
                Some(brought) if brought == value => {}
                Some(brought) => line = line.replace(&value, &brought),
                None => {
                    last = name;
                    continue;
                }
            }
            last = name;
            lines.push_str(&line);
            lines.push('\n');
        }
        lines
    }

    /// What a project's own file may say.
    fn prepared_of_project(&mut self, content: &str, path: &Path) -> String {
        let whence = path.display().to_string();
        let mut lines = String::new();
        for (name, value) in content.lines().filter_map(setting) {
            if may_be_a_projects(name, value) {
                self.found.secrets.note(name, value);
                // Written anew, so that nothing but these two comes along.
                lines.extend([name, "=", value, "\n"]);
            } else {
                let why =
                    "a project's file brings no files, variables or further settings; write it into your own .npmrc";
                self.note(name, &whence, why);
            }
        }
        lines
    }

    /// Takes the variables that a value of npm's configuration refers to as `${NAME}`.
    fn take_references(&mut self, key: &str, value: &str, whence: &str) {
        for part in value.split("${").skip(1) {
            let Some((variable, _)) = part.split_once('}') else { continue };
            let variable = variable.trim_end_matches('?');
            if OWN_VARIABLES.contains(&variable) || variable.starts_with("LD_") {
                if path_of(value, self.host).is_none() {
                    self.note(key, whence, "it refers to a variable that every box has of its own");
                }
                continue;
            }
            let found = self.variables.iter().find(|(other, _)| other == variable);
            let Some((variable, content)) = found.filter(|pair| !self.found.variables.contains(pair)) else { continue };
            if let Some(text) = content.to_str() {
                // A variable that is needed for a registry has no reason to be known elsewhere, whatever its name.
                self.found.secrets.note("token", text);
            }
            self.found.variables.push((variable.clone(), content.clone()));
        }
    }

    /// The user's file, then the working directory's, which counts more: npm takes the last of two equal settings.
    fn take_npm_files(&mut self, host: &HostView) {
        let user = self.variable("NPM_CONFIG_USERCONFIG").map_or_else(|| host.home.join(".npmrc"), PathBuf::from);
        let project = host.cwd.join(".npmrc");
        let text = |path: &Path, links| read(path, links).and_then(|text| String::from_utf8(text).ok());
        let mut content = text(&user, Links::Followed).map(|text| self.prepared(&text, &user)).unwrap_or_default();
        if project != user
            && let Some(text) = text(&project, Links::Refused)
        {
            content.push_str(&self.prepared_of_project(&text, &project));
        }
        if !content.is_empty() {
            let content = content.into_bytes();
            self.found.files.push(SettingFile { place: ".npmrc".to_owned(), content, private: false });
        }
        if let Some(path) = self.variable("NPM_CONFIG_GLOBALCONFIG").map(PathBuf::from) {
            self.take_file(&path, ".kennel/npmrc");
            self.point("NPM_CONFIG_GLOBALCONFIG", ".kennel/npmrc");
        }
    }

    fn take_python_files(&mut self, host: &HostView, system: &Path) {
        let home = self.variable("XDG_CONFIG_HOME").map_or_else(|| host.home.join(".config"), PathBuf::from);
        let [first, second] = SYSTEM_SETTINGS;
        for (path, place) in [
            (system.join("xdg/pip/pip.conf"), format!("{first}/pip/pip.conf")),
            (system.join("pip.conf"), format!("{second}/pip/pip.conf")),
            (host.home.join(".pip/pip.conf"), ".pip/pip.conf".to_owned()),
            (home.join("pip/pip.conf"), ".config/pip/pip.conf".to_owned()),
            (system.join("uv/uv.toml"), format!("{first}/uv/uv.toml")),
            (home.join("uv/uv.toml"), ".config/uv/uv.toml".to_owned()),
        ] {
            self.take_file(&path, &place);
        }
        for (variable, place) in [("PIP_CONFIG_FILE", ".kennel/pip.conf"), ("UV_CONFIG_FILE", ".kennel/uv.toml")] {
            match self.variable(variable).map(PathBuf::from) {
                // It is pip's way to say that no file counts.
                Some(path) if path == Path::new("/dev/null") => {
                    self.found.variables.push((variable.into(), path.into()));
                }
                Some(path) => {
                    self.take_file(&path, place);
                    self.point(variable, place);
                }
                None => {}
            }
        }
        let directories = SYSTEM_SETTINGS.map(|place| format!("{BOX_HOME}/{place}")).join(":");
        self.found.variables.push(("XDG_CONFIG_DIRS".into(), directories.into()));
    }

    /// Points a variable to a copy, where there is one.
    fn point(&mut self, variable: &str, place: &str) {
        if self.found.files.iter().any(|file| file.place == place) {
            self.found.variables.push((variable.into(), format!("{BOX_HOME}/{place}").into()));
        }
    }
}

/// The name and value of a line of configuration.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let comment = name.starts_with(['#', ';']);
    (!comment).then(|| (name, value.trim().trim_matches(['"', '\''])))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
