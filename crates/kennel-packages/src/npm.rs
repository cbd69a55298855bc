//! Installs of npm: packages and dependencies, pinned by the lock file that npm writes.
//!
//! npm runs twice where it must. First it downloads, with the user's credentials and without running anything of the
//! packages. Then, only if a package has a step of its own, those steps run in another box that has no credentials.

use crate::command::Request;
use crate::error::{InstallError, InstallPhase};
use crate::manifest::PinnedPackage;
use crate::programs::node_program;
use crate::secrets::Secrets;
use crate::tree::{read_inside, real_inside};
use crate::workshop::{Job, Trust};
use kennel_box::Command;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest lock file that is read.
const LARGEST_LOCK: u64 = 64 << 20;

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
pub(crate) async fn install(job: &Job<'_>, request: &Request) -> Result<Vec<PinnedPackage>, InstallError> {
    let npm = node_program(job.host, "npm", &job.package)?;
    let node = node_program(job.host, "node", &job.package)?;
    let project = job.places.tree.join("package.json");
    fs::write(&project, "{\n  \"private\": true\n}\n").map_err(InstallError::file("write", &project))?;

    job.observer.enter(InstallPhase::Resolving, &format!("resolving {request}"));
    let mut words = vec!["install", "--ignore-scripts", "--package-lock", "--save", "--save-exact", "--omit=dev"];
    words.extend(["--omit-lockfile-registry-resolved", "--"]);
    let packages = request.texts();
    words.extend(packages.iter().map(String::as_str));
    run(job, Trust::Credentials, &npm, &node, &words).await?;
    let lock = read_lock(&job.places.tree)?;
    redact_locks(&job.places.tree, &job.settings.secrets)?;

    let building = lock.packages.values().any(|package| package.has_install_script);
    if building {
        job.observer.enter(InstallPhase::Building, "running the packages' own steps, without credentials");
        run(job, Trust::NoCredentials, &npm, &node, &["rebuild", "--foreground-scripts"]).await?;
    }
    Ok(pinned(lock))
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

fn read_lock(tree: &Path) -> Result<Lock, InstallError> {
    let path = tree.join(LOCKS[0]);
    let text = read_inside(tree, Path::new(LOCKS[0]), LARGEST_LOCK).map_err(InstallError::file("read", &path))?;
    serde_json::from_slice(&text).map_err(|error| InstallError::Broken { path, problem: error.to_string() })
}

/// Takes out what an address of a registry may hold: only newer npms can be told to leave addresses out.
fn redact_locks(tree: &Path, secrets: &Secrets) -> Result<(), InstallError> {
    for name in LOCKS {
        let Ok(text) = read_inside(tree, Path::new(name), LARGEST_LOCK) else { continue };
        let text = String::from_utf8_lossy(&text);
        if secrets.are_in(&text) {
            let path = real_inside(tree, Path::new(name)).map_err(InstallError::file("find", name))?;
            fs::write(&path, secrets.redact(&text)).map_err(InstallError::file("write", &path))?;
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
pub(crate) fn programs(tree: &Path, package: &str) -> Result<BTreeMap<String, PathBuf>, InstallError> {
    let directory = Path::new("node_modules").join(package);
    let path = directory.join("package.json");
    let text = read_inside(tree, &path, LARGEST_LOCK).map_err(InstallError::file("read", tree.join(&path)))?;
    described(package, &text)
        .map_err(|error| InstallError::Broken { path: tree.join(&path), problem: error.to_string() })
}

fn described(package: &str, text: &[u8]) -> serde_json::Result<BTreeMap<String, PathBuf>> {
    let directory = Path::new("node_modules").join(package);
    let description: Description = serde_json::from_slice(text)?;
    let own_name = package.rsplit('/').next().unwrap_or(package);
    let named = match description.bin {
        None => BTreeMap::new(),
        Some(Bin::One(file)) => BTreeMap::from([(own_name.to_owned(), file)]),
        Some(Bin::Many(named)) => named,
    };
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
    described(package, text).ok()
}

#[cfg(test)]
#[path = "npm_tests.rs"]
mod tests;
