//! Attempts to read files that are not granted, and to reach sockets by their path.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::Runner;
use crate::finding::{Finding, Verdict, escaped};
use crate::scene::Scene;

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("read_shadow", |_| Ok(read_some(Path::new("/etc/shadow"))?)),
    ("read_home", read_home),
    ("read_ssh_key", |scene| Ok(read_some(scene.path(0)?)?)),
    ("read_other_box", |scene| Ok(read_some(scene.path(0)?)?)),
    ("connect_docker_socket", connect_docker_socket),
];

/// Reads the beginning of a file, and tells only how much that was.
pub(crate) fn read_some(path: &Path) -> io::Result<Finding> {
    let mut beginning = [0; 16];
    let count = File::open(path)?.read(&mut beginning)?;
    Ok(escaped(format!("read {count} bytes of {}", path.display())))
}

fn read_home(scene: &Scene) -> Verdict {
    let mut listed = 0;
    let mut last_error = None;
    for entry in fs::read_dir(scene.path(0)?)? {
        listed += 1;
        match read_some(&entry?.path()) {
            Ok(finding) => return Ok(finding),
            Err(error) => last_error = Some(error),
        }
    }
    match last_error {
        // The names of the files are already more than the box may know.
        Some(_) => Ok(escaped(format!("listed {listed} names"))),
        None => Ok(escaped("listed an empty directory")),
    }
}

fn connect_docker_socket(scene: &Scene) -> Verdict {
    UnixStream::connect(scene.path(0)?)?;
    Ok(escaped("connected"))
}
