//! Attempts through `/proc` and the cgroup file system. Files are opened for writing, never written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::Runner;
use crate::errno;
use crate::finding::{Verdict, blocked, escaped, not_possible};
use crate::reading::read_some;
use crate::scene::Scene;

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("see_outside_process", see_outside_process),
    ("read_outside_environment", |scene| Ok(read_some(&process_file(scene.number(0)?, "environ"))?)),
    ("read_outside_memory", read_outside_memory),
    ("read_init_environment", |_| Ok(read_some(Path::new("/proc/1/environ"))?)),
    ("traverse_init_root", |scene| traverse(1, scene.path(0)?)),
    ("traverse_outside_root", |scene| traverse(scene.number(0)?, scene.path(1)?)),
    ("read_kcore", |_| Ok(read_some(Path::new("/proc/kcore"))?)),
    ("open_sysrq_trigger", |_| open_for_writing(Path::new("/proc/sysrq-trigger"))),
    ("open_sysctl_hostname", |_| open_for_writing(Path::new("/proc/sys/kernel/hostname"))),
    ("open_sysctl_core_pattern", |_| open_for_writing(Path::new("/proc/sys/kernel/core_pattern"))),
    ("open_release_agent", |_| open_any_cgroup_file("release_agent")),
    ("open_outer_cgroup", |_| open_any_cgroup_file("cgroup.procs")),
    ("open_init_executable", open_init_executable),
];

/// A file of a process in `/proc`.
fn process_file(process: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/{name}"))
}

/// Opens without writing or truncating: enough to know that writing would work.
fn open_for_writing(path: &Path) -> Verdict {
    OpenOptions::new().write(true).open(path)?;
    Ok(escaped(format!("opened {} for writing", path.display())))
}

fn see_outside_process(scene: &Scene) -> Verdict {
    let process: u32 = scene.number(0)?;
    fs::metadata(process_file(process, "stat"))?;
    Ok(escaped(format!("sees process {process}")))
}

/// The start of a readable mapping of a process.
pub(crate) fn readable_address(process: u32) -> io::Result<u64> {
    fs::read_to_string(process_file(process, "maps"))?
        .lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.starts_with('r')))
        .find_map(|line| u64::from_str_radix(line.split('-').next()?, 16).ok())
        .ok_or_else(|| io::Error::other("no readable mapping"))
}

fn read_outside_memory(scene: &Scene) -> Verdict {
    let process = scene.number(0)?;
    let memory = File::open(process_file(process, "mem"))?;
    let mut beginning = [0; 16];
    let count = memory.read_at(&mut beginning, readable_address(process)?)?;
    Ok(escaped(format!("read {count} bytes of the memory of process {process}")))
}

fn traverse(process: u32, outside: &Path) -> Verdict {
    let mut path = process_file(process, "root").into_os_string();
    path.push(outside);
    Ok(read_some(Path::new(&path))?)
}

/// Tries a file name in the top cgroup of every hierarchy.
fn open_any_cgroup_file(name: &str) -> Verdict {
    let top = Path::new("/sys/fs/cgroup");
    let mut directories = vec![top.to_owned()];
    directories.extend(fs::read_dir(top)?.flatten().map(|entry| entry.path()));
    let mut refused = None;
    for path in directories.iter().map(|directory| directory.join(name)) {
        match OpenOptions::new().write(true).open(&path) {
            Ok(_) => return Ok(escaped(format!("opened {} for writing", path.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) => refused = Some(errno::name(&error)),
        }
    }
    Ok(refused.map_or_else(|| not_possible(format!("there is no {name}")), blocked))
}

/// As runc was broken out of: a busy text file shows that only the timing was wrong.
fn open_init_executable(_: &Scene) -> Verdict {
    match OpenOptions::new().write(true).open("/proc/1/exe") {
        Ok(_) => Ok(escaped("opened /proc/1/exe for writing")),
        Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) => Ok(escaped("past the permission check: ETXTBSY")),
        Err(error) => Err(error.into()),
    }
}
