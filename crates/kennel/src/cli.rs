//! What can be said on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use kennel_box::Size;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run programs that nobody has reason to trust, each alone in its own box.
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
