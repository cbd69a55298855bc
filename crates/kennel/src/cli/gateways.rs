//! What can be said of a gateway with many servers: to serve one, and to operate one that runs.

use crate::cli::TokenFlags;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

/// `kennel serve`
#[derive(Debug, Args)]
#[command(after_help = "\
The file is Kennel's own TOML or the JSON in which other clients keep their servers (`mcpServers`). Each server is reached \
at /servers/NAME/mcp, and at /ws and /rpc beside it. Nothing is started before it is called, but what says `start = \
\"eager\"`. A change of the file is taken up at once, for the servers that changed; `kennel ps` shows how they are.\n
Examples:
  kennel serve
  kennel serve -c ~/.cursor/mcp.json
  kennel config check && kennel reload")]
pub(crate) struct Serve {
    /// The file of servers [default: what `kennel config path` says]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where to listen instead of where the file says; beyond this machine a bearer token is asked for
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) token: TokenFlags,
    /// Print what happens as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Where packages and what is known of servers are kept
    #[arg(long, value_name = "PATH", env = "KENNEL_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// The socket by which it is operated [default: run/admin.sock in --data, or in the user's own place for sockets]
    #[arg(long, value_name = "PATH", env = "KENNEL_SOCKET", hide_env_values = true)]
    pub(crate) socket: Option<PathBuf>,
}

/// Which gateway a command is for.
#[derive(Debug, Args)]
pub(crate) struct GatewayFlags {
    /// The admin socket of the gateway
    #[arg(long, value_name = "PATH", env = "KENNEL_SOCKET", hide_env_values = true)]
    pub(crate) socket: Option<PathBuf>,
    /// The data directory that the gateway was started with
    #[arg(long, value_name = "PATH", env = "KENNEL_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
}

/// `kennel ps`
#[derive(Debug, Args)]
pub(crate) struct Ps {
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Tell about the gateway too: its process, endpoint, file, data and socket
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayFlags,
}

/// `kennel logs`
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The server
    #[arg(value_name = "NAME")]
    pub(crate) server: String,
    /// Go on with what it prints from now on
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Print one JSON object for each line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayFlags,
}

/// `kennel stop`, `start` and `restart`
#[derive(Debug, Args)]
pub(crate) struct Control {
    /// The servers
    #[arg(required = true, value_name = "NAME")]
    pub(crate) servers: Vec<String>,
    /// Print one JSON object for each server
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayFlags,
}

/// `kennel inspect`
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// The server
    #[arg(value_name = "NAME")]
    pub(crate) server: String,
    /// Print JSON instead of lines
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayFlags,
}

/// `kennel events`
#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Go on with what happens from now on
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Print one JSON object for each event
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayFlags,
}

/// `kennel reload`
#[derive(Debug, Args)]
#[command(after_help = "\
A file that a box or another user can write may not let servers do more than before: such a change waits, and `kennel ps` \
shows it. --accept takes it up; with its number, only if it is still the one that waits.")]
pub(crate) struct Reload {
    /// Take up a change that waits because somebody else may have written it
    #[arg(
        long,
        value_name = "NUMBER",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "any",
        value_parser = Accepted::parse
    )]
    pub(crate) accept: Option<Accepted>,
    /// Print JSON instead of lines
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayFlags,
}

/// Which change is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// Whatever waits.
    Any,
    /// The one of this number.
    Number(u64),
}

impl Accepted {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "any" {
            return Ok(Self::Any);
        }
        text.parse().map(Self::Number).map_err(|_| "must be the number that `kennel ps` shows".to_owned())
    }
}

/// `kennel config`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Say all that is wrong with the file, each with its line and key
    Check {
        /// The file of servers [default: the usual one]
        #[arg(short, long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Print the JSON schema of the file, for editors
    Schema,
    /// Print where the file is if none is named
    Path,
}
