//! Trees of one extreme shape each.

use crate::generator::{chain, sparse, wide};
use crate::scene::{Scene, block_on, generous};
use kennel_tree::{Bound, Bounds, Change, Kind, Place, TreeError, Trees};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// Deeper than any stack or table of descriptors.
const DEEP: usize = 50_000;

fn record(scene: &Scene, bounds: Bounds) -> Result<(), TreeError> {
    block_on(async { scene.open(bounds).await.record(Path::new("tree"), Path::new("files")).await.map(drop) })
}

#[track_caller]
fn exceeds<T: std::fmt::Debug>(outcome: &Result<T, TreeError>, expected: Bound) {
    assert!(matches!(outcome, Err(TreeError::Exceeded { bound, .. }) if *bound == expected), "{outcome:?}");
}

pub(crate) fn a_tree_of_any_depth_is_removed() {
    let scene = Scene::in_memory();
    let innermost = chain(&scene.tree().join("deep"), DEEP);
    let last = rustix::fs::openat(&innermost, "file", rustix::fs::OFlags::CREATE, rustix::fs::Mode::RUSR);
    drop((innermost, last.unwrap()));
    // What is moved up meets its own names.
    fs::create_dir_all(scene.tree().join(".kennel-1/x")).unwrap();
    scene.assert_removable();
}

pub(crate) fn a_tree_that_is_too_deep_is_not_listed() {
    let scene = Scene::in_memory();
    drop(chain(&scene.tree().join("deep"), 3000));
    exceeds(&record(&scene, generous()), Bound::Depth);
    let set = block_on(async { Trees::default().find_set_id(&scene.root, generous()).await });
    exceeds(&set, Bound::Depth);
    scene.assert_removable();
}

pub(crate) fn a_tree_that_is_too_wide_is_not_listed() {
    let scene = Scene::new();
    wide(&scene.tree().join("wide"), 20_000);
    exceeds(&record(&scene, Bounds { entries: 19_999, ..generous() }), Bound::Entries);
    let measured = block_on(async {
        let bounds = Bounds { entries: 5000, ..generous() };
        scene.open(bounds).await.measure(Path::new("tree")).await.map(drop)
    });
    exceeds(&measured, Bound::Entries);
    scene.assert_removable();
}

pub(crate) fn holes_count_as_bytes() {
    let scene = Scene::new();
    sparse(&scene.tree().join("holes"), 4 << 40);
    exceeds(&record(&scene, generous()), Bound::Bytes);
    // On the disk it takes nothing.
    let measured = block_on(async { scene.open(generous()).await.measure(Path::new("tree")).await.unwrap() });
    assert!(measured.bytes < 1 << 20, "{measured:?}");
    fs::remove_file(scene.tree().join("holes")).unwrap();
    sparse(&scene.tree().join("some"), 600);
    sparse(&scene.tree().join("more"), 600);
    exceeds(&record(&scene, Bounds { bytes: 1000, ..generous() }), Bound::Bytes);
    record(&scene, Bounds { bytes: 1200, ..generous() }).unwrap();
    scene.assert_removable();
}

pub(crate) fn long_names_are_bounded() {
    let scene = Scene::new();
    let long = "n".repeat(250);
    for number in 0..10 {
        fs::write(scene.tree().join(format!("{long}{number}")), "").unwrap();
    }
    exceeds(&record(&scene, Bounds { names: 2000, ..generous() }), Bound::Names);
    scene.assert_removable();
}

pub(crate) fn only_regular_files_are_read() {
    let scene = Scene::new();
    let fifo = scene.tree().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    symlink("fifo", scene.tree().join("link")).unwrap();
    fs::write(scene.tree().join("file"), "content").unwrap();
    fs::create_dir(scene.tree().join("directory")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.tree().join("socket")).unwrap();
    block_on(async {
        let mut session = scene.open(generous()).await;
        for name in ["fifo", "link", "directory", "socket"] {
            let outcome = session.read(&Path::new("tree").join(name), 100).await;
            assert!(outcome.is_err(), "{name}: {outcome:?}");
        }
        let place = session.resolve(Path::new("tree/link")).await.unwrap();
        assert!(matches!(place, Place::Inside { kind: Kind::Special, .. }), "{place:?}");
        assert_eq!(session.read(Path::new("tree/file"), 7).await.unwrap().unwrap(), b"content");
        assert!(session.read(Path::new("tree/file"), 6).await.is_err(), "it is larger");
        assert_eq!(session.read_start(Path::new("tree/file"), 6).await.unwrap().unwrap(), b"conten");
        assert!(session.read_start(Path::new("tree/fifo"), 6).await.is_err());
        assert_eq!(session.read(Path::new("tree/none"), 6).await.unwrap(), None);
    });
    scene.assert_removable();
}

pub(crate) fn links_are_followed_inside_and_never_out() {
    let scene = Scene::new();
    let tree = scene.tree();
    fs::create_dir_all(tree.join("inner/bin")).unwrap();
    fs::write(tree.join("inner/program"), "#!").unwrap();
    symlink("../program", tree.join("inner/bin/link")).unwrap();
    symlink("inner/bin", tree.join("bin")).unwrap();
    symlink("/other/name/of/it/tree/inner/program", tree.join("by-alias")).unwrap();
    symlink(scene.outside.join("secret"), tree.join("out")).unwrap();
    symlink("../../outside/secret", tree.join("out-relative")).unwrap();
    symlink(&scene.outside, tree.join("out-directory")).unwrap();
    symlink("/proc/self/root/etc/passwd", tree.join("magic")).unwrap();
    symlink("loop-b", tree.join("loop-a")).unwrap();
    symlink("loop-a", tree.join("loop-b")).unwrap();
    block_on(async {
        let alias = Path::new("/other/name/of/it");
        let mut session = Trees::default().open_known_as(&scene.root, Some(alias), generous()).await.unwrap();
        for inside in ["tree/bin/link", "tree/by-alias", "tree/bin/../program", "tree/./inner//program"] {
            let place = session.resolve(Path::new(inside)).await.unwrap();
            let Place::Inside { path, kind: Kind::File, .. } = place else { panic!("{inside}: {place:?}") };
            assert_eq!(path, Path::new("tree/inner/program"), "{inside}");
            assert_eq!(session.read(Path::new(inside), 9).await.unwrap().unwrap(), b"#!");
        }
        for (outside, expected) in [
            ("tree/out", scene.outside.join("secret")),
            ("tree/out-directory/secret", scene.outside.join("secret")),
            ("tree/out-relative", "../outside/secret".into()),
            ("tree/magic", "/proc/self/root/etc/passwd".into()),
            ("../outside/secret", "../outside/secret".into()),
            ("tree/inner/../../../outside/secret", "../outside/secret".into()),
        ] {
            let place = session.resolve(Path::new(outside)).await.unwrap();
            assert_eq!(place, Place::Outside { target: expected }, "{outside}");
            assert!(session.read(Path::new(outside), 100).await.is_err(), "{outside}");
            assert!(session.names(Path::new(outside), "").await.is_err(), "{outside}");
        }
        let looped = session.resolve(Path::new("tree/loop-a")).await.unwrap_err().to_string();
        assert!(looped.contains("too many links"), "{looped}");
        for absent in ["tree/inner/program/x", "tree/none", "tree/none/x"] {
            assert_eq!(session.resolve(Path::new(absent)).await.unwrap(), Place::Absent, "{absent}");
        }
        // Removing a link leaves what it leads to.
        session.remove(Path::new("tree/out-directory")).await.unwrap();
        // Nothing is removed by a path that leads through a link, or out.
        for path in ["tree/bin/link", "../outside", "tree/inner/..", "", "."] {
            assert!(session.remove(Path::new(path)).await.is_err(), "{path}");
        }
    });
    scene.assert_removable();
}

pub(crate) fn every_kind_of_change_is_found() {
    let scene = Scene::new();
    let path = |name: &str| scene.tree().join(name);
    fs::create_dir(path("inner")).unwrap();
    fs::write(path("inner/a b%\n"), "one").unwrap();
    fs::write(path("plain"), "two").unwrap();
    fs::write(path("mode"), "three").unwrap();
    symlink("plain", path("link")).unwrap();
    record(&scene, generous()).unwrap();
    let compare = || {
        block_on(async { scene.open(generous()).await.compare(Path::new("tree"), Path::new("files")).await.unwrap() })
    };
    assert_eq!(compare().changes, []);
    fs::write(path("plain"), "twO").unwrap();
    fs::remove_file(path("inner/a b%\n")).unwrap();
    fs::write(path("new"), "").unwrap();
    fs::set_permissions(path("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(path("link")).unwrap();
    symlink("/etc/passwd", path("link")).unwrap();
    let expected = [
        Change::Missing("inner/a%20b%25%0a".into()),
        Change::Changed("link".into()),
        Change::Changed("mode".into()),
        Change::Changed("plain".into()),
        Change::Added("new".into()),
    ];
    assert_eq!(compare().changes, expected);
}

pub(crate) fn a_file_is_replaced_and_no_link_followed() {
    let scene = Scene::new();
    fs::write(scene.tree().join("file"), "old").unwrap();
    symlink(scene.outside.join("secret"), scene.tree().join("link")).unwrap();
    symlink(&scene.outside, scene.tree().join("way")).unwrap();
    block_on(async {
        let mut session = scene.open(generous()).await;
        for name in ["tree/file", "tree/link"] {
            session.replace(Path::new(name), b"new").await.unwrap();
            assert_eq!(fs::read(scene.root.join(name)).unwrap(), b"new");
        }
        assert!(session.replace(Path::new("tree/way/secret"), b"new").await.is_err());
    });
    scene.assert_removable();
}

pub(crate) fn closed_directories_are_removed() {
    let scene = Scene::new();
    let deep = scene.tree().join("a/b/c/d");
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("file"), "").unwrap();
    let closed = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    closed(&deep, 0o000);
    closed(&scene.tree().join("a/b/c"), 0o555);
    closed(&scene.tree().join("a/b"), 0o000);
    closed(&scene.tree(), 0o000);
    scene.assert_removable();
}

pub(crate) fn what_cannot_be_removed_is_said() {
    if !rustix::process::geteuid().is_root() {
        return; // Only root can make anything immutable; this ran as root before.
    }
    let scene = Scene::new();
    fs::create_dir_all(scene.tree().join("a/b/c")).unwrap();
    let kept = scene.tree().join("a/b/immutable");
    fs::write(&kept, "").unwrap();
    wide(&scene.tree().join("a/b/c/wide"), 100);
    let change = |flag: &str, path: &Path| {
        assert!(Command::new("chattr").arg(flag).arg(path).status().unwrap().success());
    };
    change("+i", &kept);
    let error = scene.remove().unwrap_err();
    let TreeError::Stuck { count: 1, source, .. } = &error else { panic!("{error}") };
    assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied, "{error}");
    let left = Command::new("find").arg(scene.tree()).args(["-name", "immutable"]).output().unwrap().stdout;
    let left = Path::new(std::ffi::OsStr::from_bytes(left.trim_ascii_end())).to_path_buf();
    let all = Command::new("find").arg(scene.tree()).output().unwrap().stdout;
    assert_eq!(String::from_utf8(all).unwrap().lines().count(), 3, "all else is gone");
    change("-i", &left);
    scene.assert_removable();
}

pub(crate) fn files_that_run_as_their_owner_are_found() {
    let scene = Scene::new();
    for (name, mode) in [("user", 0o4755), ("group", 0o2755), ("none", 0o755)] {
        fs::create_dir_all(scene.tree().join("x")).unwrap();
        fs::write(scene.tree().join("x").join(name), "").unwrap();
        fs::set_permissions(scene.tree().join("x").join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    // On a directory the bit means something else.
    fs::set_permissions(scene.tree().join("x"), fs::Permissions::from_mode(0o2755)).unwrap();
    symlink("/usr/bin/su", scene.tree().join("link")).unwrap();
    let mut found = block_on(Trees::default().find_set_id(&scene.root, generous())).unwrap();
    found.files.sort();
    assert_eq!(found.files, [Path::new("tree/x/group"), Path::new("tree/x/user")]);
    assert!(found.complete);
}
