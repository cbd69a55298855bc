//! The keys of the gateway and of views.

use crate::keys::{Choice, Key, Kind, Zero, choice, key};

const AUDITS: [Choice; 3] = [
    choice("off", "nothing is written down"),
    choice("digest", "who called what, when, with which outcome, and a digest of the arguments"),
    choice("text", "the arguments as well, with whatever secrets are in them"),
];
const SURFACES: [Choice; 3] = [
    choice("full", "all tools are listed"),
    choice("search", "two tools are listed: one that finds tools, and one that calls them"),
    choice("code", "four tools are listed: they find and describe tools, and run Python that calls them"),
];
const APPROVALS: [Choice; 3] = [
    choice("auto", "all tools run"),
    choice("ask", "the client's user is asked about tools that do not say that they change nothing"),
    choice("deny", "tools that do not say that they change nothing do not run"),
];

/// `[code]`
pub(crate) const CODE: [Key; 12] = [
    key("enabled", Kind::Boolean, "false", "Whether Python can be run that calls tools.").or("true"),
    key(
        "python",
        Kind::Template,
        r#""/usr/bin/python3""#,
        "The interpreter, CPython 3.9 to 3.14; `python3` on the `PATH` where nothing is said.",
    )
    .known_as(&["interpreter"]),
    key("read", Kind::Templates, r#"["~/data"]"#, "Paths that code sees, read-only; beside those, nothing of yours."),
    key("warm", Kind::Count { least: 0 }, "4", "How many interpreters are kept ready, once code was first run.")
        .or("2"),
    key(
        "timeout",
        Kind::Number { zero: Zero::Refused },
        "10",
        "Seconds that code may run where its caller does not say.",
    )
    .or("30"),
    key("max-timeout", Kind::Number { zero: Zero::Refused }, "600", "The most seconds that a caller may ask for.")
        .or("120"),
    key(
        "yield-after",
        Kind::Number { zero: Zero::Refused },
        "5",
        "Seconds after which a call returns what there is, while its code goes on.",
    )
    .or("15"),
    key(
        "idle-stop",
        Kind::Number { zero: Zero::Refused },
        "30",
        "Minutes without code after which an interpreter is stopped, with its variables.",
    )
    .or("5"),
    key("notebooks", Kind::Count { least: 1 }, "16", "How many interpreters there are at once.").or("128"),
    key("calls", Kind::Count { least: 0 }, "100", "How many tools one piece of code may call.").or("1000"),
    key("memory", Kind::Size, r#""1G""#, "Memory of each interpreter's box.").or(r#""512M""#),
    key("approve", Kind::Choice(&APPROVALS), r#""ask""#, "Which tools run without asking somebody.").or(r#""auto""#),
];

/// `[gateway]`
pub(crate) const GATEWAY: [Key; 10] = [
    key(
        "listen",
        Kind::Address,
        r#""127.0.0.1:8080""#,
        "Where to listen; beyond this machine a bearer token is asked for.",
    )
    .or(r#""127.0.0.1:7330""#)
    .known_as(&["port", "host", "address", "bind"]),
    key(
        "allow-hosts",
        Kind::Texts,
        r#"["kennel.lan"]"#,
        "Further names by which clients may call this machine; `*` for any.",
    )
    .known_as(&["hosts"]),
    key(
        "allow-origins",
        Kind::Texts,
        r#"["https://app.example.com"]"#,
        "Web pages that may use the endpoints, beside their own; `*` for any.",
    )
    .known_as(&["origins", "cors"]),
    key(
        "token",
        Kind::Value,
        r#"{ "from-file": "~/.config/kennel/token" }"#,
        "The bearer token that clients send. Without one, only your own user and root are served on this machine, and \
         beyond it a token is made for each run.",
    )
    .known_as(&["auth", "api-key", "bearer"]),
    key(
        "session-idle",
        Kind::Number { zero: Zero::Refused },
        "10",
        "Minutes without a message after which a session is ended.",
    )
    .or("30"),
    key("max-message", Kind::Size, r#""8M""#, "The largest message that a client may send.").or(r#""64M""#),
    key(
        "max-unread",
        Kind::Size,
        r#""64M""#,
        "How many bytes of answers may wait for clients that do not read them, all servers together.",
    )
    .or(r#""512M""#),
    key(
        "starts",
        Kind::Count { least: 1 },
        "4",
        "How many processes may be starting at once, all servers together; four for each processor where nothing is said.",
    ),
    key("audit", Kind::Choice(&AUDITS), r#""off""#, "How much of calls is written down in the state.")
        .or(r#""digest""#),
    key(
        "data",
        Kind::Template,
        r#""~/kennel""#,
        "Where packages and what is known of servers are kept; `$XDG_DATA_HOME/kennel` where nothing is said.",
    ),
];

/// `[views.NAME]`
pub(crate) const VIEW: [Key; 7] = [
    key(
        "servers",
        Kind::Texts,
        r#"["github"]"#,
        "The servers in it, by name. Without `servers` and `tags`, all of them.",
    ),
    key(
        "tags",
        Kind::Texts,
        r#"["work"]"#,
        "The servers in it that have one of these tags, beside those that are named.",
    ),
    key("tools", Kind::Table(&VIEW_TOOLS), r#"{ "allow": ["*search*"] }"#, "Which tools are shown."),
    key("surface", Kind::Choice(&SURFACES), r#""search""#, "How tools are shown.").or(r#""full""#),
    key("code", Kind::Boolean, "true", "Whether Python can be run as well that calls its tools.").or("false"),
    key(
        "approve",
        Kind::Choice(&APPROVALS),
        r#""ask""#,
        "Which tools run without asking somebody when code calls them; as in `[code]` where nothing is said.",
    ),
    key("description", Kind::Text, r#""For the daily work""#, "What it is for.").known_as(&["about"]),
];

/// `[views.NAME.tools]`
const VIEW_TOOLS: [Key; 2] = [
    key(
        "allow",
        Kind::Patterns,
        r#"["*search*"]"#,
        "Only these tools, by the server's own names or as `server__tool`; `*` and `?` stand for letters.",
    )
    .known_as(&["include", "only"]),
    key("deny", Kind::Patterns, r#"["github__delete_*"]"#, "Not these tools, also if they are allowed.")
        .known_as(&["exclude"]),
];
