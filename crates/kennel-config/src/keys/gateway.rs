//! The keys of the gateway and of views.

use crate::keys::{Choice, Key, Kind, Zero, choice, key};

const AUDITS: [Choice; 3] = [
    choice("off", "nothing is written down"),
    choice("digest", "who called what, when, with which outcome, and a digest of the arguments"),
    choice("text", "the arguments as well, with whatever secrets are in them"),
];
const SURFACES: [Choice; 2] = [
    choice("full", "all tools are listed"),
    choice("search", "two tools are listed: one that finds tools, and one that calls them"),
];

/// `[gateway]`
pub(crate) const GATEWAY: [Key; 7] = [
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
        "Web pages that may use the endpoints; `*` for any.",
    )
    .known_as(&["origins", "cors"]),
    key(
        "session-idle",
        Kind::Number { zero: Zero::Refused },
        "10",
        "Minutes without a message after which a session is ended.",
    )
    .or("30"),
    key("max-message", Kind::Size, r#""8M""#, "The largest message that a client may send.").or(r#""64M""#),
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
pub(crate) const VIEW: [Key; 5] = [
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
