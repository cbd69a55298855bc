//! Installs of npm: packages and dependencies, pinned by the lock file that npm writes.
//!
//! npm runs twice where it must. First it downloads, with the user's credentials and without running anything of the
//! packages. Then, only if a package has a step of its own, those steps run in another box that has no credentials.

use crate::command::Request;
use crate::error::{InstallError, InstallPhase};
use crate::foreign::{Foreign, shown};
use crate::manifest::{Contents, PinnedPackage};
use crate::programs::node_program;
use crate::secrets::Secrets;
use crate::staging::blocking;
use crate::workshop::{Job, Trust};
use kennel_box::Command;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest lock file that is read.
const LARGEST_LOCK: u64 = 16 << 20;
/// The largest description of a package that is read, and the most programs that it may name.
const LARGEST_DESCRIPTION: u64 = 4 << 20;
const MOST_PROGRAMS: usize = 1000;

/// Where npm writes down what it installed, and perhaps from which address.
const LOCKS: [&str; 2] = ["package-lock.json", "node_modules/.package-lock.json"];

const QUIET: [&str; 6] =
    ["--no-audit", "--no-fund", "--no-update-notifier", "--no-progress", "--loglevel=http", "--no-global"];

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    packages: BTreeMap<String, LockedPackage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LockedPackage {
    #[serde(default)]
    version: String,
    #[serde(default)]
    integrity: String,
    #[serde(default)]
    has_install_script: bool,
}

/// Installs the packages of a request and says what came of it.
pub(crate) async fn install(job: &Job<'_>, request: &Request) -> Result<Contents, InstallError> {
    let npm = node_program(job.host, "npm", &job.package).await?;
    let node = node_program(job.host, "node", &job.package).await?;
    let project = job.places.tree.join("package.json");
    // Nobody else has written there yet.
    let write =
        move || fs::write(&project, "{\n  \"private\": true\n}\n").map_err(InstallError::file("write", &project));
    blocking(write).await?;

    job.observer.enter(InstallPhase::Resolving, &format!("resolving {request}"));
    let mut words = vec!["install", "--ignore-scripts", "--package-lock", "--save", "--save-exact", "--omit=dev"];
    words.extend(["--omit-lockfile-registry-resolved", "--"]);
    let packages = request.texts();
    words.extend(packages.iter().map(String::as_str));
    run(job, Trust::Credentials, &npm, &node, &words).await?;
    let mut foreign = Foreign::open(job.trees, &job.places.tree, &job.places.final_tree).await?;
    let lock = read_lock(&mut foreign, &job.places.tree).await?;
    redact_locks(&mut foreign, &job.settings.secrets).await?;
    drop(foreign);

    let building = lock.packages.values().any(|package| package.has_install_script);
    if building {
        job.observer.enter(InstallPhase::Building, "running the packages' own steps, without credentials");
        run(job, Trust::NoCredentials, &npm, &node, &["rebuild", "--foreground-scripts"]).await?;
    }
    Ok(Contents { packages: pinned(lock), interpreter: None })
}

async fn run(job: &Job<'_>, trust: Trust, npm: &Path, node: &Path, words: &[&str]) -> Result<(), InstallError> {
    let workshop = job.workshop(trust, &[npm, node]).await?;
    let (first, rest) = words.split_at(1);
    let args = first.iter().chain(&QUIET).chain(rest).map(OsString::from).collect();
    let env = vec![("NPM_CONFIG_CACHE".into(), job.places.final_work.join("cache").into())];
    let outcome = workshop.run("npm", Command { program: npm.into(), args, env, ..Command::default() }, &[]).await;
    workshop.end().await;
    outcome
}

async fn read_lock(foreign: &mut Foreign, tree: &Path) -> Result<Lock, InstallError> {
    let path = tree.join(LOCKS[0]);
    let broken = move |problem: String| InstallError::Broken { path, problem };
    let Some(text) = foreign.read(Path::new(LOCKS[0]), LARGEST_LOCK).await? else {
        return Err(broken("npm wrote no lock file".to_owned()));
    };
    blocking(move || serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))).await
}

/// Takes out what an address of a registry may hold: only newer npms can be told to leave addresses out.
async fn redact_locks(foreign: &mut Foreign, secrets: &Secrets) -> Result<(), InstallError> {
    for name in LOCKS {
        let Some(text) = foreign.read(Path::new(name), LARGEST_LOCK).await? else { continue };
        let secrets = secrets.clone();
        let redacted = blocking(move || {
            let text = String::from_utf8_lossy(&text);
            Ok(secrets.are_in(&text).then(|| secrets.redact(&text)))
        });
        if let Some(text) = redacted.await? {
            foreign.replace(Path::new(name), text.as_bytes()).await?;
        }
    }
    Ok(())
}

/// The packages of a lock, those at the top first.
fn pinned(lock: Lock) -> Vec<PinnedPackage> {
    let mut all = lock
        .packages
        .into_iter()
        .filter_map(|(place, package)| {
            let (outer, name) = place.rsplit_once("node_modules/")?;
            let LockedPackage { version, integrity, .. } = package;
            let (version, integrity) = (shown(&version), shown(&integrity));
            Some((!outer.is_empty(), PinnedPackage { name: name.to_owned(), version, integrity }))
        })
        .collect::<Vec<_>>();
    all.sort();
    all.into_iter().map(|(_, package)| package).collect()
}

/// The part of a package's own description that says what it runs.
#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    bin: Option<Bin>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Bin {
    One(String),
    Many(BTreeMap<String, String>),
}

/// The programs of a package, by name, with their places in the install.
pub(crate) async fn programs(
    foreign: &mut Foreign,
    tree: &Path,
    package: &str,
) -> Result<BTreeMap<String, PathBuf>, InstallError> {
    let directory = Path::new("node_modules").join(package);
    let path = directory.join("package.json");
    let broken = |problem: String| InstallError::Broken { path: tree.join(&path), problem };
    let text = foreign.read(&path, LARGEST_DESCRIPTION).await?;
    let text = text.ok_or_else(|| broken("it is not there".to_owned()))?;
    bins(&directory, package, &text).map_err(broken)
}

fn bins(directory: &Path, package: &str, description: &[u8]) -> Result<BTreeMap<String, PathBuf>, String> {
    let description: Description = serde_json::from_slice(description).map_err(|error| error.to_string())?;
    let own_name = package.rsplit('/').next().unwrap_or(package);
    let named = match description.bin {
        None => BTreeMap::new(),
        Some(Bin::One(file)) => BTreeMap::from([(own_name.to_owned(), file)]),
        Some(Bin::Many(named)) => named,
    };
    if named.len() > MOST_PROGRAMS {
        return Err(format!("it names more than {MOST_PROGRAMS} programs"));
    }
    Ok(named.into_iter().map(|(name, file)| (name, directory.join(file))).collect())
}

/// The packages that the text of a lock names.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn lock_packages(text: &[u8]) -> Option<Vec<PinnedPackage>> {
    serde_json::from_slice(text).ok().map(pinned)
}

/// The programs that the text of a `package.json` names.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn described_programs(package: &str, text: &[u8]) -> Option<BTreeMap<String, PathBuf>> {
    bins(&Path::new("node_modules").join(package), package, text).ok()
}

#[cfg(test)]
#[path = "npm_tests.rs"]
mod tests;
