//! The ten servers of the fleet that are broken, each in a way of its own.

use crate::scene::File;
use crate::support::programs::fixture;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// A server that cannot be used, and what has to be said about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Broken {
    pub(crate) name: &'static str,
    /// What a client is told.
    pub(crate) told: &'static str,
    /// What the operator reads.
    pub(crate) logged: &'static str,
}

const fn broken_so(name: &'static str, told: &'static str, logged: &'static str) -> Broken {
    Broken { name, told, logged }
}

pub(crate) const ALL: [Broken; 10] = [
    broken_so("crashes", "the server ended unexpectedly (phase connect)", "exit code 3"),
    broken_so("loops", "the server ended unexpectedly", "signal 9"),
    broken_so("hangs", "the server was not ready in time (phase connect)", "not done within"),
    broken_so("chatters", "the server was not ready in time (phase handshake)", "beginning with: I am not a server"),
    broken_so("missing", "the server could not be started", "no-such-program-anywhere"),
    broken_so("foreign", "the server does not speak the protocol (phase handshake)", "handshake"),
    broken_so("slow", "was not ready within 2 s", ""),
    broken_so("huge", "the server says more of itself than may pass (phase preflight)", "`max-message`"),
    broken_so("mortal", "the outcome of this request is unknown", "exit code 70"),
    broken_so("lacking", "the server lacks a tool that it must have", "`no_such_tool`"),
];

/// Answers every request, with a result that means nothing.
const FOREIGN: &str = r#"while read -r line; do id=$(echo "$line" | sed -n 's/.*"id": *\("[^"]*"\|[0-9]*\).*/\1/p'); [ -n "$id" ] && echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"hello\":\"world\"}}"; done"#;

/// Passes on what a server says up to its list of tools, and ends the whole then.
const ENDS_WHEN_READY: &str =
    r#"while read -r line; do echo "$line"; case "$line" in *'"tools":['*) kill -9 $$; exec sleep 600;; esac; done"#;

/// Adds them; what they read is made in this place.
pub(crate) fn broken(file: File, place: &Path) -> File {
    let program = fixture().to_str().unwrap();
    let shell = |script: &str| format!("command = \"sh\"\nargs = [\"-c\", {script:?}]");
    let loops = format!("'{program}' | {ENDS_WHEN_READY}");
    let quick = "timeouts = { handshake = 3, discover = 1 }\nrestarts = 1\n";
    let tables = [
        ("hangs", shell("exec sleep 600") + "\n" + quick),
        ("chatters", shell("exec yes I am not a server") + "\n" + quick),
        ("foreign", shell(FOREIGN) + "\n" + quick),
        ("missing", "command = \"no-such-program-anywhere\"\n".to_owned()),
        (
            "loops",
            shell(&loops)
                + "\nmodel = \"shared\"\nrestarts = 2\nrestart-delay = 0.1\n"
                + &format!("box = {{ read = [{program:?}] }}\n"),
        ),
    ];
    let text = tables.map(|(name, keys)| format!("[servers.{name}]\n{keys}\n")).concat();
    let tools = huge(place);
    let huge = format!("max-message = \"256K\"\nbox = {{ read = [{:?}] }}\nrestarts = 1", tools.to_str().unwrap());
    file.text(&text)
        .fixture("crashes", &["--exit-at-start", "3"], "restarts = 1")
        .fixture("slow", &["--start-delay-ms", "10000"], "model = \"shared\"\ntimeouts = { start = 2 }")
        .fixture("huge", &["--tools-file", tools.to_str().unwrap()], &huge)
        .fixture("mortal", &["--crash-after", "0"], "")
        .fixture("lacking", &[], "require-tools = [\"no_such_tool\"]")
}

/// A list of more tools than anybody can use.
fn huge(place: &Path) -> std::path::PathBuf {
    let path = place.join("tools.jsonl");
    let mut lines = String::new();
    for number in 0..20_000 {
        let tool = json!({ "name": format!("tool_{number}"), "description": "One of very many.", "arguments": [] });
        writeln!(lines, "{tool}").unwrap();
    }
    std::fs::write(&path, lines).unwrap();
    path
}
