//! Who takes part: the fixture, the bare server, the floor, Kennel, and the gateways of others that are installed.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::process::Command;

use crate::caller::Door;
use crate::program::{Kind, Places, Program};

/// What this program is told to be the bare server, or the floor.
pub(crate) const SERVE_BARE: &str = "serve-bare";
pub(crate) const SERVE_FLOOR: &str = "serve-floor";

/// What Kennel knows about the server when it starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acquaintance {
    /// It has run it before.
    Known,
    /// It has never seen it.
    New,
}

/// Whether the gateways of others take part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peers {
    Invited,
    LeftOut,
}

/// All that take part; those that are absent are named.
pub(crate) fn all(places: &Places, others: Peers) -> io::Result<Vec<Program>> {
    let own = env::current_exe()?;
    let fixture = places.fixture.clone();
    let direct = Program {
        name: "direct stdio",
        kind: Kind::Direct,
        doors: vec![("direct stdio", Door::Pipe)],
        tool_prefix: "",
        command: None,
    };
    let bare = program("bare axum, no process", Kind::Bare, Door::Heedless("/"), {
        let own = own.clone();
        move |port| Ok(words(&own, [SERVE_BARE.into(), port.to_string().into()]))
    });
    let mut floor = program("floor", Kind::Floor, Door::Heedless("/"), move |port| {
        Ok(words(&own, [SERVE_FLOOR.into(), port.to_string().into(), fixture.clone().into()]))
    });
    floor.doors.push(("floor, modern requests", Door::Modern("/")));
    let mut shared = kennel("kennel, shared", Kind::Shared, "shared", Acquaintance::Known, places, &[]);
    shared.doors = vec![
        ("kennel, shared", Door::Session("/mcp")),
        ("kennel, shared, /rpc", Door::Post("/rpc")),
        ("kennel, shared, /ws", Door::Socket("/ws")),
        ("kennel, shared, modern client", Door::Modern("/mcp")),
    ];
    let mut modern =
        kennel("kennel, modern server", Kind::Modern, "shared", Acquaintance::New, places, &["--era", "modern"]);
    modern.doors = vec![
        ("kennel, modern server", Door::Session("/mcp")),
        ("kennel, modern server and client", Door::Modern("/mcp")),
    ];
    let per_session = kennel("kennel, per session", Kind::PerSession, "per-session", Acquaintance::Known, places, &[]);
    let mut all = vec![direct, bare, floor, shared, per_session, modern];
    all.extend(another_build(places));
    if others == Peers::Invited {
        all.extend(peers(places));
    }
    Ok(all)
}

/// Kennel, with everything that it does by default, before the fixture with these options.
pub(crate) fn kennel(
    name: &'static str,
    kind: Kind,
    model: &'static str,
    acquaintance: Acquaintance,
    places: &Places,
    options: &'static [&'static str],
) -> Program {
    kennel_at(Path::new(env!("CARGO_BIN_EXE_kennel")), name, kind, model, acquaintance, places, options)
}

/// Another build of Kennel, to be compared with this one in the same run, where `$KENNEL_BENCH_OTHER` names its program.
fn another_build(places: &Places) -> Option<Program> {
    let other = env::var_os("KENNEL_BENCH_OTHER").map(PathBuf::from)?;
    let mut other = kennel_at(&other, "another build", Kind::Peer, "shared", Acquaintance::New, places, &[]);
    other.doors = vec![
        ("another build", Door::Session("/mcp")),
        ("another build, /rpc", Door::Post("/rpc")),
        ("another build, /ws", Door::Socket("/ws")),
        ("another build, modern client", Door::Modern("/mcp")),
    ];
    Some(other)
}

fn kennel_at(
    kennel: &Path,
    name: &'static str,
    kind: Kind,
    model: &'static str,
    acquaintance: Acquaintance,
    places: &Places,
    options: &'static [&'static str],
) -> Program {
    let (kennel, scratch, fixture) = (kennel.to_path_buf(), places.scratch.clone(), places.fixture.clone());
    let starts = AtomicU32::new(0);
    program(name, kind, Door::Session("/mcp"), move |port| {
        let data = match acquaintance {
            Acquaintance::Known => scratch.join(format!("data-{model}")),
            Acquaintance::New => scratch.join(format!("data-{name}-{}", starts.fetch_add(1, Ordering::Relaxed))),
        };
        let listen = format!("127.0.0.1:{port}");
        let words: [OsString; 9] = [
            "run".into(),
            "--model".into(),
            model.into(),
            "--listen".into(),
            listen.into(),
            "--data".into(),
            data.into(),
            "--".into(),
            fixture.clone().into(),
        ];
        let mut command = self::words(&kennel, words);
        command.args(options);
        Ok(command)
    })
}

/// The gateways of others, where `scripts/install-peers` has put them.
fn peers(places: &Places) -> Vec<Program> {
    let node = env::var_os("KENNEL_TEST_NODE_BIN").map(|directory| PathBuf::from(directory).join("node"));
    let node = node.filter(|node| node.is_file()).unwrap_or_else(|| "node".into());
    let mut found = Vec::new();
    let mut add = |name, variable: &str, path, tool_prefix, make: fn(Peer<'_>) -> io::Result<Command>| {
        let (node, scratch, fixture) = (node.clone(), places.scratch.clone(), places.fixture.clone());
        match env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file()) {
            None => println!("{name} is not installed: scripts/install-peers does that, ${variable} says where it is."),
            Some(program) => found.push(Program {
                tool_prefix,
                ..self::program(name, Kind::Peer, Door::Session(path), move |port| {
                    let port = port.to_string();
                    make(Peer { node: &node, program: &program, scratch: &scratch, fixture: &fixture, port })
                })
            }),
        }
    };
    add("supergateway 4.0.0", "KENNEL_TEST_PEER_SUPERGATEWAY", "/mcp", "", |peer| {
        let mut command = words(peer.node, [peer.program.into(), "--stdio".into(), peer.fixture.into()]);
        command.args(["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none"]);
        command.args(["--port", &peer.port]);
        Ok(command)
    });
    add("mcp-proxy 6.7.19 (npm)", "KENNEL_TEST_PEER_MCP_PROXY_NPM", "/mcp", "", |peer| {
        let mut command = words(peer.node, [peer.program.into()]);
        command.args(["--host", "127.0.0.1", "--server", "stream", "--port", &peer.port, "--"]).arg(peer.fixture);
        Ok(command)
    });
    add("mcp-proxy 0.13.0 (PyPI)", "KENNEL_TEST_PEER_MCP_PROXY_PYPI", "/mcp", "", |peer| {
        let mut command = words(peer.program, ["--port".into(), peer.port.into()]);
        command.args(["--log-level", "ERROR", "--"]).arg(peer.fixture);
        Ok(command)
    });
    add("mcp-proxy 0.6.0 (crate)", "KENNEL_TEST_PEER_MCP_PROXY_CRATE", "/", "fixture/", |peer| {
        let config = peer.scratch.join("mcp-proxy.toml");
        let (port, fixture) = (&peer.port, peer.fixture.display());
        let text = format!(
            "[proxy]\nname = \"bench\"\nseparator = \"/\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\
             [[backends]]\nname = \"fixture\"\ntransport = \"stdio\"\ncommand = \"{fixture}\"\n\
             [observability]\nlog_level = \"error\"\n"
        );
        fs::write(&config, text)?;
        Ok(words(peer.program, ["--config".into(), config.into()]))
    });
    found
}

/// What the command of a peer is made from.
struct Peer<'a> {
    node: &'a Path,
    program: &'a Path,
    scratch: &'a Path,
    fixture: &'a Path,
    port: String,
}

fn program(
    name: &'static str,
    kind: Kind,
    door: Door,
    command: impl Fn(u16) -> io::Result<Command> + 'static,
) -> Program {
    Program { name, kind, doors: vec![(name, door)], tool_prefix: "", command: Some(Box::new(command)) }
}

fn words<const N: usize>(program: &Path, arguments: [OsString; N]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}
