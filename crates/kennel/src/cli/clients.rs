//! What can be said about other clients' files and about the list of servers.

use clap::{Args, Subcommand, ValueEnum};
use kennel_box::Size;
use kennel_config::clients::Client;
use std::ffi::OsString;
use std::path::PathBuf;

/// `kennel import`
#[derive(Debug, Args)]
#[command(after_help = "\
What would change is shown first, as a diff without the values of secrets; nothing is written before you say yes. A copy \
of the file as it was is kept beside it. Entries that lead to Kennel itself are left out, and so is every file that is \
broken.\n
Clients: claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf, opencode, zed.\n
Exit code: 0; 1 if a file was broken or you said no; 125 if nothing could be done.\n
Examples:
  kennel import
  kennel import cursor claude-code
  kennel import ./servers/ ~/.cursor/mcp.json --yes")]
pub(crate) struct Import {
    /// Clients, files, or directories of files; without any, all clients whose files are found
    #[arg(value_name = "CLIENT|PATH")]
    pub(crate) sources: Vec<OsString>,
    #[command(flatten)]
    pub(crate) file: OwnFile,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Print what is found and what becomes of it as JSON; nothing is written without --yes
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kennel export`
#[derive(Debug, Args)]
#[command(after_help = "\
Servers that are exported are started by the client itself, without a box and without anything else that Kennel does. To \
have a client use Kennel, see `kennel client install`.\n
Examples:
  kennel export claude-code
  kennel export codex --servers github,linear --output ~/.codex/config.toml")]
pub(crate) struct Export {
    /// Whose words to use; `json` for the common `mcpServers`
    pub(crate) client: Client,
    /// Only these servers
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) servers: Vec<String>,
    /// Put them into this file, in which everything else stays; without it they are printed
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) file: OwnFile,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

/// `kennel client`
#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// List the clients, their files, and which of them use Kennel
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: OwnFile,
    },
    /// Point a client at Kennel: one entry in its file, in its own words
    Install(Install),
    /// Take Kennel's entry out of a client's files
    Remove {
        /// The client
        client: Client,
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        records: RecordsFlag,
    },
    /// Put a client's file back as it was before Kennel last changed it, unless somebody has changed it since
    Undo {
        /// The client
        client: Client,
        #[command(flatten)]
        records: RecordsFlag,
    },
}

/// `kennel client install`
#[derive(Debug, Args)]
#[command(after_help = "\
Clients that only start programs get `kennel connect`. If KENNEL_TOKEN is set, the client sends it: by that name where it \
can fill in a variable, and as it is where it cannot.\n
Examples:
  kennel client install cursor
  kennel client install codex --url http://127.0.0.1:7330/views/work/mcp --yes")]
pub(crate) struct Install {
    /// The client
    pub(crate) client: Client,
    /// The endpoint; by default that of all servers, where Kennel's file says that it listens
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) file: OwnFile,
    #[command(flatten)]
    pub(crate) consent: Consent,
    #[command(flatten)]
    pub(crate) records: RecordsFlag,
}

/// `kennel add`
#[derive(Debug, Args)]
#[command(after_help = "\
The words are those of `claude mcp add`. `${NAME}` in a value is filled from Kennel's environment when the server is \
started.\n
Examples:
  kennel add time -- uvx mcp-server-time
  kennel add github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github
  kennel add linear https://mcp.linear.app/mcp --header 'Authorization: Bearer ${LINEAR_TOKEN}'
  kennel add --transport sse events https://events.example.com/sse")]
pub(crate) struct Add {
    /// Set a variable (NAME=VALUE), or pass on Kennel's own (NAME)
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// A header of every request to an address
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// How the server is talked to; by default a program, or what an address turns out to speak
    #[arg(short, long)]
    pub(crate) transport: Option<TransportName>,
    /// For other programs' sake; Kennel has one list
    #[arg(short, long, value_name = "SCOPE", hide = true)]
    pub(crate) scope: Option<String>,
    /// Where the program starts
    #[arg(long, value_name = "PATH")]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) file: OwnFile,
    /// What to call the server
    pub(crate) name: String,
    /// The server's command and its arguments, or its address
    #[arg(required = true, value_name = "COMMAND|URL")]
    pub(crate) command: Vec<OsString>,
}

/// `kennel remove`
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The server
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) file: OwnFile,
}

/// `kennel connect`
#[derive(Debug, Args)]
#[command(after_help = "\
For clients that only start programs. A gateway that is not there yet is waited for; one that goes away is waited for too, \
and the client goes on where it was.\n
An endpoint that asks for a token gets the one in KENNEL_TOKEN.\n
Example, in a client's file:
  \"kennel\": { \"command\": \"kennel\", \"args\": [\"connect\", \"--url\", \"http://127.0.0.1:7330/mcp\"] }")]
pub(crate) struct Connect {
    /// The endpoint
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7330/mcp")]
    pub(crate) url: String,
    /// The largest message that passes
    #[arg(long, value_name = "SIZE", default_value = "64M")]
    pub(crate) max_message: Size,
    /// Seconds that a gateway is waited for
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub(crate) wait: f64,
}

/// Which file is Kennel's own.
#[derive(Debug, Args)]
pub(crate) struct OwnFile {
    /// Kennel's file of servers; by default kennel/kennel.toml where your settings are
    #[arg(short = 'c', long = "config", value_name = "FILE", env = "KENNEL_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
}

/// Whether a file may be changed.
#[derive(Debug, Args)]
pub(crate) struct Consent {
    /// Change the file without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

/// Where it is written down what was changed.
#[derive(Debug, Args)]
pub(crate) struct RecordsFlag {
    /// Where Kennel keeps what it needs again
    #[arg(long, value_name = "PATH", env = "KENNEL_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportName {
    /// A program's standard input and output
    Stdio,
    /// Streamable HTTP
    Http,
    /// The older HTTP with server-sent events
    Sse,
}
