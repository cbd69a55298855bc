//! Owns how a definition becomes what is really started or called: variables replaced, secrets fetched, paths made whole.

mod filler;

use crate::name::ServerName;
use crate::secret::Secret;
use crate::server::{Launch, Server, Transport};
use crate::sources::{SourceError, Sources};
use crate::value::Value;
use filler::Filler;
use kennel_box::BoxSpec;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A definition with everything filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// What is started or called.
    pub launch: ResolvedLaunch,
    /// Every value that output must not show.
    pub secrets: Vec<Secret>,
    /// What somebody should know, though everything works.
    pub warnings: Vec<String>,
}

/// What is started or called.
#[derive(Debug, Clone, PartialEq)]
pub enum ResolvedLaunch {
    /// A program in a box.
    Process(Box<ResolvedProcess>),
    /// A server that runs elsewhere.
    Upstream(ResolvedUpstream),
}

/// A program and its box.
#[derive(Clone, PartialEq)]
pub struct ResolvedProcess {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its box, with its variables, its paths and where it starts.
    pub spec: BoxSpec,
    /// Whether paths that the command names are granted read-only.
    pub infer: bool,
    /// Whether a newer version of its package is looked for.
    pub refresh: bool,
}

/// The program alone: its arguments and variables may be secret.
impl std::fmt::Debug for ResolvedProcess {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let spec = BoxSpec { env: BTreeMap::new(), ..self.spec.clone() };
        let program = self.command.first();
        formatter
            .debug_struct("ResolvedProcess")
            .field("program", &program)
            .field("spec", &spec)
            .finish_non_exhaustive()
    }
}

/// A server that runs elsewhere.
#[derive(Clone, PartialEq, Eq)]
pub struct ResolvedUpstream {
    /// Where it is. There may be a secret in it.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, Secret>,
    /// How it is talked to.
    pub transport: Transport,
}

/// The names of the headers, and how it is talked to.
impl std::fmt::Debug for ResolvedUpstream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("ResolvedUpstream");
        shown.field("headers", &self.headers).field("transport", &self.transport).finish_non_exhaustive()
    }
}

/// Why a definition cannot be filled in.
#[derive(Debug, thiserror::Error)]
#[error("server `{server}`, `{key}`: {cause}")]
pub struct ResolveError {
    /// The server.
    pub server: ServerName,
    /// The key below it, such as `env.TOKEN`.
    pub key: String,
    /// What is wrong.
    #[source]
    pub cause: Cause,
}

/// What is wrong with a value.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// Kennel has no such variable.
    #[error("Kennel has no variable `{0}`; set it where Kennel is started, or write `${{{0}:-default}}`")]
    NoVariable(String),
    /// A placeholder of another program.
    #[error("`${{{0}}}` is for another program to replace; write the value, `${{NAME}}` or a secret reference instead")]
    Foreign(String),
    /// A path begins with `~` and there is no home.
    #[error("`~` stands for your home directory, and Kennel has no variable `HOME`")]
    NoHome,
    /// A value has in it what no header can have.
    #[error("the value has a line end or another control character in it, which no header can have")]
    NoHeader,
    /// Nothing is left.
    #[error("nothing is left of it when its variables are replaced")]
    Nothing,
    /// The source has no value.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// The value of one reference; relative paths start from the directory.
pub fn resolve(value: &Value, directory: &Path, sources: &dyn Sources) -> Result<Secret, Cause> {
    Filler::new(directory, sources).value(value)
}

impl Server {
    /// Fills in what the definition refers to. Relative paths start from the directory of the file. It may block.
    pub fn resolve(
        &self,
        name: &ServerName,
        directory: &Path,
        sources: &dyn Sources,
    ) -> Result<Resolved, ResolveError> {
        let mut filler = Filler::new(directory, sources);
        let launch = match &self.launch {
            Launch::Process(process) => filler.process(process).map(Box::new).map(ResolvedLaunch::Process),
            Launch::Upstream(upstream) => filler.upstream(upstream).map(ResolvedLaunch::Upstream),
        };
        let launch = launch.map_err(|(key, cause)| ResolveError { server: name.clone(), key, cause })?;
        Ok(Resolved { launch, secrets: filler.secrets, warnings: filler.warnings })
    }
}

impl Server {
    /// The paths that its box may write, without fetching any secret. What cannot be told is left out.
    #[must_use]
    pub fn written_paths(&self, directory: &Path, sources: &dyn Sources) -> Vec<PathBuf> {
        match &self.launch {
            Launch::Process(process) => Filler::new(directory, sources).written_paths(&process.sandbox),
            Launch::Upstream(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "../resolve_tests.rs"]
mod tests;
