//! Copies of the files, and entries as JSON that says everything of them.

use kennel_config::clients::{Client, Entry, Launch, Spelling, Surroundings, System, Text, Transport, read_client};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

/// A client's files in a directory that goes away.
pub(crate) struct Scene {
    directory: tempfile::TempDir,
    pub(crate) surroundings: Surroundings,
}

impl Scene {
    pub(crate) fn new(client: Client) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (home, project) = (directory.path().join("home"), directory.path().join("project"));
        copy(&files().join(client.word()), directory.path(), &home);
        let surroundings = Surroundings {
            system: System::Linux,
            home,
            project: Some(project),
            variables: std::collections::BTreeMap::new(),
        };
        Self { directory, surroundings }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The entries of a client, with the directory's name taken out.
    pub(crate) fn shown(&self, client: Client) -> Value {
        let gathered = read_client(client, &self.surroundings);
        assert!(gathered.problems.is_empty(), "{:?}", gathered.problems);
        let shown = Value::Array(gathered.found.entries.iter().map(shown).collect()).to_string();
        let shown = shown.replace(&self.path().to_string_lossy().into_owned(), "");
        serde_json::from_str(&shown).expect("JSON")
    }

    pub(crate) fn entries(&self, client: Client) -> Vec<Entry> {
        read_client(client, &self.surroundings).found.entries
    }
}

fn copy(from: &Path, to: &Path, home: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("files of the client") {
        let path = entry.expect("a file").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target, home);
        } else {
            let bytes = fs::read(&path).expect("a file");
            // What has to name an absolute path names the home.
            match String::from_utf8(bytes) {
                Ok(text) => fs::write(target, text.replace("@HOME@", &home.to_string_lossy())),
                Err(error) => fs::write(target, error.as_bytes()),
            }
            .expect("a copy");
        }
    }
}

/// All that an entry says, in Kennel's spelling, and only what it says.
pub(crate) fn shown(entry: &Entry) -> Value {
    let text = |text: &Text| text.spelled(Spelling::Kennel).expect("Kennel spells it");
    let table = |texts: &[(String, Text)]| {
        Value::Object(texts.iter().map(|(name, value)| (name.clone(), text(value).into())).collect())
    };
    let mut shown = Map::new();
    shown.insert("name".into(), entry.name.clone().into());
    shown.insert("scope".into(), entry.origin.scope.to_string().into());
    match &entry.launch {
        Launch::Stdio { command, args, env, cwd } => {
            let words: Vec<String> = [command].into_iter().chain(args).map(text).collect();
            shown.insert("command".into(), words.into());
            if !env.is_empty() {
                shown.insert("env".into(), table(env));
            }
            if let Some(cwd) = cwd {
                shown.insert("cwd".into(), text(cwd).into());
            }
        }
        Launch::Http { url, headers, transport } => {
            let way = match transport {
                Transport::Auto => "auto",
                Transport::Http => "http",
                Transport::Sse => "sse",
            };
            shown.insert(way.into(), text(url).into());
            if !headers.is_empty() {
                shown.insert("headers".into(), table(headers));
            }
        }
    }
    if !entry.enabled {
        shown.insert("off".into(), true.into());
    }
    for (name, time) in [("start", entry.timeouts.start), ("call", entry.timeouts.call)] {
        if let Some(time) = time {
            shown.insert(name.into(), json!(time.as_secs_f64()));
        }
    }
    if let Some(allow) = &entry.tools.allow {
        shown.insert("allow".into(), json!(allow));
    }
    if !entry.tools.deny.is_empty() {
        shown.insert("deny".into(), json!(entry.tools.deny));
    }
    if let Some(description) = &entry.description {
        shown.insert("description".into(), description.clone().into());
    }
    for (name, node) in &entry.other {
        shown.insert(format!("other.{name}"), node.to_json());
    }
    Value::Object(shown)
}
