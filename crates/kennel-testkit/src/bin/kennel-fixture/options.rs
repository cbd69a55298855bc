//! Owns the command line: what the program can be told at its start.

use std::path::PathBuf;
use std::time::Duration;

use crate::era::Offer;
use crate::legacy::version::{self, Version};
use crate::modern::results::Hints;
use crate::tools::sleeper::Sleeper;

/// What the program was started for.
pub(crate) enum Mode {
    /// Being an MCP server.
    Serve(Box<Options>),
    /// Being one of the processes that the tool `spawn_grandchildren` leaves behind.
    Sleeper(Sleeper),
}

/// How the server behaves.
pub(crate) struct Options {
    /// `--era legacy|modern|dual`: which protocols it speaks.
    pub(crate) era: Offer,
    /// `--ttl-ms N`, `--cache-scope public|private`: what it says of results that can be kept, where it is modern.
    pub(crate) hints: Hints,
    /// `--tasks`: whether it has the tasks extension where it is modern, and the tools for that.
    pub(crate) tasks: TasksOffer,
    /// `--protocol VERSION`: the newest protocol version that it speaks, where it is legacy.
    pub(crate) newest: Version,
    /// `--no-tools-capability`: whether it has tools at all.
    pub(crate) tools: ToolsOffer,
    /// `--answers FILE`: what tools of a JSONL file answer; see the module `answers`.
    pub(crate) answers: Option<PathBuf>,
    /// `--page-size N`: how many tools a page of `tools/list` has.
    pub(crate) page_size: Option<usize>,
    /// `--start-delay-ms N`, `--exit-at-start CODE`.
    pub(crate) start: Start,
    /// `--ignore-eof`.
    pub(crate) at_end: AtEnd,
    /// `--stderr-lines N`: lines printed on stderr at the start.
    pub(crate) stderr_lines: u64,
    /// `--crash-after N`: answers so many calls of tools and dies at the next, with exit code 70.
    pub(crate) crash_after: Option<u64>,
    /// `--state-dir DIR`: where the `annotated_…` tools count their calls.
    pub(crate) state_dir: Option<PathBuf>,
    /// `--record FILE`: every line that comes in is appended to that file as it came.
    pub(crate) record: Option<PathBuf>,
}

/// Where the tools come from.
pub(crate) enum ToolsOffer {
    /// Those of this program.
    Own,
    /// None, and no capability for them.
    Nothing,
    /// `--tools-file FILE [--tools-server NAME]`: those of a JSONL file, only of that server if one is named.
    File { path: PathBuf, server: Option<String> },
}

/// Whether there are tasks.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum TasksOffer {
    Nothing,
    Extension,
}

/// What happens before the first line is read.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    Now,
    After(Duration),
    Never(u8),
}

/// What happens at the end of stdin.
#[derive(Clone, Copy)]
pub(crate) enum AtEnd {
    Exit,
    Stay,
}

impl Mode {
    /// Reads the command line; the error is a sentence for stderr.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments.peekable();
        if arguments.peek().is_some_and(|first| first == Sleeper::OPTION) {
            return Sleeper::parse(&arguments.skip(1).collect::<Vec<_>>()).map(Self::Sleeper);
        }
        let mut options = Options::default();
        let (mut tools_file, mut tools_server) = (None, None);
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{option} needs a value"));
            match option.as_str() {
                "--era" => options.era = Offer::parse(&value()?)?,
                "--ttl-ms" => options.hints.ttl_ms = number(&option, &value()?)?,
                "--cache-scope" => options.hints.scope = Hints::scope(&value()?)?,
                "--tasks" => options.tasks = TasksOffer::Extension,
                "--protocol" => options.newest = version::parse(&value()?)?,
                "--no-tools-capability" => options.tools = ToolsOffer::Nothing,
                "--page-size" => options.page_size = Some(number(&option, &value()?)?),
                "--start-delay-ms" => options.start = Start::After(Duration::from_millis(number(&option, &value()?)?)),
                "--exit-at-start" => options.start = Start::Never(number(&option, &value()?)?),
                "--ignore-eof" => options.at_end = AtEnd::Stay,
                "--stderr-lines" => options.stderr_lines = number(&option, &value()?)?,
                "--crash-after" => options.crash_after = Some(number(&option, &value()?)?),
                "--state-dir" => options.state_dir = Some(value()?.into()),
                "--record" => options.record = Some(value()?.into()),
                "--answers" => options.answers = Some(value()?.into()),
                "--tools-file" => tools_file = Some(value()?),
                "--tools-server" => tools_server = Some(value()?),
                _ => return Err(format!("there is no option `{option}`; see the module `options` of kennel-fixture")),
            }
        }
        match (tools_file, tools_server) {
            (Some(path), server) => options.tools = ToolsOffer::File { path: path.into(), server },
            (None, Some(_)) => return Err("--tools-server needs --tools-file".to_owned()),
            (None, None) => {}
        }
        if options.page_size == Some(0) {
            return Err("--page-size must be at least 1".to_owned());
        }
        Ok(Self::Serve(Box::new(options)))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            era: Offer::Legacy,
            hints: Hints::default(),
            tasks: TasksOffer::Nothing,
            newest: version::NEWEST,
            tools: ToolsOffer::Own,
            answers: None,
            page_size: None,
            start: Start::Now,
            at_end: AtEnd::Exit,
            stderr_lines: 0,
            crash_after: None,
            state_dir: None,
            record: None,
        }
    }
}

fn number<N: std::str::FromStr>(option: &str, text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{option} needs a number, not `{text}`"))
}
