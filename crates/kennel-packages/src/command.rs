//! Package commands: what `npx`, `uvx` and their kin are asked to run, read from their words alone.
//!
//! | command | recognised |
//! |---|---|
//! | `npx`, `npm exec`, `npm x` | always: packages by name; `--call` is refused |
//! | `uvx`, `uv tool run`, `pipx run` | always: packages by name |
//! | `uv run` | only with `--with` and nothing that concerns a project |
//!
//! Paths, archives, git repositories and addresses are refused, not passed over: the tool itself could fetch nothing in
//! a box without network, and the refusal says what to do. `npx` prefers a program of the project it is called in;
//! Kennel does not look there, so that a command means the same wherever it is called.

use crate::flags::{Flags, Meaning, Order, Sorted};
use crate::foreign::hex;
use crate::spec::{Ecosystem, PackageSpec};
use crate::tools::{NPM_EXEC, NPX, PIPX, UV_RUN, UVX};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A command that runs a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageCommand {
    /// What must be installed.
    pub request: Request,
    /// Which of its programs runs.
    pub executable: Executable,
    /// The arguments of that program.
    pub args: Vec<OsString>,
}

/// What must be installed so that a command can run. Commands with equal requests share an install.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Where the packages come from.
    pub ecosystem: Ecosystem,
    /// The packages; the first gives the install its name and version.
    pub packages: Vec<PackageSpec>,
    /// The Python asked for: a version, or the path of an interpreter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Whether versions before a release count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prereleases: bool,
}

/// Which program of an install runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Executable {
    /// The one program of the first package, or the one that has its name.
    OfPackage,
    /// The one of this name.
    Named(String),
    /// The interpreter itself, with the packages at hand.
    Interpreter,
}

/// Why a command that looks like a package command is none that Kennel can run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// A flag that Kennel does not know.
    #[error(
        "`{tool}`: the flag `{flag}` is not known here; put settings of the registry into the configuration files \
             or variables of the tool, and the arguments of the program after its name"
    )]
    UnknownFlag {
        /// The tool called.
        tool: &'static str,
        /// The flag.
        flag: String,
    },
    /// A flag whose work cannot be done from a store.
    #[error("`{tool}`: the flag `{flag}` {reason}")]
    Refused {
        /// The tool called.
        tool: &'static str,
        /// The flag.
        flag: String,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// A flag that needs a value and has none.
    #[error("`{tool}`: the flag `{flag}` needs a value after it")]
    NoValue {
        /// The tool called.
        tool: &'static str,
        /// The flag.
        flag: String,
    },
    /// Nothing to run.
    #[error("`{tool}` names no {missing}; write it after the flags")]
    Nothing {
        /// The tool called.
        tool: &'static str,
        /// What is missing.
        missing: &'static str,
    },
    /// A package that is no package of a registry.
    #[error("`{tool}`: `{package}` cannot be installed: {problem}")]
    Spec {
        /// The tool called.
        tool: &'static str,
        /// The package as written, without what an address may hide.
        package: String,
        /// What is wrong and what would be right.
        problem: String,
    },
}

impl PackageCommand {
    /// Reads a command; nothing where it is no package command.
    pub fn recognise(argv: &[OsString]) -> Result<Option<Self>, PackageError> {
        let Some((program, words)) = argv.split_first() else { return Ok(None) };
        let Some(name) = Path::new(program).file_name().and_then(OsStr::to_str) else { return Ok(None) };
        let word = |at: usize| words.get(at).and_then(|word| word.to_str()).unwrap_or_default();
        match (name, word(0), word(1)) {
            ("npx", ..) => npm(&NPX, words, Order::First),
            ("npm", "exec" | "x", _) => {
                let has_end = words.iter().any(|word| word == "--");
                npm(&NPM_EXEC, &words[1..], if has_end { Order::Mixed } else { Order::First })
            }
            ("uvx", ..) => python(&UVX, words),
            ("uv", "tool", "run") => python(&UVX, &words[2..]),
            ("pipx", "run", _) => python(&PIPX, &words[1..]),
            ("uv", "run", _) => uv_run(&words[1..]),
            _ => Ok(None),
        }
    }
}

impl Request {
    /// A name for this request in the store: the same for equal requests, another for others.
    #[must_use]
    pub fn key(&self) -> String {
        // Put together by hand of parts that hold no line ends, so that the key never depends on a serialiser.
        let python = self.python.as_deref().unwrap_or_default();
        let mut parts = vec![format!("{:?}", self.ecosystem), python.to_owned(), self.prereleases.to_string()];
        for package in &self.packages {
            parts.extend([package.name.clone(), package.extras.join(","), package.version.clone()]);
        }
        hex(&Sha256::digest(parts.join("\n").as_bytes())[..16])
    }

    /// The packages as their installer takes them.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.packages.iter().map(|package| package.to_text(self.ecosystem)).collect()
    }

    /// The name of the first package.
    pub(crate) fn name(&self) -> &str {
        self.packages.first().map_or("", |package| package.name.as_str())
    }
}

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.texts().join(" "))
    }
}

fn npm(flags: &Flags, words: &[OsString], order: Order) -> Result<Option<PackageCommand>, PackageError> {
    let Some(sorted) = flags.sort(words, order)? else { return Ok(None) };
    let mut packages = Vec::new();
    for text in sorted.of(Meaning::Package) {
        packages.push(read(flags.tool, text, PackageSpec::npm)?);
    }
    let (first, args) = first_word(flags.tool, &sorted, if packages.is_empty() { "package" } else { "command" })?;
    let executable = if packages.is_empty() {
        packages.push(read(flags.tool, first, PackageSpec::npm)?);
        Executable::OfPackage
    } else {
        Executable::Named(plain_name(flags.tool, first)?)
    };
    let request = Request { ecosystem: Ecosystem::Npm, packages, python: None, prereleases: false };
    Ok(Some(PackageCommand { request, executable, args: args.to_vec() }))
}

fn python(flags: &Flags, words: &[OsString]) -> Result<Option<PackageCommand>, PackageError> {
    let Some(sorted) = flags.sort(words, Order::First)? else { return Ok(None) };
    let from = sorted.of(Meaning::Package).last();
    let (first, args) = first_word(flags.tool, &sorted, if from.is_some() { "command" } else { "package" })?;
    let main = read(flags.tool, from.unwrap_or(first), PackageSpec::python)?;
    let executable = match from {
        Some(_) => plain_name(flags.tool, first)?,
        // `Name@1.2` and `name[extra]` are run by the name as it was written.
        None => first.split(['@', '[', '=', '<', '>', '~', '!', ' ']).next().unwrap_or(first).to_owned(),
    };
    let mut packages = vec![main];
    packages.extend(further(flags.tool, &sorted)?);
    let request = python_request(&sorted, packages);
    Ok(Some(PackageCommand { request, executable: Executable::Named(executable), args: args.to_vec() }))
}

fn uv_run(words: &[OsString]) -> Result<Option<PackageCommand>, PackageError> {
    let Some(sorted) = UV_RUN.sort(words, Order::First)? else { return Ok(None) };
    let packages = further(UV_RUN.tool, &sorted)?;
    if packages.is_empty() {
        return Ok(None);
    }
    let (first, args) = first_word(UV_RUN.tool, &sorted, "command")?;
    let (executable, args) = match first {
        "python" | "python3" => (Executable::Interpreter, args.to_vec()),
        script if script.to_ascii_lowercase().ends_with(".py") => (Executable::Interpreter, sorted.rest.clone()),
        other => (Executable::Named(plain_name(UV_RUN.tool, other)?), args.to_vec()),
    };
    Ok(Some(PackageCommand { request: python_request(&sorted, packages), executable, args }))
}

fn python_request(sorted: &Sorted, packages: Vec<PackageSpec>) -> Request {
    Request {
        ecosystem: Ecosystem::Python,
        packages,
        python: sorted.of(Meaning::Python).last().map(str::to_owned),
        prereleases: sorted.of(Meaning::Prerelease).last() == Some("allow"),
    }
}

/// The packages of `--with`, of which one flag may name several.
fn further(tool: &'static str, sorted: &Sorted) -> Result<Vec<PackageSpec>, PackageError> {
    let mut packages = Vec::new();
    for list in sorted.of(Meaning::Further) {
        let mut texts: Vec<String> = Vec::new();
        for part in list.split(',') {
            // A comma also stands between the bounds of one version, and between extras.
            match texts.last_mut() {
                Some(last)
                    if !part.trim_start().starts_with(|first: char| first.is_ascii_alphabetic())
                        || last.matches('[').count() > last.matches(']').count() =>
                {
                    last.push(',');
                    last.push_str(part);
                }
                _ => texts.push(part.trim().to_owned()),
            }
        }
        for text in texts {
            packages.push(read(tool, &text, PackageSpec::python)?);
        }
    }
    Ok(packages)
}

fn read(
    tool: &'static str,
    text: &str,
    reader: fn(&str) -> Result<PackageSpec, String>,
) -> Result<PackageSpec, PackageError> {
    // An address may hold a password.
    let shown = || text.split_once("://").map_or_else(|| text.to_owned(), |(scheme, _)| format!("{scheme}://…"));
    reader(text).map_err(|problem| PackageError::Spec { tool, package: shown(), problem })
}

fn first_word<'a>(
    tool: &'static str,
    sorted: &'a Sorted,
    missing: &'static str,
) -> Result<(&'a str, &'a [OsString]), PackageError> {
    let nothing = PackageError::Nothing { tool, missing };
    let Some((first, args)) = sorted.rest.split_first() else { return Err(nothing) };
    Ok((first.to_str().filter(|text| !text.is_empty()).ok_or(nothing)?, args))
}

/// The name of a program among those of an install.
fn plain_name(tool: &'static str, name: &str) -> Result<String, PackageError> {
    if name.contains('/') || name.starts_with('.') {
        let problem = "the command of a package is a name without slashes".to_owned();
        return Err(PackageError::Spec { tool, package: name.to_owned(), problem });
    }
    Ok(name.to_owned())
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
