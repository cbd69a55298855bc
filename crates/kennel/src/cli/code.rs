//! What can be said of code mode.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `kennel code`
#[derive(Debug, Args)]
#[command(after_help = "\
A client gets a few tools instead of all: it searches, reads docs, and runs Python in a box without network or files, in \
which the tools of all servers are functions. `kennel serve` offers the same at /servers/code/mcp.\n
Examples:
  kennel code
  kennel code -c ~/.cursor/mcp.json
  kennel code -c ./servers.d")]
pub(crate) struct Code {
    /// The file of servers, or a directory of such files [default: what `kennel config path` says]
    #[arg(short, long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// Where packages and what is known of servers are kept
    #[arg(long, value_name = "PATH", env = "KENNEL_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// Print what happens as JSON on standard error, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kennel saved`
#[derive(Debug, Subcommand)]
pub(crate) enum SavedCommand {
    /// List them
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: SavedPlace,
    },
    /// Print the source of one
    Show {
        /// Its name
        name: String,
        /// Print JSON instead of its source
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: SavedPlace,
    },
    /// Forget one
    Remove {
        /// Its name
        name: String,
        #[command(flatten)]
        place: SavedPlace,
    },
}

/// Where saved tools are, and whose.
#[derive(Debug, Args)]
pub(crate) struct SavedPlace {
    /// Whose they are, where Kennel serves several users
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) owner: String,
    /// Only those of this view; `-` for code over all servers
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) view: Option<String>,
    /// Where packages and what is known of servers are kept
    #[arg(long, value_name = "PATH", env = "KENNEL_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
}
