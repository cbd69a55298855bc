use super::*;
use std::os::unix::fs::symlink;

fn real(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().canonicalize().unwrap()
}

#[test]
fn a_way_has_every_directory_in_which_something_is_looked_up() {
    let directory = tempfile::tempdir().unwrap();
    let base = real(&directory);
    for name in ["a", "b", "c"] {
        std::fs::create_dir(base.join(name)).unwrap();
    }
    std::fs::write(base.join("c/file"), "").unwrap();
    symlink("../b/second", base.join("a/first")).unwrap();
    symlink(base.join("c/file"), base.join("b/second")).unwrap();
    let way = Way::follow(&base.join("a/first"));
    assert_eq!(way.end, base.join("c/file"));
    for name in ["a", "b", "c"] {
        assert!(way.directories.contains(&base.join(name)), "{name}: {way:?}");
    }
    assert!(way.directories.contains(&PathBuf::from("/")));
}

#[test]
fn a_way_to_nothing_ends_where_it_would_be_made() {
    let directory = tempfile::tempdir().unwrap();
    let base = real(&directory);
    symlink("nowhere/at/all", base.join("link")).unwrap();
    let way = Way::follow(&base.join("link/deeper"));
    assert_eq!(way.end, base.join("nowhere/at/all/deeper"));
    assert_eq!(way.directories.last(), Some(&base));
}

#[test]
fn symlinks_that_go_round_in_circles_have_an_end() {
    let directory = tempfile::tempdir().unwrap();
    let base = real(&directory);
    symlink("b", base.join("a")).unwrap();
    symlink("a", base.join("b")).unwrap();
    assert!(Way::follow(&base.join("a")).end.starts_with(&base));
}

#[test]
fn two_mounts_of_one_thing_are_one_place() {
    let table = b"20 1 8:1 / / rw - ext4 /dev/a rw\n\
        30 20 8:1 /home/ada /mnt/other rw shared:3 - ext4 /dev/a rw\n\
        31 20 8:2 / /home/ada/disk rw - ext4 /dev/b rw\n\
        32 20 8:2 /deep /srv/tab\\011here rw - ext4 /dev/b rw\n";
    let mounts = MountTable::parse(table);
    let at = |number: usize, path: &str| mounts.0[number].location(Path::new(path));
    assert_eq!(at(0, "/home/ada/x"), at(1, "/mnt/other/x"));
    assert!(at(0, "/home").holds(&at(1, "/mnt/other")), "a mount of a part lies in the whole");
    assert!(!at(1, "/mnt/other").holds(&at(0, "/home")));
    assert!(at(2, "/home/ada/disk").holds(&at(3, "/srv/tab\there/x")));
    assert!(!at(0, "/").holds(&at(2, "/home/ada/disk")), "another file system is another place");
}
