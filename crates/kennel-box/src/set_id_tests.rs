use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A directory with files of these modes.
fn tree(files: &[(&str, u32)]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for (name, mode) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
    }
    (directory, root)
}

fn found(root: &Path, name: &str) -> Search {
    Search::Found(root.join(name), Right::SetId)
}

#[test]
fn a_program_that_runs_as_another_is_found_wherever_it_is() {
    for (name, mode) in [("program", 0o4755), ("a/b/c/program", 0o4711), ("a/program", 0o2755), ("program", 0o4100)] {
        let (_keep, root) = tree(&[("a/other", 0o755), (name, mode)]);
        assert_eq!(search(&root, BOUNDS), found(&root, name), "{name} {mode:o}");
        assert_eq!(search(&root.join(name), BOUNDS), found(&root, name), "granted by itself");
        let error = check(&root).unwrap_err().to_string();
        assert!(error.contains(&format!("chmod ug-s {}", root.join(name).display())), "{error}");
    }
}

#[test]
fn bits_that_give_no_right_are_none() {
    let (_keep, root) = tree(&[("data", 0o4644), ("locked", 0o2644), ("group/file", 0o2705), ("program", 0o755)]);
    fs::set_permissions(root.join("group"), fs::Permissions::from_mode(0o2775)).unwrap();
    assert_eq!(search(&root, BOUNDS), Search::Clean);
    assert_eq!(check(&root).unwrap(), None);
}

#[test]
fn links_lead_to_no_other_tree() {
    let (_other, other) = tree(&[("program", 0o4755)]);
    let (_keep, root) = tree(&[("file", 0o644)]);
    symlink(&other, root.join("directory")).unwrap();
    symlink(other.join("program"), root.join("link")).unwrap();
    assert_eq!(search(&root, BOUNDS), Search::Clean);
}

#[test]
fn a_search_comes_to_its_end_and_says_so() {
    let names: Vec<String> = (0..200).map(|number| format!("{number}")).collect();
    let files: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 0o644)).collect();
    let (_keep, root) = tree(&files);
    assert_eq!(search(&root, Bounds { entries: 100, ..BOUNDS }), Search::Unfinished);
    assert_eq!(search(&root, Bounds { time: Duration::ZERO, ..BOUNDS }), Search::Unfinished);
    assert_eq!(search(&root, BOUNDS), Search::Clean);
}

#[test]
fn capabilities_count_as_well() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make such a file; CI runs as root.
        return;
    }
    let (_keep, root) = tree(&[("program", 0o755)]);
    // Version 2 of the kernel's form: one effective capability, to bind low ports.
    let mut capabilities = [0_u8; 20];
    capabilities[..8].copy_from_slice(&[1, 0, 0, 2, 0, 4, 0, 0]);
    rustix::fs::setxattr(root.join("program"), c"security.capability", &capabilities, rustix::fs::XattrFlags::empty())
        .unwrap();
    assert_eq!(search(&root, BOUNDS), Search::Found(root.join("program"), Right::Capabilities));
}
