//! Installs of Python: a virtualenv made with uv where that is at hand, else with Python's own venv and pip.
//!
//! Wheels come first, because installing them runs nothing of theirs. Only where there are none is a package built from
//! its source, which does, and that happens in another box that has no credentials.

use crate::command::Request;
use crate::error::{Hint, InstallError, InstallPhase};
use crate::foreign::{Foreign, hex, shown};
use crate::manifest::{Contents, PinnedPackage};
use crate::programs;
use crate::spec::normal;
use crate::staging::blocking;
use crate::workshop::{Job, Trust, Workshop};
use kennel_box::Command;
use kennel_tree::{Kind, Place};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The virtualenv in an install.
pub(crate) const VIRTUALENV: &str = "venv";

/// Where pip writes down what it installed, in the work directory.
const REPORT: &str = "report.json";

/// The largest file about packages that is read.
const LARGEST: u64 = 16 << 20;

/// The most versions of Python whose libraries are looked at in one virtualenv.
const MOST_VERSIONS: usize = 16;

/// Ends well if this Python has a pip that can install into other virtualenvs.
const CAN_SHARE_PIP: &str =
    "import pip, sys; sys.exit(tuple(int(part) for part in pip.__version__.split('.')[:2]) < (22, 3))";

/// `python -m pip` by another name: pyenv watches out for that one, to change its own files afterwards.
const RUN_PIP: &str = "import runpy; runpy.run_module('pip', run_name='__main__', alter_sys=True)";

/// What makes the virtualenv and fills it.
enum Installer {
    Uv(PathBuf),
    Pip(PathBuf),
}

/// Installs the packages of a request and says what came of it.
pub(crate) async fn install(job: &Job<'_>, request: &Request) -> Result<Contents, InstallError> {
    let (host, asked, package) = (job.host.clone(), request.python.clone(), job.package.clone());
    let installer = blocking(move || match programs::find(&host, "uv") {
        Some(uv) => Ok(Installer::Uv(uv)),
        None => programs::python(&host, asked.as_deref(), &package).map(Installer::Pip),
    });
    let installer = installer.await?;
    job.observer.enter(InstallPhase::Resolving, &format!("resolving {request}"));
    let wheels = attempt(job, request, &installer, Trust::Credentials).await;
    let interpreter = match wheels {
        Ok(interpreter) => interpreter,
        Err(first) if !may_lack_wheels(&first) => return Err(first),
        Err(first) => build(job, request, &installer, first).await?,
    };
    let packages = if has_report(job).await? { reported(job).await? } else { found(job).await? };
    Ok(Contents { packages, interpreter })
}

/// Installs with what must be built, after an attempt with wheels alone.
async fn build(
    job: &Job<'_>,
    request: &Request,
    installer: &Installer,
    first: InstallError,
) -> Result<Option<PathBuf>, InstallError> {
    job.observer
        .enter(InstallPhase::Resolving, "there is no wheel; looking for a source to build, without credentials");
    // What wheels left there chooses nothing: neither the Python of the next virtualenv nor where its links lead.
    job.clear_tree().await?;
    attempt(job, request, installer, Trust::NoCredentials).await.map_err(|second| {
        // Where building was not the trouble either, the first try knew more: it had the user's settings.
        let built = matches!(&second, InstallError::Failed { hint: Hint::Build, .. } | InstallError::Timeout { .. });
        let bounded = matches!(&second, InstallError::TooLarge { .. });
        if built || bounded { second } else { first }
    })
}

/// Whether an installer may have failed only because it was told to take no sources.
fn may_lack_wheels(error: &InstallError) -> bool {
    let InstallError::Failed { hint, phase, .. } = error else { return false };
    let resolving = matches!(phase, InstallPhase::Resolving | InstallPhase::Downloading);
    resolving && matches!(hint, Hint::NoSuchPackage | Hint::NoSuchVersion | Hint::OtherInterpreter | Hint::Unknown)
}

/// Makes a virtualenv and fills it; says which Python outside of the install it was made with, if one was.
async fn attempt(
    job: &Job<'_>,
    request: &Request,
    installer: &Installer,
    trust: Trust,
) -> Result<Option<PathBuf>, InstallError> {
    let program = match installer {
        Installer::Uv(program) | Installer::Pip(program) => program,
    };
    let workshop = job.workshop(trust, &[program]).await?;
    let outcome = match installer {
        Installer::Uv(uv) => with_uv(job, request, &workshop, uv, trust).await,
        Installer::Pip(python) => with_pip(job, request, &workshop, python, trust).await,
    };
    workshop.end().await;
    outcome
}

async fn with_pip(
    job: &Job<'_>,
    request: &Request,
    workshop: &Workshop<'_>,
    python: &Path,
    trust: Trust,
) -> Result<Option<PathBuf>, InstallError> {
    let venv = job.places.final_tree.join(VIRTUALENV);
    // A pip of its own would make the virtualenv a hundred times as large, so Python's is used where it can be.
    let shares_pip = match workshop.run("python", command(python, ["-c".into(), CAN_SHARE_PIP.into()]), &[]).await {
        Ok(()) => true,
        Err(InstallError::Failed { .. }) => false,
        Err(other) => return Err(other),
    };
    let mut words: Vec<OsString> = ["-m", "venv", "--clear"].map(OsString::from).to_vec();
    words.extend(shares_pip.then(|| "--without-pip".into()));
    words.push(venv.clone().into());
    workshop.run("python -m venv", command(python, words), &[]).await?;
    let interpreter = interpreter(job).await?;
    let own_python = venv.join("bin/python");
    let mut words: Vec<OsString> = ["-c", RUN_PIP].map(OsString::from).to_vec();
    if shares_pip {
        words.extend(["--python".into(), own_python.clone().into()]);
    }
    words.extend(["install", "--no-input", "--disable-pip-version-check", "--no-cache-dir"].map(OsString::from));
    if shares_pip {
        // An older pip, as a virtualenv may get, cannot report.
        words.extend(["--report".into(), job.places.final_work.join(REPORT).into()]);
    }
    words.extend(shared_words(request, trust, "--pre"));
    let runner = if shares_pip { python } else { &own_python };
    workshop.run("pip", command(runner, words), &[]).await?;
    Ok(interpreter)
}

/// The Python outside of the install that a new virtualenv leads to. Asked before anything of a package is there.
async fn interpreter(job: &Job<'_>) -> Result<Option<PathBuf>, InstallError> {
    let mut foreign = Foreign::open(job.trees, &job.places.tree, &job.places.final_tree).await?;
    match foreign.resolve(&Path::new(VIRTUALENV).join("bin/python")).await? {
        // One that uv fetched belongs to the install.
        Place::Inside { kind: Kind::File, .. } => Ok(None),
        Place::Outside { target } if target.is_absolute() => Ok(Some(target)),
        _ => {
            let problem = "the new virtualenv has no Python".to_owned();
            Err(InstallError::Broken { path: job.places.tree.clone(), problem })
        }
    }
}

async fn with_uv(
    job: &Job<'_>,
    request: &Request,
    workshop: &Workshop<'_>,
    uv: &Path,
    trust: Trust,
) -> Result<Option<PathBuf>, InstallError> {
    let places = &job.places;
    let env: Vec<(OsString, OsString)> = vec![
        ("UV_CACHE_DIR".into(), places.final_work.join("cache").into()),
        ("UV_LINK_MODE".into(), "copy".into()),
        ("UV_NO_PROGRESS".into(), "1".into()),
        // As a variable, because an older uv has no such flag and needs none.
        ("UV_VENV_CLEAR".into(), "1".into()),
        // A Python that uv fetches belongs to the install.
        ("UV_PYTHON_INSTALL_DIR".into(), places.final_tree.join("python").into()),
    ];
    let venv = places.final_tree.join(VIRTUALENV);
    let mut words: Vec<OsString> = ["venv", "--no-project"].map(OsString::from).to_vec();
    words.extend(request.python.iter().flat_map(|python| ["--python".into(), python.into()]));
    words.push(venv.clone().into());
    workshop.run("uv venv", Command { env: env.clone(), ..command(uv, words) }, &[]).await?;
    let interpreter = interpreter(job).await?;
    // Not compiled by uv: that starts the virtualenv's Python, which runs what wheels leave in `.pth` files.
    let mut words: Vec<OsString> = ["pip", "install", "--no-compile-bytecode", "--python"].map(OsString::from).to_vec();
    words.push(venv.join("bin/python").into());
    words.extend(shared_words(request, trust, "--prerelease=allow"));
    workshop.run("uv pip", Command { env, ..command(uv, words) }, &[]).await?;
    if let Some(python) = &interpreter {
        let mut words: Vec<OsString> = ["-I", "-S", "-m", "compileall", "-q", "-j", "0"].map(OsString::from).to_vec();
        words.push(venv.join("lib").into());
        // What cannot be compiled runs a little later, or is not Python at all.
        match workshop.run("python -m compileall", command(python, words), &[]).await {
            Ok(()) | Err(InstallError::Failed { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(interpreter)
}

fn shared_words(request: &Request, trust: Trust, prereleases: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    if trust == Trust::Credentials {
        words.extend(["--only-binary".into(), ":all:".into()]);
    }
    if request.prereleases {
        words.push(prereleases.into());
    }
    words.push("--".into());
    words.extend(request.texts().into_iter().map(OsString::from));
    words
}

fn command(program: &Path, args: impl Into<Vec<OsString>>) -> Command {
    Command { program: program.into(), args: args.into(), ..Command::default() }
}

/// What pip says that it installed.
#[derive(Deserialize)]
struct Report {
    install: Vec<ReportedPackage>,
}

#[derive(Deserialize)]
struct ReportedPackage {
    metadata: Metadata,
    download_info: serde_json::Value,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

/// Whether the installer wrote down what it installed.
async fn has_report(job: &Job<'_>) -> Result<bool, InstallError> {
    let mut foreign = Foreign::open(job.trees, &job.places.work, &job.places.final_work).await?;
    Ok(foreign.resolve(Path::new(REPORT)).await? != Place::Absent)
}

/// The packages of pip's report, with the digests of their archives.
async fn reported(job: &Job<'_>) -> Result<Vec<PinnedPackage>, InstallError> {
    let path = job.places.work.join(REPORT);
    let mut foreign = Foreign::open(job.trees, &job.places.work, &job.places.final_work).await?;
    let text = foreign.read(Path::new(REPORT), LARGEST).await?.unwrap_or_default();
    let broken = |error: serde_json::Error| InstallError::Broken { path, problem: error.to_string() };
    blocking(move || packages_of(&text).map_err(broken)).await
}

fn packages_of(report: &[u8]) -> serde_json::Result<Vec<PinnedPackage>> {
    let report: Report = serde_json::from_slice(report)?;
    let mut packages = Vec::new();
    for package in report.install {
        let digest = package.download_info.pointer("/archive_info/hashes/sha256").and_then(|digest| digest.as_str());
        packages.push(PinnedPackage {
            name: normal(&package.metadata.name),
            version: shown(&package.metadata.version),
            integrity: digest.map_or_else(String::new, |digest| format!("sha256:{}", shown(digest))),
        });
    }
    packages.sort();
    Ok(packages)
}

/// The packages found in a virtualenv, with the digests of their lists of files.
async fn found(job: &Job<'_>) -> Result<Vec<PinnedPackage>, InstallError> {
    let mut foreign = Foreign::open(job.trees, &job.places.tree, &job.places.final_tree).await?;
    let mut packages = Vec::new();
    for directory in descriptions(&mut foreign).await? {
        let text = foreign.read(&directory.join("METADATA"), LARGEST).await?.unwrap_or_default();
        let record = foreign.read(&directory.join("RECORD"), LARGEST).await?.unwrap_or_default();
        packages.push(described(&text, &record));
    }
    packages.sort();
    Ok(packages)
}

/// The package that its `METADATA` and `RECORD` describe.
pub(crate) fn described(metadata: &[u8], record: &[u8]) -> PinnedPackage {
    let text = String::from_utf8_lossy(metadata);
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
    PinnedPackage {
        name: normal(field("Name:")),
        version: shown(field("Version:")),
        integrity: format!("record-sha256:{}", hex(&Sha256::digest(record))),
    }
}

/// The directories in which packages of a virtualenv describe themselves, as places in the install.
async fn descriptions(foreign: &mut Foreign) -> Result<Vec<PathBuf>, InstallError> {
    let library = Path::new(VIRTUALENV).join("lib");
    let mut found = Vec::new();
    for version in foreign.names(&library, "").await?.into_iter().take(MOST_VERSIONS) {
        let packages = library.join(version).join("site-packages");
        let names = foreign.names(&packages, ".dist-info").await?;
        found.extend(names.into_iter().map(|name| packages.join(name)));
    }
    Ok(found)
}

/// The programs that a package put into its virtualenv.
pub(crate) async fn offered(foreign: &mut Foreign, package: &str) -> Result<Vec<String>, InstallError> {
    let is_its = |directory: &PathBuf| {
        let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.split('-').next().is_some_and(|name| normal(name) == package)
    };
    let Some(directory) = descriptions(foreign).await?.into_iter().find(is_its) else { return Ok(Vec::new()) };
    let record = foreign.read(&directory.join("RECORD"), LARGEST).await?.unwrap_or_default();
    Ok(recorded_programs(&record))
}

/// The programs that the text of a `RECORD` lists.
pub(crate) fn recorded_programs(record: &[u8]) -> Vec<String> {
    let record = String::from_utf8_lossy(record);
    let mut programs = record
        .lines()
        .filter_map(|line| line.strip_prefix("../../../bin/")?.split(',').next())
        .map(shown)
        .collect::<Vec<_>>();
    programs.sort();
    programs
}

/// The packages that the text of pip's report names.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn report_packages(text: &[u8]) -> Option<Vec<PinnedPackage>> {
    packages_of(text).ok()
}
