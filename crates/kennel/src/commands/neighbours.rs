//! Owns what is known of other Kennels of the same user that run on this machine: where their files are, and what they let
//! boxes write. It is read off their command lines, so nothing has to be kept and nothing can be out of date.

use kennel_config::{Config, SystemSources};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// More Kennels than this are not looked at.
const MOST: usize = 64;

/// The commands that serve from a file.
const OF_A_FILE: [&str; 2] = ["code", "serve"];
/// The commands that run something in a box.
const RUNNING: [&str; 6] = ["call", "code", "exec", "run", "serve", "tools"];

/// Another Kennel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub(crate) pid: u32,
    pub(crate) program: PathBuf,
    pub(crate) config: Option<PathBuf>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) socket: Option<PathBuf>,
    /// What its boxes may write.
    pub(crate) writes: Vec<PathBuf>,
}

/// Finds those that run now.
pub(crate) fn find() -> Vec<Neighbour> {
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != own).filter_map(look_at).take(MOST).collect()
}

fn look_at(pid: u32) -> Option<Neighbour> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let program = std::fs::read_link(process.join("exe")).ok()?;
    let name = program.file_name()?.as_bytes();
    let name = name.strip_suffix(b" (deleted)").unwrap_or(name);
    if name != b"kennel" || !is_trusted(&process) {
        return None;
    }
    let words = separated(&std::fs::read(process.join("cmdline")).ok()?);
    let directory = std::fs::read_link(process.join("cwd")).ok()?;
    let variables = std::fs::read(process.join("environ")).ok().map_or_else(own_variables, |bytes| pairs(&bytes));
    Said { words: &words, directory: &directory, variables: &variables }.understood(pid, program)
}

/// Whether a process is one that the user has started: one in a box may call itself what it likes.
fn is_trusted(process: &Path) -> bool {
    // Programs of other users are their own affair, and for root those of everybody would be.
    let is_own = std::fs::metadata(process).is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
    let is_beside = |kind: &str| {
        let of = |process: &Path| std::fs::read_link(process.join("ns").join(kind)).ok();
        of(process).is_some_and(|found| Some(found) == of(Path::new("/proc/self")))
    };
    // A box without namespaces is known by what it cannot gain.
    let is_confined = |process: &Path| {
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        status.lines().any(|line| line.split_whitespace().eq(["NoNewPrivs:", "1"]))
    };
    is_own && is_beside("pid") && is_beside("user") && (!is_confined(process) || is_confined(Path::new("/proc/self")))
}

/// What a command line says, where it was given.
struct Said<'a> {
    words: &'a [OsString],
    directory: &'a Path,
    variables: &'a BTreeMap<OsString, OsString>,
}

impl Said<'_> {
    fn understood(&self, pid: u32, program: PathBuf) -> Option<Neighbour> {
        let command = self.words.get(1)?.to_str().filter(|word| RUNNING.contains(word))?;
        let file = || {
            let base = self.place("XDG_CONFIG_HOME").or_else(|| self.place("HOME").map(|home| home.join(".config")));
            self.flag(&["--config", "-c"]).or_else(|| base.map(|base| base.join("kennel/kennel.toml")))
        };
        let config = OF_A_FILE.contains(&command).then(file).flatten();
        // Reading anything else could take forever.
        let plain =
            config.as_deref().filter(|file| file.metadata().is_ok_and(|found| found.is_file() || found.is_dir()));
        let read = plain.and_then(|file| Config::read_all(file).ok());
        let named = self.flag(&["--data"]).or_else(|| self.variable("KENNEL_DATA"));
        let of_file = read.as_ref().and_then(|config| super::serve::data_of(config).ok().flatten());
        let usual = || {
            let base = self.place("XDG_DATA_HOME").or_else(|| self.place("HOME").map(|home| home.join(".local/share")));
            base.map(|base| base.join("kennel"))
        };
        let data = named.clone().or(of_file).or_else(usual);
        let runtime = || match (&named, self.place("XDG_RUNTIME_DIR")) {
            (None, Some(runtime)) => Some(runtime.join("kennel/admin.sock")),
            _ => named.clone().or_else(usual).map(|data| data.join("run/admin.sock")),
        };
        let socket = || self.flag(&["--socket"]).or_else(|| self.variable("KENNEL_SOCKET")).or_else(runtime);
        let socket = (command == "serve").then(socket).flatten();
        let declared = read.iter().flat_map(|config| {
            let paths =
                |server: &kennel_config::Server| server.written_paths(&config.directory, &SystemSources::default());
            config.enabled().flat_map(|(_, server)| paths(server)).collect::<Vec<_>>()
        });
        let writes = self.flags(&["--write"]).into_iter().map(|path| without_place(&path)).chain(declared).collect();
        Some(Neighbour { pid, program, config, data: data.filter(|_| command != "exec"), socket, writes })
    }

    fn flag(&self, names: &[&str]) -> Option<PathBuf> {
        self.flags(names).pop()
    }

    /// The values of a flag, up to the command of somebody else.
    fn flags(&self, names: &[&str]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut words = self.words.iter().skip(2).take_while(|word| *word != "--");
        while let Some(word) = words.next() {
            let value = names.iter().find_map(|name| {
                let rest = word.as_bytes().strip_prefix(name.as_bytes())?;
                match rest {
                    [] => Some(None),
                    [b'=', value @ ..] => Some(Some(value)),
                    value if !name.starts_with("--") => Some(Some(value)),
                    _ => None,
                }
            });
            match value {
                Some(Some(value)) => found.push(self.directory.join(OsStr::from_bytes(value))),
                Some(None) => found.extend(words.next().map(|value| self.directory.join(value))),
                None => {}
            }
        }
        found
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(OsStr::new(name)).map(|value| self.directory.join(value))
    }

    fn place(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

/// `PATH:PLACE` names a path and where it is in the box.
fn without_place(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    match bytes.windows(2).rposition(|pair| pair == b":/").filter(|_| !path.exists()) {
        Some(at) => PathBuf::from(OsStr::from_bytes(&bytes[..at])),
        None => path.to_owned(),
    }
}

fn separated(bytes: &[u8]) -> Vec<OsString> {
    let words = bytes.strip_suffix(b"\0").unwrap_or(bytes).split(|byte| *byte == 0);
    words.map(|word| OsString::from_vec(word.to_vec())).collect()
}

fn pairs(bytes: &[u8]) -> BTreeMap<OsString, OsString> {
    let pair = |word: OsString| {
        let at = word.as_bytes().iter().position(|byte| *byte == b'=')?;
        let (name, value) = word.as_bytes().split_at(at);
        Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(&value[1..]).to_owned()))
    };
    separated(bytes).into_iter().filter_map(pair).collect()
}

fn own_variables() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

#[cfg(test)]
#[path = "neighbours_tests.rs"]
mod tests;
