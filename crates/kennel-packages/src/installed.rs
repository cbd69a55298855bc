//! What of an install runs: the program of a command, found in the store without running anything.

use crate::command::{Executable, PackageCommand, Request};
use crate::error::InstallError;
use crate::manifest::Manifest;
use crate::programs::{self, node_program};
use crate::spec::Ecosystem;
use crate::tree::real_inside;
use crate::{npm, python};
use kennel_box::{Access, HostView, MountRules};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A package that is ready to run, without network and without its installer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The program to run. To be named to [`kennel_box::BoxSpec::plan`], as it may be a link to an interpreter.
    pub program: PathBuf,
    /// Its arguments: those that name the package's program, then the command's own.
    pub args: Vec<OsString>,
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

/// Whether an install is there to be used; a virtualenv is of no use without the Python it was made with.
pub(crate) fn is_usable(tree: &Path, manifest: &Manifest) -> bool {
    match manifest.request.ecosystem {
        Ecosystem::Npm => tree.join("node_modules").is_dir(),
        Ecosystem::Python => tree.join(python::VIRTUALENV).join("bin/python").exists(),
    }
}

/// Finds what a command runs in an install.
pub(crate) fn resolve(
    id: &str,
    tree: &Path,
    manifest: &Manifest,
    command: &PackageCommand,
    host: &HostView,
) -> Result<Installed, InstallError> {
    let (program, mut args, env) = match manifest.request.ecosystem {
        Ecosystem::Npm => npm_program(tree, command, host)?,
        Ecosystem::Python => python_program(tree, command)?,
    };
    args.extend(command.args.iter().cloned());
    let mut reads = vec![tree.to_path_buf()];
    reads.extend(named_python(&command.request, host));
    Ok(Installed {
        program,
        args,
        reads,
        env,
        name: manifest.request.name().to_owned(),
        version: manifest.version.clone(),
        integrity: manifest.integrity.clone(),
        install: id.to_owned(),
    })
}

type Program = (PathBuf, Vec<OsString>, Vec<(OsString, OsString)>);

fn npm_program(tree: &Path, command: &PackageCommand, host: &HostView) -> Result<Program, InstallError> {
    let request = &command.request;
    let own_name = request.name().rsplit('/').next().unwrap_or_default();
    let (asked, packages) = match &command.executable {
        Executable::Named(name) => (name.as_str(), &request.packages[..]),
        Executable::OfPackage | Executable::Interpreter => (own_name, request.packages.get(..1).unwrap_or_default()),
    };
    let mut offered = Vec::new();
    let mut file = None;
    for package in packages {
        let programs = npm::programs(tree, &package.name)?;
        file = file.or_else(|| programs.get(asked).cloned());
        // As npx does: where all names mean one program, that one is meant.
        if command.executable == Executable::OfPackage && file.is_none() {
            file = programs.values().next().filter(|first| programs.values().all(|other| other == *first)).cloned();
        }
        offered.extend(programs.into_keys());
    }
    // A program of a dependency, by the link that npm makes to every program.
    let link = Path::new("node_modules/.bin").join(asked);
    let file = file.or_else(|| tree.join(&link).exists().then_some(link));
    let no_program = || InstallError::NoProgram {
        package: request.to_string(),
        program: asked.to_owned(),
        offered: offered.clone(),
    };
    let file = real_inside(tree, &file.ok_or_else(no_program)?).map_err(InstallError::file("find", tree))?;
    if is_for_node(&file) {
        let node = node_program(host, "node", &request.to_string())?;
        Ok((node, vec![file.into()], Vec::new()))
    } else {
        Ok((file, Vec::new(), Vec::new()))
    }
}

/// Whether Node runs a file: its ending says so, or its first line.
fn is_for_node(file: &Path) -> bool {
    if file.extension().is_some_and(|ending| ["cjs", "js", "mjs"].iter().any(|own| ending == *own)) {
        return true;
    }
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(128).read_to_end(&mut start));
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    read.is_ok() && line.starts_with(b"#!") && line.windows(4).any(|part| part == b"node")
}

fn python_program(tree: &Path, command: &PackageCommand) -> Result<Program, InstallError> {
    let venv = tree.join(python::VIRTUALENV);
    let name = match &command.executable {
        Executable::Named(name) => name.as_str(),
        Executable::Interpreter => "python",
        Executable::OfPackage => command.request.name(),
    };
    let program = venv.join("bin").join(name);
    if !program.exists() {
        let name = command.request.name();
        return Err(InstallError::NoProgram {
            package: command.request.to_string(),
            program: program.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            offered: python::offered(tree, name),
        });
    }
    Ok((program, Vec::new(), vec![("VIRTUAL_ENV".into(), venv.into())]))
}

/// The installation of a Python that the command itself names by its path; those on `PATH` every box shows.
///
/// The virtualenv knows it too, but foreign code may have written there, and would choose what a box may read.
pub(crate) fn named_python(request: &Request, host: &HostView) -> Option<PathBuf> {
    let asked = request.python.as_deref().filter(|python| python.contains('/'))?;
    let python = programs::python(host, Some(asked), "").ok()?.canonicalize().ok()?;
    let prefix = python.parent()?.parent()?.to_path_buf();
    let shown = ["/usr", "/bin"].iter().any(|shown| prefix.starts_with(shown));
    let allowed = MountRules::for_user(&host.home).check(&prefix, Access::ReadOnly).is_ok();
    (!shown && allowed).then_some(prefix)
}
