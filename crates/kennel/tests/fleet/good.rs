//! The ninety servers of the fleet that do well: fixtures of all eras and models, and five real ones.

use crate::scene::File;
use crate::support::programs::material;
use crate::support::running::run;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// A server, and a call that it has to understand.
#[derive(Clone)]
pub(crate) struct Good {
    pub(crate) name: String,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// What is in the text of its answer.
    pub(crate) says: String,
}

impl Good {
    pub(crate) fn fixture(name: String) -> Self {
        let says = format!("I am {name}");
        Self { name, tool: "echo", arguments: json!({ "message": says }), says }
    }
}

const ERAS: [&str; 3] = ["legacy", "modern", "dual"];
const MODELS: [&str; 5] = ["shared", "per-session", "shared", "per-user", "per-call"];

/// Adds fixtures of all eras and models.
pub(crate) fn fixtures(mut file: File, count: usize) -> (File, Vec<Good>) {
    let mut all = Vec::new();
    for number in 0..count {
        let (era, model) = (ERAS[number % ERAS.len()], MODELS[number % MODELS.len()]);
        let name = format!("{era}-{number:02}");
        file = file.fixture(&name, &["--era", era], &format!("model = {model:?}\ntags = [{era:?}]"));
        all.push(Good::fixture(name));
    }
    (file, all)
}

/// Adds the real servers, which find what they need in this place.
pub(crate) fn real(file: File, place: &Path) -> (File, Vec<Good>) {
    let node = material("KENNEL_TEST_NODE_BIN").join("node").to_str().unwrap().to_owned();
    let (directory, repository) = (place.join("granted"), repository(place));
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("file"), "what is in the file").unwrap();
    let path = |variable| material(variable).to_str().unwrap().to_owned();
    let node = |variable, more: &[&Path]| {
        let words = more.iter().map(|more| more.to_str().unwrap().to_owned());
        let words: Vec<_> = [path(variable)].into_iter().chain(words).collect();
        format!("command = {node:?}\nargs = {words:?}")
    };
    let git = path("KENNEL_TEST_SERVER_GIT");
    let keys = [
        ("everything", node("KENNEL_TEST_SERVER_EVERYTHING", &[])),
        ("files", node("KENNEL_TEST_SERVER_FILESYSTEM", &[&directory])),
        // By default it writes beside its own program, which no box lets it.
        ("memory", node("KENNEL_TEST_SERVER_MEMORY", &[]) + "\nenv = { MEMORY_FILE_PATH = \"/tmp/memory.jsonl\" }"),
        ("git", format!("command = {git:?}\nargs = [\"--repository\", {repository:?}]")),
        ("time", format!("command = {:?}", path("KENNEL_TEST_SERVER_TIME"))),
    ];
    // One process of each is enough: they are large.
    let text = keys.map(|(name, keys)| format!("[servers.{name}]\n{keys}\nmodel = \"shared\"\n\n")).concat();
    let entity = json!({ "name": "Rex", "entityType": "dog", "observations": ["barks at strangers"] });
    let conversion = json!({ "source_timezone": "Asia/Tokyo", "time": "09:30", "target_timezone": "UTC" });
    let good = |name: &str, tool, arguments, says: &str| Good {
        name: name.to_owned(),
        tool,
        arguments,
        says: says.to_owned(),
    };
    let all = vec![
        good("everything", "get-sum", json!({ "a": 2, "b": 3.5 }), "The sum of 2 and 3.5 is 5.5."),
        good("files", "read_text_file", json!({ "path": directory.join("file") }), "what is in the file"),
        good("memory", "create_entities", json!({ "entities": [entity] }), ""),
        good("git", "git_log", json!({ "repo_path": repository }), "Message: the only commit"),
        good("time", "convert_time", conversion, "T00:30:00"),
    ];
    (file.text(&text), all)
}

/// A repository with a commit.
fn repository(place: &Path) -> String {
    let repository = place.join("repository");
    std::fs::create_dir(&repository).unwrap();
    std::fs::write(repository.join("file"), "committed").unwrap();
    for words in [&["init", "--quiet"][..], &["add", "file"], &["commit", "--quiet", "--message", "the only commit"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=A Tester", "-c", "user.email=tester@example.test"]).args(words);
        git.current_dir(&repository).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", place).stdin(Stdio::null());
        run(git).fine();
    }
    repository.to_str().unwrap().to_owned()
}
