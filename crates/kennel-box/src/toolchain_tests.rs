use super::*;
use std::os::unix::fs::symlink;

/// A home directory with the given files; directories are made as needed.
fn home(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    (directory, root)
}

fn find_in(home: &Path, path: &[&str], programs: &[&Path]) -> Toolchains {
    let path = path.iter().map(|part| if part.starts_with('/') { PathBuf::from(part) } else { home.join(part) });
    let host = HostView { path: std::env::join_paths(path).unwrap(), home: home.into(), ..HostView::default() };
    find(&host, programs, &Written::default())
}

#[test]
fn the_base_system_needs_no_mount() {
    let (_keep, home) = home(&[]);
    let found = find_in(&home, &["/usr/bin", "/bin"], &[]);
    assert_eq!(found, Toolchains { path: vec!["/usr/bin".into(), "/bin".into()], ..Toolchains::default() });
}

#[test]
fn version_managers_are_shown_whole_and_told_where_they_are() {
    let (_keep, home) =
        home(&[".pyenv/shims/python3", ".pyenv/versions/3/bin/python3", ".nvm/versions/node/v22/bin/node"]);
    let found = find_in(&home, &[".pyenv/shims", ".nvm/versions/node/v22/bin"], &[]);
    assert_eq!(found.roots, [home.join(".nvm"), home.join(".pyenv")]);
    assert_eq!(found.env, [("PYENV_ROOT".into(), home.join(".pyenv").into_os_string())]);
    assert_eq!(found.path, [home.join(".pyenv/shims"), home.join(".nvm/versions/node/v22/bin")]);
}

#[test]
fn cargo_shows_its_programs_and_not_its_credentials() {
    let (_keep, home) = home(&[".cargo/bin/cargo", ".cargo/credentials.toml", ".rustup/settings.toml"]);
    let found = find_in(&home, &[".cargo/bin"], &[]);
    assert_eq!(found.roots, [home.join(".cargo/bin"), home.join(".rustup")]);
}

#[test]
fn an_active_virtualenv_brings_the_python_it_links_to() {
    let (_keep, home) = home(&[
        "base/bin/python3.12",
        "base/lib/python3.12/os.py",
        "project/.venv/pyvenv.cfg",
        "project/.venv/.gitignore",
    ]);
    fs::create_dir_all(home.join("project/.venv/bin")).unwrap();
    symlink(home.join("base/bin/python3.12"), home.join("project/.venv/bin/python3")).unwrap();
    let found = find_in(&home, &["project/.venv/bin"], &[]);
    assert_eq!(found.roots, [home.join("base"), home.join("project/.venv")]);
}

#[test]
fn a_program_that_links_to_an_interpreter_brings_it() {
    let (_keep, home) = home(&[".local/share/uv/python/cpython/bin/python3.12"]);
    fs::create_dir_all(home.join("project/bin")).unwrap();
    let program = home.join("project/bin/python");
    symlink(home.join(".local/share/uv/python/cpython/bin/python3.12"), &program).unwrap();
    let found = find_in(&home, &[], &[&program]);
    assert_eq!(found.roots, [home.join(".local/share/uv")]);
}

#[test]
fn a_directory_without_interpreters_is_left_out() {
    let (_keep, home) = home(&["bin/my-script", "secrets/x"]);
    let found = find_in(&home, &["bin", "secrets", "missing", "relative"], &[]);
    assert_eq!(found, Toolchains::default());
}

#[test]
fn an_interpreter_in_the_homes_own_bin_does_not_show_the_home() {
    let (_keep, home) = home(&["bin/node", "private"]);
    let found = find_in(&home, &["bin"], &[]);
    assert_eq!(found.roots, [home.join("bin")]);
}

#[test]
fn a_project_with_an_interpreter_in_its_bin_shows_no_more_than_that() {
    for interpreter in ["python3", "node", "ruby", "java"] {
        let program = format!("work/project/bin/{interpreter}");
        let (_keep, home) =
            home(&[&program, "work/project/.env", "work/project/src/main.py", "work/project/lib/own.js"]);
        let found = find_in(&home, &["work/project/bin"], &[]);
        assert_eq!(found.roots, [home.join("work/project/bin")], "{interpreter}");
        assert_eq!(found.path, [home.join("work/project/bin")], "{interpreter}");
    }
}

#[test]
fn an_interpreters_own_prefix_is_shown_whole() {
    for mark in [
        "pyvenv.cfg",
        "lib/python3.12/os.py",
        "include/node/node.h",
        "lib/node_modules/npm/package.json",
        "lib/ruby/3.3.0/set.rb",
        "lib/perl5/strict.pm",
        "lib/php/build/php.m4",
        "conda-meta/history",
        "lib/modules",
    ] {
        let (_keep, home) =
            home(&["work/prefix/bin/python3", "work/prefix/share/man/x", &format!("work/prefix/{mark}")]);
        let found = find_in(&home, &["work/prefix/bin"], &[]);
        assert_eq!(found.roots, [home.join("work/prefix")], "{mark}");
    }
}

#[test]
fn a_project_that_is_a_prefix_as_well_shows_only_the_parts_of_the_prefix() {
    let (_keep, home) = home(&[
        "work/project/bin/python3",
        "work/project/lib/python3.12/site.py",
        "work/project/pyvenv.cfg",
        "work/project/.env",
        "work/project/.git/config",
        "work/project/notes/diary",
    ]);
    let project = home.join("work/project");
    let found = find_in(&home, &["work/project/bin"], &[]);
    assert_eq!(found.roots, [project.join("bin"), project.join("lib"), project.join("pyvenv.cfg")]);
}

#[test]
fn a_project_that_an_interpreter_is_a_link_into_shows_no_more_than_its_bin() {
    let (_keep, home) = home(&["work/project/bin/node", "work/project/.env"]);
    fs::create_dir_all(home.join("tools")).unwrap();
    symlink(home.join("work/project/bin/node"), home.join("tools/node")).unwrap();
    let found = find_in(&home, &["tools"], &[]);
    assert_eq!(found.roots, [home.join("tools"), home.join("work/project/bin")]);
}
