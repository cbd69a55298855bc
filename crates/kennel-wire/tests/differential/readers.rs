//! Readers as servers and clients use them, each one process for thousands of lines.

use serde::Deserialize;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What a reader takes a message for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Seen {
    pub(crate) method: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    #[serde(rename = "taskid")]
    pub(crate) task: Option<String>,
    pub(crate) result: bool,
    pub(crate) error: bool,
}

/// What readers make of lines; `None` for a line that one refuses.
pub(crate) type Readings = Vec<(&'static str, Vec<Option<Seen>>)>;

/// Has all readers read all lines.
pub(crate) fn read(lines: &[Vec<u8>]) -> Readings {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/differential");
    let mut python = Command::new("/usr/bin/python3");
    python.arg(here.join("reader.py"));
    let mut lax = Command::new("/usr/bin/python3");
    lax.arg(here.join("reader.py")).arg("lax");
    let mut node = Command::new(node());
    node.arg(here.join("reader.mjs"));
    let go = go(&here.join("reader.go"));
    let mut map = Command::new(go);
    map.arg("map");
    let mut readings: Readings = [
        ("Python", python),
        ("the most lenient", lax),
        ("Node", node),
        ("Go into a struct", Command::new(go)),
        ("Go into a map", map),
    ]
    .map(|(name, command)| (name, foreign(command, lines)))
    .into();
    readings.push(("serde_json into a value", lines.iter().map(|line| value(line)).collect()));
    readings.push(("serde_json into a struct", lines.iter().map(|line| structure(line)).collect()));
    readings
}

fn node() -> PathBuf {
    let place = std::env::var_os("KENNEL_TEST_NODE_BIN");
    PathBuf::from(place.expect("run scripts/install-test-tools and source scripts/environment.sh")).join("node")
}

/// The program in Go, built once. Only its standard library is used, so nothing is fetched.
fn go(program: &Path) -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let reader = place.join("reader");
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&reader).arg(program);
        go.env("GOCACHE", place.join("go")).env("GO111MODULE", "off").env("GOFLAGS", "").env("CGO_ENABLED", "0");
        let status = go.status().expect("Go is missing; scripts/install-test-tools installs it");
        assert!(status.success(), "the reader in Go cannot be built");
        reader
    })
}

fn foreign(mut command: Command, lines: &[Vec<u8>]) -> Vec<Option<Seen>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut input = child.stdin.take().expect("its input");
    let bytes = lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect::<Vec<_>>();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("the writer").expect("it reads all lines");
    let text = String::from_utf8(output.stdout).expect("its answers are text");
    let answers: Vec<_> = text.lines().map(answer).collect();
    assert_eq!(answers.len(), lines.len(), "{command:?}");
    answers
}

fn answer(line: &str) -> Option<Seen> {
    let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    if answer["refused"] == true {
        return None;
    }
    Some(serde_json::from_value(answer).expect("what was seen"))
}

fn value(line: &[u8]) -> Option<Seen> {
    let message: Value = serde_json::from_slice(line).ok().filter(Value::is_object)?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let param = |name: &str| text(&message["params"][name]);
    Some(Seen {
        method: text(&message["method"]),
        id: Some(&message["id"]).filter(|id| !id.is_null()).map(ToString::to_string),
        name: param("name"),
        uri: param("uri"),
        task: param("taskId"),
        result: message.get("result").is_some(),
        error: message.get("error").is_some(),
    })
}

fn structure(line: &[u8]) -> Option<Seen> {
    #[derive(Deserialize)]
    struct Read {
        id: Option<Value>,
        method: Option<String>,
        params: Option<Params>,
        #[serde(default, deserialize_with = "present")]
        result: bool,
        #[serde(default, deserialize_with = "present")]
        error: bool,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        name: Option<String>,
        uri: Option<String>,
        task_id: Option<String>,
    }
    fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| true)
    }
    let Read { id, method, params, result, error } = serde_json::from_slice(line).ok()?;
    let Params { name, uri, task_id } = params.unwrap_or_default();
    Some(Seen { method, id: id.map(|id| id.to_string()), name, uri, task: task_id, result, error })
}
