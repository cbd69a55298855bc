//! What of an install runs: the program of a command, found in the store without running anything.
//!
//! What foreign code wrote decides nothing beyond the install. A program lies in it, by whatever links, or is the
//! interpreter that Kennel installed with, as Kennel's own record of the install has it.

use crate::command::{Executable, PackageCommand, Request};
use crate::error::InstallError;
use crate::foreign::{Foreign, shown};
use crate::manifest::Manifest;
use crate::programs::{self, node_program};
use crate::spec::Ecosystem;
use crate::staging::blocking;
use crate::{npm, python};
use kennel_box::{Access, HostView, MountRules};
use kennel_tree::{Kind, Place, Trees};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A package that is ready to run, without network and without its installer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The program to run: in the install, or the interpreter.
    pub program: PathBuf,
    /// Its arguments that name the package's own program.
    pub program_args: Vec<OsString>,
    /// Its further arguments: the command's own, as the user wrote them.
    pub args: Vec<OsString>,
    /// The interpreter outside of the install, to be named to [`kennel_box::BoxSpec::plan`]; Kennel chose it, not the
    /// package.
    pub interpreter: Option<PathBuf>,
    /// What the program needs to read; to be granted read-only at its own place.
    pub reads: Vec<PathBuf>,
    /// Variables that the program needs.
    pub env: Vec<(OsString, OsString)>,
    /// The name of the first package.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its digest, as its registry gave it.
    pub integrity: String,
    /// The install in the store, for [`crate::Store::verify`] and [`crate::Store::remove`].
    pub install: String,
}

/// An install in the store.
pub(crate) struct Pinned {
    pub(crate) id: String,
    pub(crate) manifest: Manifest,
    pub(crate) tree: PathBuf,
}

/// What runs of an install.
struct Program {
    path: PathBuf,
    args: Vec<OsString>,
    interpreter: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
}

/// Finds what a command runs in an install; nothing where the install is no longer of any use.
pub(crate) async fn resolve(
    trees: &Trees,
    pinned: &Pinned,
    command: &PackageCommand,
    host: &HostView,
) -> Result<Option<Installed>, InstallError> {
    let Pinned { id, manifest, tree } = pinned;
    let mut foreign = Foreign::open(trees, tree, tree).await?;
    let found = match manifest.request.ecosystem {
        Ecosystem::Npm => npm_program(&mut foreign, tree, command, host).await?,
        Ecosystem::Python => python_program(&mut foreign, pinned, command).await?,
    };
    let Some(Program { path, args: program_args, interpreter, env }) = found else { return Ok(None) };
    let mut reads = vec![tree.clone()];
    if manifest.request.ecosystem == Ecosystem::Python {
        let (interpreter, host) = (interpreter.clone(), host.clone());
        reads.extend(blocking(move || Ok(interpreter.and_then(|python| installation(&python, &host)))).await?);
    }
    Ok(Some(Installed {
        program: path,
        program_args,
        args: command.args.clone(),
        interpreter,
        reads,
        env,
        name: manifest.request.name().to_owned(),
        version: manifest.version.clone(),
        integrity: manifest.integrity.clone(),
        install: id.clone(),
    }))
}

async fn npm_program(
    foreign: &mut Foreign,
    tree: &Path,
    command: &PackageCommand,
    host: &HostView,
) -> Result<Option<Program>, InstallError> {
    let modules = foreign.resolve(Path::new("node_modules")).await?;
    if !matches!(modules, Place::Inside { kind: Kind::Directory, .. }) {
        return Ok(None);
    }
    let request = &command.request;
    let own_name = request.name().rsplit('/').next().unwrap_or_default();
    let (asked, packages) = match &command.executable {
        Executable::Named(name) => (name.as_str(), &request.packages[..]),
        Executable::OfPackage | Executable::Interpreter => (own_name, request.packages.get(..1).unwrap_or_default()),
    };
    let mut offered = Vec::new();
    let mut file = None;
    for package in packages {
        let programs = npm::programs(foreign, tree, &package.name).await?;
        file = file.or_else(|| programs.get(asked).cloned());
        // As npx does: where all names mean one program, that one is meant.
        if command.executable == Executable::OfPackage && file.is_none() {
            file = programs.values().next().filter(|first| programs.values().all(|other| other == *first)).cloned();
        }
        offered.extend(programs.into_keys().map(|name| shown(&name)));
    }
    // A program of a dependency, by the link that npm makes to every program.
    let file = file.unwrap_or_else(|| Path::new("node_modules/.bin").join(asked));
    let refused = |problem| not_a_program(request, asked, problem);
    let file = match foreign.resolve(&file).await? {
        Place::Inside { path, kind: Kind::File, .. } => path,
        Place::Inside { .. } => return Err(refused("is not a regular file".to_owned())),
        Place::Outside { target } => return Err(refused(leads_out(&target))),
        Place::Absent => {
            let (package, program) = (request.to_string(), asked.to_owned());
            return Err(InstallError::NoProgram { package, program, offered });
        }
    };
    let path = tree.join(&file);
    if is_for_node(foreign, &file).await? {
        let node = node_program(host, "node", &request.to_string()).await?;
        let (interpreter, args) = (Some(node.clone()), vec![path.into()]);
        Ok(Some(Program { path: node, args, interpreter, env: Vec::new() }))
    } else {
        Ok(Some(Program { path, args: Vec::new(), interpreter: None, env: Vec::new() }))
    }
}

/// Whether Node runs a file: its ending says so, or its first line.
async fn is_for_node(foreign: &mut Foreign, file: &Path) -> Result<bool, InstallError> {
    if file.extension().is_some_and(|ending| ["cjs", "js", "mjs"].iter().any(|own| ending == *own)) {
        return Ok(true);
    }
    let start = foreign.read_start(file, 128).await?;
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(line.starts_with(b"#!") && line.windows(4).any(|part| part == b"node"))
}

async fn python_program(
    foreign: &mut Foreign,
    pinned: &Pinned,
    command: &PackageCommand,
) -> Result<Option<Program>, InstallError> {
    let Pinned { tree, manifest, .. } = pinned;
    let request = &command.request;
    let venv = Path::new(python::VIRTUALENV);
    let python = venv.join("bin/python");
    let interpreter = match foreign.resolve(&python).await? {
        Place::Inside { kind: Kind::File, .. } => None,
        Place::Outside { target } if manifest.interpreter.as_ref() == Some(&target) => Some(target),
        // Made before Kennel wrote it down, or no longer there.
        Place::Outside { .. } if manifest.interpreter.is_none() => return Ok(None),
        Place::Absent => return Ok(None),
        Place::Outside { target } => return Err(not_a_program(request, "python", leads_out(&target))),
        Place::Inside { .. } => return Err(not_a_program(request, "python", "is not a regular file".to_owned())),
    };
    if let Some(interpreter) = interpreter.clone()
        && !blocking(move || Ok(interpreter.is_file())).await?
    {
        return Ok(None);
    }
    let name = match &command.executable {
        Executable::Named(name) => name.as_str(),
        Executable::Interpreter => "python",
        Executable::OfPackage => request.name(),
    };
    let program = venv.join("bin").join(name);
    match foreign.resolve(&program).await? {
        Place::Inside { kind: Kind::File, .. } => {}
        Place::Outside { target } if interpreter.as_ref() == Some(&target) => {}
        Place::Outside { target } => return Err(not_a_program(request, name, leads_out(&target))),
        Place::Inside { .. } => return Err(not_a_program(request, name, "is not a regular file".to_owned())),
        Place::Absent => {
            return Err(InstallError::NoProgram {
                package: request.to_string(),
                program: name.to_owned(),
                offered: python::offered(foreign, request.name()).await?,
            });
        }
    }
    let env = vec![("VIRTUAL_ENV".into(), tree.join(venv).into())];
    Ok(Some(Program { path: tree.join(&program), args: Vec::new(), interpreter, env }))
}

fn not_a_program(request: &Request, program: &str, problem: String) -> InstallError {
    InstallError::NotAProgram { package: request.to_string(), program: shown(program), problem }
}

fn leads_out(target: &Path) -> String {
    format!("leads out of the install, to `{}`", shown(&target.to_string_lossy()))
}

/// The installation of a Python that the command itself names by its path; those on `PATH` every box shows.
pub(crate) fn named_python(request: &Request, host: &HostView) -> Option<PathBuf> {
    let asked = request.python.as_deref().filter(|python| python.contains('/'))?;
    installation(&programs::python(host, Some(asked), "").ok()?, host)
}

/// The directories of an interpreter that Kennel or the user chose, where a box must be shown them and may be.
///
/// The virtualenv knows it too, but foreign code may have written there, and would choose what a box may read.
fn installation(python: &Path, host: &HostView) -> Option<PathBuf> {
    let python = python.canonicalize().ok()?;
    let prefix = python.parent().filter(|directory| directory.ends_with("bin"))?.parent()?.to_path_buf();
    let is_shown = ["/usr", "/bin"].iter().any(|shown| prefix.starts_with(shown));
    let allowed = MountRules::for_user(&host.home).check(&prefix, Access::ReadOnly).is_ok();
    (!is_shown && allowed).then_some(prefix)
}
