//! What can be said on the command line.

mod clients;
mod code;
mod gateways;

use clap::{Args, Parser, Subcommand, ValueEnum};
use kennel_box::Size;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

pub(crate) use clients::{
    Add, ClientCommand, Connect, Consent, Export, Import, Install, OwnFile, RecordsFlag, Remove, TransportName,
};
pub(crate) use code::{Code, SavedCommand, SavedPlace};
pub(crate) use gateways::{Accepted, ConfigCommand, Control, Events, GatewayFlags, Inspect, Logs, Ps, Reload, Serve};

/// Run MCP servers and other programs that nobody has reason to trust, each alone in its own box.
#[derive(Debug, Parser)]
#[command(name = "kennel", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command in a box, with this terminal's input and output and its exit code
    Exec(Box<Exec>),
    /// Put an MCP server in a box behind a stable endpoint
    Run(Box<Run>),
    /// Call a tool of an MCP server that runs, or of one that is started for this call
    Call(Box<Call>),
    /// List the tools of an MCP server with their arguments
    Tools(Box<Tools>),
    /// Add a server to the list
    Add(Box<Add>),
    /// Take a server out of the list
    Remove(Remove),
    /// Take servers over from other clients' files
    Import(Import),
    /// Say servers in another client's words
    Export(Export),
    /// Point other clients at Kennel
    #[command(subcommand)]
    Client(ClientCommand),
    /// Reach a gateway through standard input and output
    Connect(Connect),
    /// Say what this machine offers to boxes, and prove that a box is isolated
    Doctor(Doctor),
    /// Print the completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Look around from inside a box and print what is seen
    #[command(hide = true)]
    SelfCheck,
    /// Put all MCP servers of a file behind one gateway
    Serve(Serve),
    /// Serve Python that calls the tools of all servers of a file, on standard input and output
    Code(Code),
    /// List, show and remove tools that code has saved
    #[command(subcommand)]
    Saved(SavedCommand),
    /// List the servers of the gateway that runs
    Ps(Ps),
    /// Print what a server has printed
    Logs(Logs),
    /// End the processes of servers, and start none until `kennel start`
    Stop(Control),
    /// Start servers
    Start(Control),
    /// Replace the processes of servers, without ending sessions or calls
    Restart(Control),
    /// Tell all about one server
    Inspect(Inspect),
    /// Print what has happened to servers
    Events(Events),
    /// Have the gateway read its file again
    Reload(Reload),
    /// Check the file of servers, find it, or print its JSON schema
    #[command(subcommand)]
    Config(ConfigCommand),
}

/// `kennel exec`
#[derive(Debug, Args)]
#[command(after_help = "\
The command sees the base system read-only, the interpreters on your PATH, an empty home and an empty /tmp. \
It sees no network and nothing of your files but what --read and --write grant.\n
Exit code: that of the command; 128 and the signal's number if a signal ended it; 125 if there was no box, \
126 if the command cannot be executed, 127 if it was not found.\n
Examples:
  kennel exec -- python3 -c 'print(6 * 7)'
  kennel exec --read . -- python3 script.py
  kennel exec --write ./out --network on --env TOKEN -- ./fetch ./out")]
pub(crate) struct Exec {
    #[command(flatten)]
    pub(crate) sandbox: BoxFlags,
    /// Say on standard error what the box was granted and what holds its limits
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// `kennel run`
#[derive(Debug, Args)]
#[command(after_help = "\
The server sees the base system read-only, the interpreters on your PATH, an empty home and an empty /tmp, the paths \
that its command names (read-only), and nothing else but what --read and --write grant. It has no network unless \
--network on. Packages of npx, uvx and the like are installed once, in a box of their own with network, and run from \
there.\n
Examples:
  kennel run -- npx -y @modelcontextprotocol/server-everything
  kennel run -- uvx mcp-server-time
  kennel run --write ./notes -- npx -y @modelcontextprotocol/server-filesystem ./notes
  kennel run --stdio -- python3 server.py")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    /// Where to listen; beyond this machine a bearer token is asked for
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7330")]
    pub(crate) listen: SocketAddr,
    /// Serve one client on standard input and output instead of listening
    #[arg(long, conflicts_with_all = ["listen", "allow_host", "allow_origin", "token_env", "token_file"])]
    pub(crate) stdio: bool,
    /// A further name by which clients may call this machine; `*` for any
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// A web page that may use the endpoint, such as `https://app.example.com`; `*` for any
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    #[command(flatten)]
    pub(crate) token: TokenFlags,
    /// Minutes without a message after which a session is ended
    #[arg(long, value_name = "MINUTES", default_value_t = 30)]
    pub(crate) session_idle: u64,
    /// Print what happens as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// The server's command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The token that clients of an endpoint have to send.
#[derive(Debug, Args)]
pub(crate) struct TokenFlags {
    /// Ask clients for the bearer token in this variable; without a token, only your own user and root are served here
    #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
    pub(crate) token_env: Option<String>,
    /// Ask clients for the bearer token in this file
    #[arg(long, value_name = "PATH")]
    pub(crate) token_file: Option<PathBuf>,
}

/// `kennel call`
#[derive(Debug, Args)]
#[command(after_help = "\
Values are understood by what the tool says of its arguments: text stays text; numbers, true, false, null, objects and \
arrays are JSON. NAME:=JSON sends a value as it is written. The result's text goes to standard output; pictures, sounds \
and resources get a line each, or a file with --save.\n
An endpoint that asks for a token gets the one in KENNEL_TOKEN.\n
Exit code: 0; 1 if the tool or the server says that it failed; 125 if the call could not be made.\n
Examples:
  kennel call echo message=hi
  kennel call --url http://127.0.0.1:7331 get-sum a=2 b=3
  kennel call --run 'npx -y @modelcontextprotocol/server-everything' echo message=hi
  kennel call --run 'python3 server.py' search query=dogs limit=5 'tags:=[\"small\",\"brown\"]'
  kennel call search --args @arguments.json --json | jq .structuredContent")]
pub(crate) struct Call {
    /// The tool
    pub(crate) tool: String,
    /// Its arguments
    #[arg(value_name = "NAME=VALUE|NAME:=JSON")]
    pub(crate) arguments: Vec<String>,
    /// All arguments at once: a JSON object, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with = "arguments", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// Print the result as the server spelled it
    #[arg(long)]
    pub(crate) json: bool,
    /// Write pictures, sounds and resources to files in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub(crate) save: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) whom: Whom,
}

/// `kennel tools`
#[derive(Debug, Args)]
#[command(after_help = "\
Arguments in brackets can be left out. `kennel tools --json` prints all that the server says of its tools.\n
Examples:
  kennel tools
  kennel tools --url http://127.0.0.1:7331
  kennel tools --run 'uvx mcp-server-time'
  kennel tools --json | jq '.[].name'")]
pub(crate) struct Tools {
    /// Print the list as the server spelled it, as one JSON array
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) whom: Whom,
}

/// Which MCP server a command asks.
#[derive(Debug, Args)]
#[command(mut_args(only_with_run))]
pub(crate) struct Whom {
    /// Start this server in a box, ask it and stop it; words are split as in a shell, and nothing is expanded
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "server"])]
    pub(crate) run: Option<String>,
    /// The endpoint of a server or a gateway that runs
    #[arg(
        long,
        value_name = "URL",
        help = "The endpoint of a server or a gateway that runs [default: http://127.0.0.1:7330]"
    )]
    pub(crate) url: Option<String>,
    /// One of the servers of the gateway: the one at --url, or the one that runs here
    #[arg(long = "server", id = "server", value_name = "NAME")]
    pub(crate) of_gateway: Option<String>,
    /// The admin socket of the gateway that runs here
    #[arg(long, value_name = "PATH", env = "KENNEL_SOCKET", hide_env_values = true, conflicts_with = "run")]
    pub(crate) socket: Option<PathBuf>,
    #[command(flatten, next_help_heading = FOR_RUN)]
    pub(crate) server: ServerFlags,
}

/// Where the help shows what is of use only with --run.
const FOR_RUN: &str = "Options for --run";

/// Refuses flags that would do nothing: those of a server that is not started here. The variable for --data may be set.
fn only_with_run(argument: clap::Arg) -> clap::Arg {
    match argument.get_id().as_str() {
        "max_message" | "call_timeout" => argument.help_heading(None::<&str>),
        "data" => argument,
        _ if argument.get_help_heading() == Some(FOR_RUN) => argument.requires("run"),
        _ => argument,
    }
}

/// The flags of every command that runs an MCP server.
#[derive(Debug, Args)]
pub(crate) struct ServerFlags {
    #[command(flatten)]
    pub(crate) sandbox: BoxFlags,
    /// Grant nothing but what --read and --write say, also if the command names other paths
    #[arg(long)]
    pub(crate) no_infer: bool,
    /// What to call the server in messages; by default after its command
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Which clients share a process
    #[arg(long, default_value = "per-session")]
    pub(crate) model: ModelName,
    /// How the server is talked to; clients of either era reach it
    #[arg(long, default_value = "auto")]
    pub(crate) era: EraName,
    /// A tool without which the server is of no use
    #[arg(long, value_name = "TOOL")]
    pub(crate) require_tool: Vec<String>,
    /// The largest message that passes
    #[arg(long, value_name = "SIZE", default_value = "64M")]
    pub(crate) max_message: Size,
    /// The largest result of a tool that passes; a larger one is kept to be read in parts (default: as --max-message)
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_result: Option<Size>,
    /// How large the install of its package may be
    #[arg(long, value_name = "SIZE", default_value = "8G")]
    pub(crate) max_install: Size,
    /// How many files the install of its package may have
    #[arg(long, value_name = "N", default_value = "250000")]
    pub(crate) max_install_files: NonZeroU32,
    /// How many processes the server may have at once
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) max_processes: usize,
    /// How many requests a process gets at once; further ones wait for their turn (default: as many as there are)
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<NonZeroU32>,
    /// Seconds that a call may take without an answer or progress
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub(crate) call_timeout: f64,
    /// Minutes without calls after which a process is stopped, to be started with the next; 0 for never
    #[arg(long, value_name = "MINUTES", default_value_t = 15.0)]
    pub(crate) idle_stop: f64,
    /// How often a process that died is started again within five minutes before Kennel gives up
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) restarts: u32,
    /// Seconds before the first of these restarts; each further one waits twice as long, up to a minute
    #[arg(long, value_name = "SECONDS", default_value_t = 0.25)]
    pub(crate) restart_delay: f64,
    /// Look for a newer version of the package, instead of running the one that is installed
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Where packages and what is known of servers are kept
    #[arg(long, value_name = "PATH", env = "KENNEL_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
}

/// The flags of every command that makes a box.
#[derive(Debug, Args)]
pub(crate) struct BoxFlags {
    /// Show a path read-only, at the same place or at another (PATH:PLACE)
    #[arg(long, value_name = "PATH")]
    pub(crate) read: Vec<PathBuf>,
    /// Show a path and let it be changed, at the same place or at another (PATH:PLACE)
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<PathBuf>,
    /// The host's network, or none
    #[arg(long)]
    pub(crate) network: Option<OnOff>,
    /// Memory for the whole box, such as 512M
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Size>,
    /// Processes and threads in the box
    #[arg(long, value_name = "N")]
    pub(crate) pids: Option<u32>,
    /// Processors, such as 1 or 0.5
    #[arg(long, value_name = "N")]
    pub(crate) cpus: Option<f64>,
    /// What /tmp, /var/tmp and the home directory may hold, each
    #[arg(long, value_name = "SIZE")]
    pub(crate) tmp_size: Option<Size>,
    /// Set a variable (NAME=VALUE), or pass on the one you have (NAME)
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// Where to start; by default here if the box sees it, else its home directory
    #[arg(long, value_name = "PATH")]
    pub(crate) cwd: Option<PathBuf>,
    /// Seconds after which the command is ended
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
    /// Where the defaults come from
    #[arg(long, default_value = "offline")]
    pub(crate) profile: ProfileName,
    /// What makes the box; `host` makes none and lets the command do all that you may do
    #[arg(long, default_value = "native")]
    pub(crate) engine: EngineName,
    /// Go on without a wall where this machine cannot have it
    #[arg(long, value_name = "WALL")]
    pub(crate) accept_missing: Vec<WallName>,
}

/// `kennel doctor`
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ModelName {
    /// Each session has its own
    PerSession,
    /// All sessions have one together
    Shared,
    /// All sessions of a user have one together
    PerUser,
    /// Each call has its own
    PerCall,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EraName {
    /// Found out when it is first started, and remembered
    Auto,
    /// With sessions: up to 2025-11-25
    Legacy,
    /// Without: since 2026-07-28
    Modern,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OnOff {
    Off,
    On,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ProfileName {
    Default,
    Offline,
    OfflineReadonly,
    NetworkBasic,
    NetworkExtended,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EngineName {
    Native,
    Host,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WallName {
    /// All that needs namespaces: a much weaker box of Landlock and seccomp alone
    Namespaces,
    /// A fraction of a processor
    Cpu,
}
