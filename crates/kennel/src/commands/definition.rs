//! Owns what a command line says of a server, in the words of a definition: the one model that every way to name a server
//! leads to.

use crate::cli::{BoxFlags, EraName, ModelName, ServerFlags};
use crate::commands::naming::name_of;
use crate::commands::sandbox;
use crate::failure::Failure;
use kennel_box::{AccessMode, MountSpec};
use kennel_config::{
    BoxSettings, Era, Launch, Model, Process, Server, ServerName, Start, Template, Timeouts, ToolRules, Value,
    name_like,
};
use std::collections::{BTreeMap, BTreeSet};
use std::env::VarError;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A server, what it is called, and where its relative paths start.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// What it is called in messages.
    pub(crate) title: String,
    /// The same as a name.
    pub(crate) name: ServerName,
    pub(crate) server: Server,
    pub(crate) directory: PathBuf,
}

impl Definition {
    /// What the flags of a command say, with the command of the server.
    pub(crate) fn of_flags(flags: &ServerFlags, command: &[OsString]) -> Result<Self, Failure> {
        let title = flags.name.clone().unwrap_or_else(|| name_of(command));
        let name = name_like(&title).parse();
        let name = name.map_err(|error| Failure::Argument(format!("--name {title}: {error}")))?;
        let here = std::env::current_dir();
        let directory = here.map_err(|source| Failure::System { what: "finding the working directory", source })?;
        let mut words = command.iter().map(|word| text("the command", word.as_os_str().to_owned()));
        let program = words.next().ok_or_else(|| Failure::Argument("no command was given".to_owned()))??;
        let BoxFlags { env, cwd, .. } = &flags.sandbox;
        let cwd = cwd.as_ref().map(|path| text("--cwd", directory.join(path).into()));
        let process = Process {
            command: literal(&plain_program(program)),
            args: words.map(|word| word.map(|word| literal(&word))).collect::<Result<_, _>>()?,
            env: env.iter().map(|text| variable(text)).collect::<Result<BTreeMap<_, _>, _>>()?,
            cwd: cwd.transpose()?.map(|path| literal(&path)),
            sandbox: sandbox(flags, &directory)?,
            refresh: flags.refresh,
        };
        let call = seconds("--call-timeout", flags.call_timeout)?;
        let server = Server {
            launch: Launch::Process(Box::new(process)),
            enabled: true,
            description: None,
            tags: BTreeSet::new(),
            start: Start::Lazy,
            model: match flags.model {
                ModelName::PerSession => Model::PerSession,
                ModelName::Shared => Model::Shared,
                ModelName::PerUser => Model::PerUser,
                ModelName::PerCall => Model::PerCall,
            },
            era: match flags.era {
                EraName::Auto => Era::Auto,
                EraName::Legacy => Era::Legacy,
                EraName::Modern => Era::Modern,
            },
            concurrency: flags.concurrency.map(NonZeroU32::get),
            queue: 4096,
            max_message: flags.max_message,
            max_result: flags.max_result,
            max_install: flags.max_install,
            max_install_files: flags.max_install_files.get(),
            max_processes: u32::try_from(flags.max_processes).unwrap_or(u32::MAX),
            idle_stop: minutes(flags.idle_stop)?,
            restarts: flags.restarts,
            restart_delay: seconds("--restart-delay", flags.restart_delay)?,
            timeouts: Timeouts { call: Some(call), ..Timeouts::default() },
            require_tools: flags.require_tool.clone(),
            tools: ToolRules::default(),
        };
        Ok(Self { title, name, server, directory })
    }
}

fn sandbox(flags: &ServerFlags, directory: &Path) -> Result<BoxSettings, Failure> {
    let BoxFlags { read, write, network, memory, pids, cpus, tmp_size, timeout, profile, engine, .. } = &flags.sandbox;
    let paths = |flag: &'static str, paths: &[PathBuf], mode| {
        let path = |path: &PathBuf| Ok(literal(&mounted(flag, sandbox::mount(path, mode, directory))?));
        paths.iter().map(path).collect::<Result<Vec<_>, Failure>>()
    };
    Ok(BoxSettings {
        engine: sandbox::engine_of(*engine),
        profile: sandbox::profile_of(*profile),
        read: paths("--read", read, AccessMode::ReadOnly)?,
        write: paths("--write", write, AccessMode::ReadWrite)?,
        infer: !flags.no_infer,
        network: network.map(sandbox::network_of),
        memory: *memory,
        pids: *pids,
        cpus: *cpus,
        tmp_size: *tmp_size,
        timeout: *timeout,
        accept_missing: flags.sandbox.accept_missing.iter().map(|wall| sandbox::wall_of(*wall)).collect(),
    })
}

/// `PATH` or `PATH:PLACE`, with a whole path.
fn mounted(flag: &'static str, mount: MountSpec) -> Result<String, Failure> {
    let path = text(flag, mount.host_path.into())?;
    match mount.mount_path {
        Some(place) => Ok(format!("{path}:{}", text(flag, place.into())?)),
        None => Ok(path),
    }
}

/// A program by its name, or by a path that is not below a home directory: the shell has seen to that.
fn plain_program(program: String) -> String {
    if program.starts_with('~') { format!("./{program}") } else { program }
}

/// Text that means itself: the shell has replaced all variables that were meant to be.
fn literal(text: &str) -> Template {
    Template::parse(&text.replace("${", "$${"))
}

fn text(what: &str, words: OsString) -> Result<String, Failure> {
    words.into_string().map_err(|words| {
        Failure::Argument(format!("{what}: `{}` is not UTF-8, and a server is defined by text", words.display()))
    })
}

/// `NAME=VALUE`, or the caller's own variable, which is looked up now so that nobody waits for nothing.
fn variable(text: &str) -> Result<(String, Value), Failure> {
    if let Some((name, value)) = text.split_once('=') {
        return Ok((name.to_owned(), Value::Text(literal(value))));
    }
    match std::env::var(text) {
        Ok(_) => Ok((text.to_owned(), Value::FromEnv(text.to_owned()))),
        Err(error) => Err(no_variable(text, &error)),
    }
}

/// Why a variable cannot be passed on.
pub(crate) fn no_variable(name: &str, error: &VarError) -> Failure {
    let why = match error {
        VarError::NotPresent => "you have no such variable; write",
        VarError::NotUnicode(_) => "its value is not UTF-8; encode it and write",
    };
    Failure::Argument(format!("--env {name}: {why} {name}=VALUE"))
}

fn seconds(flag: &str, seconds: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(Failure::Argument(format!("{flag} {seconds}: must be more than 0 seconds"))),
    }
}

fn minutes(minutes: f64) -> Result<Option<Duration>, Failure> {
    if minutes == 0.0 {
        return Ok(None);
    }
    match Duration::try_from_secs_f64(minutes * 60.0) {
        Ok(duration) => Ok(Some(duration)),
        Err(_) => Err(Failure::Argument(format!("--idle-stop {minutes}: must be minutes, or 0 for never"))),
    }
}

#[cfg(test)]
#[path = "definition_tests.rs"]
mod tests;
