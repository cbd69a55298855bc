//! Where in the host's cgroups new ones can be made: read from `/proc`, and on version 2 made so.

use crate::cgroup::{Controller, Version};
use std::fs;
use std::path::{Path, PathBuf};

/// Finds for each controller a cgroup under which the calling process may make others.
pub(crate) fn find() -> Vec<(Controller, Version, PathBuf)> {
    let (Ok(mounts), Ok(own)) = (fs::read_to_string("/proc/self/mountinfo"), fs::read_to_string("/proc/self/cgroup"))
    else {
        return Vec::new();
    };
    let mut places = Vec::new();
    // A process is in one cgroup of version 2, so all its controllers are handed down from the same place.
    let v2 = v2_directory(&mounts, &own).and_then(|(root, own)| v2_parent(&root, &own));
    for controller in Controller::ALL {
        if let Some((parent, _)) = v2.as_ref().filter(|(_, handed_down)| handed_down.contains(&controller)) {
            places.push((controller, Version::V2, parent.clone()));
        } else if let Some(parent) = v1_directory(&mounts, &own, controller).filter(|path| writable(path)) {
            places.push((controller, Version::V1, parent));
        }
    }
    places
}

/// The mount point of the version 2 hierarchy, and this process's cgroup in it.
fn v2_directory(mounts: &str, own: &str) -> Option<(PathBuf, PathBuf)> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, point) = cgroup_mount(mounts, "cgroup2", |_| true)?;
    let directory = point.join(Path::new(path).strip_prefix(&root).ok()?);
    Some((point, directory))
}

/// This process's cgroup in the version 1 hierarchy of a controller.
fn v1_directory(mounts: &str, own: &str, controller: Controller) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == controller.name()).then_some(path)
    })?;
    let (root, point) =
        cgroup_mount(mounts, "cgroup", |options| options.split(',').any(|option| option == controller.name()))?;
    Some(point.join(Path::new(path).strip_prefix(&root).ok()?))
}

/// The root and the mount point of the first cgroup mount of the given type and options.
fn cgroup_mount(mounts: &str, kind: &str, options: impl Fn(&str) -> bool) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (place, source) = line.split_once(" - ")?;
        let mut source = source.split(' ');
        if source.next()? != kind || !options(source.nth(1)?) {
            return None;
        }
        let mut place = place.split(' ').skip(3);
        Some((PathBuf::from(place.next()?), PathBuf::from(place.next()?)))
    })
}

/// The cgroup, from this process's own upwards, that can hand down the most controllers, and those.
fn v2_parent(root: &Path, own: &Path) -> Option<(PathBuf, Vec<Controller>)> {
    let offered = |path: &Path| {
        let list = path.join("cgroup.controllers");
        Controller::ALL.into_iter().filter(|controller| lists(&list, *controller)).collect::<Vec<_>>()
    };
    let mut candidates = own
        .ancestors()
        .take_while(|path| path.starts_with(root))
        .filter(|path| writable(path))
        .map(|path| (path, offered(path)))
        .filter(|(_, controllers)| !controllers.is_empty())
        .collect::<Vec<_>>();
    // The nearest first where several offer the same.
    candidates.sort_by_key(|(_, controllers)| std::cmp::Reverse(controllers.len()));
    let chosen = candidates.into_iter().find(|(path, controllers)| enable(path, own == *path, controllers))?;
    Some((chosen.0.to_path_buf(), chosen.1))
}

/// Hands controllers down to the children of a cgroup, clearing the cgroup of our own processes where it must be.
fn enable(path: &Path, is_own: bool, controllers: &[Controller]) -> bool {
    let control = path.join("cgroup.subtree_control");
    let missing = controllers.iter().filter(|controller| !lists(&control, **controller));
    let missing = missing.map(|controller| format!("+{}", controller.name())).collect::<Vec<_>>().join(" ");
    if missing.is_empty() {
        return !is_threaded(path);
    }
    // Of a cgroup with processes the kernel would hand down some controllers, for threads alone: no box could enter.
    (is_free(path) || (is_own && move_into_leaf(path))) && fs::write(&control, missing).is_ok()
}

/// Whether a cgroup may have children with all controllers: it is empty, or the root of all.
fn is_free(path: &Path) -> bool {
    !path.join("cgroup.type").exists()
        || (!is_threaded(path) && fs::read_to_string(path.join("cgroup.procs")).is_ok_and(|list| list.is_empty()))
}

fn is_threaded(path: &Path) -> bool {
    fs::read_to_string(path.join("cgroup.type")).is_ok_and(|kind| kind.trim() != "domain")
}

fn move_into_leaf(path: &Path) -> bool {
    let ours = [std::process::id(), std::os::unix::process::parent_id()];
    let Ok(present) = fs::read_to_string(path.join("cgroup.procs")) else { return false };
    if !present.lines().all(|line| line.parse().is_ok_and(|pid| ours.contains(&pid))) {
        return false;
    }
    let leaf = path.join("kennel");
    let made = fs::create_dir(&leaf).is_ok() || leaf.is_dir();
    made && ours.iter().all(|pid| fs::write(leaf.join("cgroup.procs"), pid.to_string()).is_ok())
}

fn lists(file: &Path, controller: Controller) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|name| name == controller.name()))
}

/// Whether cgroups can be made here and processes moved into them.
fn writable(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(directory, Access::WRITE_OK).is_ok() && access(directory.join("cgroup.procs"), Access::WRITE_OK).is_ok()
}

#[cfg(test)]
#[path = "hierarchy_tests.rs"]
mod tests;
