//! The keys of a server and of its tables.

use crate::keys::{ByTool, Choice, Key, Kind, Zero, choice, key};

const MODELS: [Choice; 4] = [
    choice("per-session", "each session has its own process"),
    choice("shared", "all sessions have one process together"),
    choice("per-user", "all sessions of a user have one process together"),
    choice("per-call", "each call has its own process"),
];
const ERAS: [Choice; 3] = [
    choice("auto", "found out when it is first started, and remembered"),
    choice("legacy", "with sessions: up to 2025-11-25"),
    choice("modern", "without: since 2026-07-28"),
];
const STARTS: [Choice; 2] =
    [choice("lazy", "with the first call that needs it"), choice("eager", "with Kennel, a few servers at a time")];
const TRANSPORTS: [Choice; 3] = [
    choice("auto", "Streamable HTTP, and the older HTTP with SSE where a server has only that"),
    choice("http", "Streamable HTTP"),
    choice("sse", "the older HTTP with SSE"),
];
const ENGINES: [Choice; 2] =
    [choice("native", "a box of Kennel's own"), choice("host", "no box: the server may do all that you may do")];
const PROFILES: [Choice; 5] = [
    choice("default", "network; what platforms give to code they half trust"),
    choice("offline", "no network"),
    choice("offline_readonly", "no network, nothing writable, half a processor; all of that locked"),
    choice("network_basic", "the profile `default` by another name"),
    choice("network_extended", "network, twice of everything, and a root that can be written"),
];
const NETWORKS: [Choice; 2] = [choice("off", "none"), choice("on", "the host's network, its loopback included")];
const WALLS: [Choice; 2] =
    [choice("namespaces", "all that needs namespaces: a much weaker box"), choice("cpu", "a fraction of a processor")];

/// `[servers.NAME]` and, mostly, `[defaults]`.
pub(crate) const SERVER: [Key; 28] = [
    key("command", Kind::Template, r#""npx""#, "The program that is the server; `${NAME}` is replaced.")
        .known_as(&["cmd", "program", "executable"])
        .server_only(),
    key("args", Kind::Templates, r#"["-y", "@modelcontextprotocol/server-everything"]"#, "Its arguments; `${NAME}` is replaced.")
        .known_as(&["arguments"])
        .server_only(),
    key(
        "env",
        Kind::Variables,
        r#"{ "LOG": "info", "TOKEN": { "from-env": "MY_TOKEN" } }"#,
        "Its variables: text with `${NAME}` in it, or where a secret is kept. Nothing else of your environment is passed on.",
    )
    .known_as(&["environment", "environ", "vars"]),
    key("cwd", Kind::Template, r#""~/projects""#, "Where it starts, in the box; relative to this file.")
        .known_as(&["workdir", "working-directory", "dir"]),
    key("url", Kind::Template, r#""https://mcp.example.com/mcp""#, "Instead of `command`: where a server is that runs elsewhere.")
        .known_as(&["serverUrl", "httpUrl", "endpoint", "uri"])
        .server_only(),
    key(
        "headers",
        Kind::Headers,
        r#"{ "Authorization": "Bearer ${API_TOKEN}" }"#,
        "With `url`: headers of every request, set as in `env`.",
    )
    .known_as(&["http-headers"])
    .server_only(),
    key("transport", Kind::Choice(&TRANSPORTS), r#""sse""#, "With `url`: how it is talked to.")
        .or(r#""auto""#)
        .known_as(&["type"])
        .server_only(),
    key("enabled", Kind::Boolean, "false", "Whether it is served at all.")
        .or("true")
        .known_as(&["disabled", "active"]),
    key("description", Kind::Text, r#""Issues and pull requests""#, "What it is for, in place of what it says itself.")
        .known_as(&["about", "instructions"])
        .server_only(),
    key("tags", Kind::Texts, r#"["work"]"#, "Words by which views select it.").known_as(&["labels", "groups"]),
    key("start", Kind::Choice(&STARTS), r#""eager""#, "When its first process is started.").or(r#""lazy""#),
    key("model", Kind::Choice(&MODELS), r#""shared""#, "Which clients share a process.").or(r#""per-session""#),
    key("era", Kind::Choice(&ERAS), r#""legacy""#, "How it is talked to; clients of either era reach it.")
        .or(r#""auto""#)
        .known_as(&["protocol-version"]),
    key("concurrency", Kind::Count { least: 1 }, "4", "How many calls a process gets at once; without it, as many as there are.")
        .known_as(&["max-concurrent-requests", "max-concurrency"]),
    key("queue", Kind::Count { least: 0 }, "100", "How many calls may wait for a process; further ones are refused at once.")
        .or("4096")
        .known_as(&["queue-size"]),
    key("max-message", Kind::Size, r#""8M""#, "The largest message that passes, either way.").or(r#""64M""#),
    key(
        "max-result",
        Kind::Size,
        r#""1M""#,
        "The largest result of a tool that passes; a larger one is kept to be read in parts. As `max-message` where nothing is said.",
    ),
    key("max-install", Kind::Size, r#""1G""#, "How large the install of its package may be.").or(r#""8G""#),
    key("max-install-files", Kind::Count { least: 1 }, "50000", "How many files the install of its package may have.")
        .or("250000"),
    key("max-processes", Kind::Count { least: 1 }, "8", "How many processes it may have at once.").or("64"),
    key(
        "idle-stop",
        Kind::Number { zero: Zero::Allowed },
        "5",
        "Minutes without calls after which a process is stopped, to be started with the next; 0 for never.",
    )
    .or("15"),
    key(
        "restarts",
        Kind::Count { least: 0 },
        "3",
        "How often a process that died is started again within five minutes before Kennel gives up.",
    )
    .or("5"),
    key(
        "restart-delay",
        Kind::Number { zero: Zero::Refused },
        "1",
        "Seconds before the first of these restarts; each further one waits twice as long, up to a minute.",
    )
    .or("0.25"),
    key("refresh", Kind::Boolean, "true", "Whether a newer version of its package is looked for when Kennel starts.").or("false"),
    key("require-tools", Kind::Texts, r#"["search"]"#, "Tools without which it does not count as started.")
        .known_as(&["required-tools"])
        .server_only(),
    key("box", Kind::Table(&BOX), r#"{ "network": "on" }"#, "What its box may touch and use.").known_as(&["sandbox"]),
    key("timeouts", Kind::Table(&TIMEOUTS), r#"{ "call": 60 }"#, "How long things may take, in seconds.")
        .known_as(&["timeout", "call-timeout"]),
    key("tools", Kind::Table(&TOOLS), r#"{ "deny": ["delete_*"] }"#, "Which of its tools are shown, and how.")
        .known_as(&["disabledTools", "enabledTools", "allow", "deny"]),
];

/// `[servers.NAME.box]`
const BOX: [Key; 12] = [
    key("engine", Kind::Choice(&ENGINES), r#""host""#, "What makes the box.").or(r#""native""#),
    key("profile", Kind::Choice(&PROFILES), r#""network_basic""#, "Where the defaults of the box come from.")
        .or(r#""offline""#),
    key(
        "read",
        Kind::Templates,
        r#"["~/notes"]"#,
        "Paths that it sees, read-only: `PATH`, or `PATH:PLACE` for another place in the box.",
    )
    .known_as(&["allow-read", "mounts"]),
    key("write", Kind::Templates, r#"["./out"]"#, "Paths that it sees and may change: `PATH`, or `PATH:PLACE`.")
        .known_as(&["allow-write"]),
    key("infer", Kind::Boolean, "false", "Whether paths that the command names are granted read-only.").or("true"),
    key(
        "network",
        Kind::Choice(&NETWORKS),
        r#""on""#,
        "What it sees of the network; the profile's where nothing is said.",
    ),
    key("memory", Kind::Size, r#""1G""#, "Memory of the whole box; the profile's where nothing is said."),
    key("pids", Kind::Count { least: 1 }, "64", "Processes and threads; the profile's where nothing is said.")
        .known_as(&["processes"]),
    key("cpus", Kind::Number { zero: Zero::Refused }, "0.5", "Processors; the profile's where nothing is said.")
        .known_as(&["cpu"]),
    key("tmp-size", Kind::Size, r#""256M""#, "What `/tmp`, `/var/tmp` and the home directory may hold, each.")
        .or(r#""64M""#),
    key(
        "timeout",
        Kind::Number { zero: Zero::Refused },
        "60",
        "Seconds after which a process is ended, whatever it does.",
    ),
    key(
        "accept-missing",
        Kind::Choices(&WALLS),
        r#"["cpu"]"#,
        "Walls that may be missing where this machine cannot have them.",
    ),
];

/// `[servers.NAME.timeouts]`
const TIMEOUTS: [Key; 9] = [
    key("call", SECONDS, "60", "That a call may go without an answer or progress.")
        .or("300")
        .known_as(&["tool", "request"]),
    key("call-total", SECONDS, "600", "That a call may take in all, whatever its progress.").or("3600"),
    key("start", SECONDS, "30", "That a call waits for a process that is not ready.").or("360").known_as(&["startup"]),
    key("install", SECONDS, "600", "For installing the package.").or("300"),
    key("create-box", SECONDS, "10", "For making the box.").or("30"),
    key("start-process", SECONDS, "10", "For starting the program in it.").or("30"),
    key("handshake", SECONDS, "20", "From the first message to the end of the handshake.").or("60"),
    key("discover", SECONDS, "5", "For an answer in the modern era, before the legacy one is tried.").or("10"),
    key("preflight", SECONDS, "10", "For listing the tools.").or("30"),
];

const SECONDS: Kind = Kind::Number { zero: Zero::Refused };

/// `[servers.NAME.tools]` and, but for the last two, `[views.NAME.tools]`
const TOOLS: [Key; 4] = [
    key(
        "allow",
        Kind::Patterns,
        r#"["get_*", "search"]"#,
        "Only these tools, by the server's own names; `*` and `?` stand for letters.",
    )
    .known_as(&["include", "enabled", "only"]),
    key("deny", Kind::Patterns, r#"["delete_*"]"#, "Not these tools, also if they are allowed.")
        .known_as(&["exclude", "disabled"]),
    key("rename", Kind::ByTool(ByTool::Name), r#"{ "search": "search_issues" }"#, "Other names for tools."),
    key(
        "descriptions",
        Kind::ByTool(ByTool::Description),
        r#"{ "search": "Finds issues." }"#,
        "Other descriptions for tools.",
    )
    .known_as(&["description"]),
];
