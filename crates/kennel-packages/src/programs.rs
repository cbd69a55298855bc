//! Where the programs are that installs need: Node, npm, Python and uv on the user's `PATH`.

use crate::error::InstallError;
use crate::staging::blocking;
use kennel_box::HostView;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The first program of this name on the user's `PATH`.
pub(crate) fn find(host: &HostView, name: &str) -> Option<PathBuf> {
    let directories = std::env::split_paths(&host.path).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// A program of npm's world.
pub(crate) async fn node_program(host: &HostView, name: &'static str, package: &str) -> Result<PathBuf, InstallError> {
    let host = host.clone();
    blocking(move || Ok(find(&host, name))).await?.ok_or_else(|| InstallError::Missing {
        package: package.to_owned(),
        program: name.to_owned(),
        advice: "install Node.js, which brings npm, or put it on PATH",
    })
}

/// The Python to make a virtualenv of: the one asked for by version or path, or the user's own.
pub(crate) fn python(host: &HostView, asked: Option<&str>, package: &str) -> Result<PathBuf, InstallError> {
    let (found, program) = match asked {
        None => (find(host, "python3").or_else(|| find(host, "python")), "python3".to_owned()),
        Some(path) if path.contains('/') => {
            let path = host.cwd.join(path);
            (is_program(&path).then(|| path.clone()), path.display().to_string())
        }
        Some(version) => {
            let name = if version.starts_with(|first: char| first.is_ascii_digit()) {
                format!("python{version}")
            } else {
                version.to_owned()
            };
            (find(host, &name), name)
        }
    };
    let advice = "install it, or install uv, which fetches the Python that is asked for";
    found.ok_or_else(|| InstallError::Missing { package: package.to_owned(), program, advice })
}
