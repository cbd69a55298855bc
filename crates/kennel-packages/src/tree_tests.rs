use super::*;
use std::os::unix::fs::symlink;

fn tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir(tree.path().join("inner")).unwrap();
    fs::write(tree.path().join("inner/a b%\n"), "one").unwrap();
    fs::write(tree.path().join("plain"), "two").unwrap();
    symlink("plain", tree.path().join("link")).unwrap();
    tree
}

#[test]
fn every_kind_of_change_is_found() {
    let tree = tree();
    let path = |name: &str| tree.path().join(name);
    let before = list(tree.path()).unwrap();
    assert_eq!(from_text(&to_text(&before)), before, "names with spaces and line ends survive");
    assert_eq!(compare(&before, &list(tree.path()).unwrap()), []);

    fs::write(path("plain"), "twO").unwrap();
    fs::remove_file(path("inner/a b%\n")).unwrap();
    fs::write(path("new"), "").unwrap();
    let changes = compare(&before, &list(tree.path()).unwrap());
    assert_eq!(
        changes,
        [Change::Missing("inner/a%20b%25%0a".into()), Change::Changed("plain".into()), Change::Added("new".into())]
    );
}

#[test]
fn modes_and_links_count() {
    let tree = tree();
    let before = list(tree.path()).unwrap();
    fs::set_permissions(tree.path().join("plain"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(tree.path().join("link")).unwrap();
    symlink("/etc/passwd", tree.path().join("link")).unwrap();
    let changes = compare(&before, &list(tree.path()).unwrap());
    assert_eq!(changes, [Change::Changed("link".into()), Change::Changed("plain".into())]);
}

#[test]
fn nothing_is_read_through_a_link_out_of_the_install() {
    let (tree, outside) = (tree(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("secret"), "x").unwrap();
    symlink(outside.path(), tree.path().join("way")).unwrap();
    symlink(outside.path().join("secret"), tree.path().join("file")).unwrap();
    for path in ["way/secret", "file", "../x", "inner"] {
        assert!(read_inside(tree.path(), Path::new(path), 100).is_err(), "{path}");
    }
    assert_eq!(read_inside(tree.path(), Path::new("link"), 100).unwrap(), b"two");
    assert!(read_inside(tree.path(), Path::new("plain"), 2).is_err(), "too large");
}
