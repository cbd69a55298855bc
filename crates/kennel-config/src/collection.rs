//! Owns how a directory of files becomes one configuration.

use crate::config::Config;
use crate::problem::ConfigError;
use std::path::{Path, PathBuf};

/// More files than this are no collection of servers.
const MOST_FILES: usize = 1000;
/// What the names of files of servers end with.
const ENDINGS: [&str; 3] = ["json", "jsonc", "toml"];

impl Config {
    /// Reads a file, or all files of servers in a directory as if they were one. No two of these may have a server or view
    /// of the same name, and what else they say counts for all.
    pub fn read_all(place: &Path) -> Result<Self, ConfigError> {
        if !place.is_dir() {
            return Self::read(place);
        }
        let mut whole: Option<Self> = None;
        for file in files(place)? {
            let part = Self::read(&file)?;
            match &mut whole {
                None => whole = Some(part),
                Some(whole) => whole.take_in(part, &file)?,
            }
        }
        whole.ok_or_else(|| ConfigError::Empty { directory: place.to_owned() })
    }

    fn take_in(&mut self, part: Self, file: &Path) -> Result<(), ConfigError> {
        let Self { servers, views, gateway, code, directory: _, warnings } = part;
        let usual = Self::default();
        let twice = |what: &'static str, name: &str| {
            Err(ConfigError::Twice { what, name: name.to_owned(), file: file.to_owned() })
        };
        for (name, server) in servers {
            if self.servers.contains_key(&name) {
                return twice("server", name.as_str());
            }
            self.servers.insert(name, server);
        }
        for (name, view) in views {
            if self.views.contains_key(&name) {
                return twice("view", name.as_str());
            }
            self.views.insert(name, view);
        }
        if gateway != usual.gateway {
            self.gateway = gateway;
        }
        if code != usual.code {
            self.code = code;
        }
        self.warnings.extend(warnings);
        Ok(())
    }
}

/// The files of servers in a directory, in the order of their names.
fn files(directory: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { file: directory.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if ENDINGS.contains(&ending) && !is_hidden && path.is_file() {
            files.push(path);
        }
        if files.len() > MOST_FILES {
            return Err(ConfigError::TooManyFiles { directory: directory.to_owned(), limit: MOST_FILES });
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_read_as_one_file_and_names_are_unique_in_it() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
        let empty = Config::read_all(place.path()).unwrap_err();
        assert!(empty.to_string().contains("no file of servers"), "{empty}");
        write("a.json", r#"{"mcpServers": {"time": {"command": "time-server"}}}"#);
        write("b.toml", "[servers.files]\ncommand = 'files'\n[code]\nwarm = 7\n");
        write(".hidden.json", "not json");
        write("notes.txt", "not json");
        let whole = Config::read_all(place.path()).unwrap();
        let names: Vec<_> = whole.servers.keys().map(crate::ServerName::as_str).collect();
        assert_eq!(names, ["files", "time"]);
        assert_eq!((whole.code.warm, whole.directory.as_path()), (7, place.path()));
        write("c.json", r#"{"mcpServers": {"time": {"command": "other"}}}"#);
        let twice = Config::read_all(place.path()).unwrap_err().to_string();
        assert!(twice.contains("time") && twice.contains("c.json"), "{twice}");
        write("c.json", "{");
        assert!(Config::read_all(place.path()).unwrap_err().to_string().contains("c.json"));
        assert_eq!(Config::read_all(&place.path().join("a.json")).unwrap().servers.len(), 1);
    }
}
