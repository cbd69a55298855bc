//! Somebody's home with files of other clients, and Kennel called there.

use crate::support::caller::myself;
use crate::support::ground::Ground;
use crate::support::running::{Ran, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const CURSOR: &str = "{\n  // mine\n  \"mcpServers\": {\n    \"time\": { \"command\": \"uvx\", \"args\": [\"mcp-server-time\"] },\n    \"keyed\": { \"command\": \"keyed\", \"env\": { \"KEY\": \"cursor-secret-1\" } },\n  },\n}\n";
pub(crate) const CODEX: &str = "# mine\n[mcp_servers.time]\ncommand = \"npx\"\nargs = [\"time-mcp\"]\n";

pub(crate) struct Scene {
    pub(crate) ground: Ground,
}

impl Scene {
    /// A home with Cursor and Codex in it.
    pub(crate) fn new() -> Self {
        let scene = Self { ground: Ground::new(myself()) };
        for directory in ["work/user", "work/project", "work/user/.cursor", "work/user/.codex"] {
            scene.ground.make_directory(directory);
        }
        scene.write(".cursor/mcp.json", CURSOR);
        scene.write(".codex/config.toml", CODEX);
        scene
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.ground.make_file(&format!("work/user/{name}"), text, 0o644);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.ground.path("work/user").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Kennel's own file, where it is usual.
    pub(crate) fn own(&self) -> PathBuf {
        self.path(".config/kennel/kennel.toml")
    }

    /// `kennel` with these words, at home in the user's home and somewhere in a project.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.ground.kennel(words);
        command.env("HOME", self.ground.path("work/user")).current_dir(self.ground.path("work/project"));
        command
    }

    #[track_caller]
    pub(crate) fn kennel(&self, words: &[&str]) -> Ran {
        run(self.command(words))
    }

    /// All files of the home with what is in them.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.ground.path("work/user"), &mut files);
        files
    }
}

fn collect(directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}
