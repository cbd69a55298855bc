use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn host(directories: &[&Path]) -> HostView {
    HostView { path: std::env::join_paths(directories).unwrap(), home: "/nonexistent".into(), ..HostView::default() }
}

/// A directory with a program `python3` that answers as the script says.
fn directory(script: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("python3");
    // Written by another process, so that no descriptor for writing is open in a fork of a test beside this one.
    let text = format!("#!/bin/sh\n{script}\n");
    let mut writer = std::process::Command::new("sh");
    writer.args(["-c", "printf %s \"$1\" > \"$2\"", "sh", &text]).arg(&program);
    assert!(writer.status().unwrap().success());
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

fn answering(name: &str, version: &str, executable: &str) -> tempfile::TempDir {
    directory(&format!(
        r#"echo '{{"name": "{name}", "version": {version}, "executable": "{executable}", "prefixes": ["/opt/p", "/opt/p"]}}'"#
    ))
}

#[tokio::test]
async fn the_first_that_will_do_is_taken_and_a_shim_is_seen_through() {
    let old = answering("cpython", "[3, 8, 1]", "/old/python");
    let other = answering("pypy", "[3, 10, 1]", "/other/python");
    let broken = directory("echo 'no such version' >&2; exit 127");
    let shim = answering("cpython", "[3, 12, 4]", "/opt/p/bin/python3.12");
    let path = [&old, &other, &broken, &shim].map(tempfile::TempDir::path);
    let python = Python::find(None, &host(&path)).await.unwrap();
    assert_eq!(python.program(), Path::new("/opt/p/bin/python3.12"));
    assert_eq!(python.to_string(), "Python 3.12.4 (/opt/p/bin/python3.12)");
    let mounts = python.mounts();
    assert_eq!(mounts.len(), 1);
    assert_eq!(mounts[0].host_path, Path::new("/opt/p"));
}

#[tokio::test]
async fn what_was_tried_is_said() {
    let old = answering("cpython", "[3, 8, 1]", "/old/python");
    let new = answering("cpython", "[3, 15, 0]", "/new/python");
    let broken = directory("echo 'no such version' >&2; exit 127");
    let path = [&old, &new, &broken].map(tempfile::TempDir::path);
    let error = Python::find(None, &host(&path)).await.unwrap_err().to_string();
    for part in ["is 3.8, but 3.9 to 3.14 will do", "is 3.15", "no such version", old.path().to_str().unwrap()] {
        assert!(error.contains(part), "{part} in {error}");
    }
    let given = Path::new("/nonexistent/python");
    let error = Python::find(Some(given), &host(&path)).await.unwrap_err().to_string();
    assert!(error.contains("`/nonexistent/python` cannot be run"), "{error}");
    let relative = HostView { cwd: broken.path().into(), ..host(&[]) };
    let error = Python::find(Some(Path::new("./python3")), &relative).await.unwrap_err().to_string();
    assert!(error.contains("no such version"), "a path is one in the working directory: {error}");
    let error = Python::find(Some(Path::new("python9")), &host(&path)).await.unwrap_err().to_string();
    assert!(error.contains("no `python9` on PATH"), "{error}");
    let nowhere = Python::find(None, &host(&[])).await.unwrap_err().to_string();
    assert!(nowhere.contains("no `python3` on PATH"), "{nowhere}");
}

#[test]
fn a_linked_installation_is_shown_at_both_its_places() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("real/bin")).unwrap();
    fs::write(root.join("real/bin/python3"), "").unwrap();
    std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
    fs::create_dir_all(root.join("venv/bin")).unwrap();
    std::os::unix::fs::symlink(root.join("link/bin/python3"), root.join("venv/bin/python")).unwrap();
    let answer = |executable: &str, prefixes: [&str; 2]| Answer {
        name: "cpython".to_owned(),
        version: (3, 11, 0),
        executable: root.join(executable),
        prefixes: prefixes.map(|prefix| root.join(prefix)).to_vec(),
    };
    let places = |python: &Python| {
        let mounts = python.mounts().into_iter();
        mounts.map(|mount| (mount.mount_path.unwrap(), mount.host_path)).collect::<Vec<_>>()
    };
    let both = vec![(root.join("link"), root.join("real")), (root.join("real"), root.join("real"))];
    let plain = Python::from_answer(answer("link/bin/python3", ["link", "link"])).unwrap();
    assert_eq!((plain.program(), places(&plain)), (root.join("real/bin/python3").as_path(), both.clone()));
    let environment = Python::from_answer(answer("venv/bin/python", ["venv", "link"])).unwrap();
    let mut all = both;
    all.push((root.join("venv"), root.join("venv")));
    assert_eq!((environment.program(), places(&environment)), (root.join("venv/bin/python").as_path(), all));
}

#[test]
fn a_python_of_the_base_system_needs_nothing() {
    let answer = Answer {
        name: "cpython".to_owned(),
        version: (3, 11, 2),
        executable: "/usr/bin/true".into(),
        prefixes: vec!["/usr".into(), "/usr".into()],
    };
    assert_eq!(Python::from_answer(answer).unwrap().mounts(), []);
}
