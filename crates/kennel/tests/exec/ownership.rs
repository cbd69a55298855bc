//! To whom files belong: outside to the owner of the granted directory, inside to the box's user.

use crate::support::caller::{callers, myself, needs_root, user_id};
use crate::support::ground::Ground;
use crate::support::running::run;
use kennel_testkit::Caller;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

#[test]
fn the_user_of_a_box_is_an_ordinary_one() {
    for caller in callers() {
        let ran = Ground::new(caller).sh(&[], "id -u; id -g; id -un; id -G; echo ~; whoami; hostname");
        assert_eq!(ran.fine(), "1000\n1000\nkennel\n1000\n/home/kennel\nkennel\nkennel\n", "{caller:?}");
    }
}

#[test]
fn new_files_belong_to_the_owner_of_the_directory() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let owner = fs::metadata(ground.path("work")).unwrap().uid();
        let script =
            "echo x > file && mkdir deep && echo x > deep/file && ln -s file link && stat -c '%U:%G' file deep/file .";
        assert_eq!(ground.sh(&["--write", "."], script).fine(), "kennel:kennel\n".repeat(3), "{caller:?}");
        for name in ["work/file", "work/deep", "work/deep/file", "work/link"] {
            let made = fs::symlink_metadata(ground.path(name)).unwrap();
            assert_eq!((made.uid(), made.gid()), (owner, fs::metadata(ground.path("work")).unwrap().gid()), "{name}");
        }
    }
}

#[test]
fn root_can_grant_what_belongs_to_somebody_else() {
    if !needs_root("directories of other users") {
        return;
    }
    let ground = Ground::new(myself());
    let work = ground.path("work");
    chown(&work, Some(4711), Some(4712)).unwrap();
    fs::set_permissions(&work, fs::Permissions::from_mode(0o700)).unwrap();
    ground.sh(&["--write", "."], "echo x > file && chmod 600 file").fine();
    let made = fs::metadata(ground.path("work/file")).unwrap();
    assert_eq!((made.uid(), made.gid(), made.mode() & 0o777), (4711, 4712, 0o600));
    assert_eq!(ground.sh(&["--read", "."], "cat file").fine(), "x\n");
}

#[test]
fn the_owner_of_the_directory_decides_not_its_neighbours() {
    if !needs_root("directories of other users") {
        return;
    }
    let ground = Ground::new(myself());
    ground.make_directory("work/one");
    ground.make_directory("work/two");
    chown(ground.path("work/one"), Some(4711), Some(4711)).unwrap();
    chown(ground.path("work/two"), Some(4712), Some(4712)).unwrap();
    // A file in it that belongs to another user stays that user's.
    ground.make_file("work/one/of_root", "secret", 0o600);
    let script = "echo x > one/file; echo x > two/file; cat one/of_root; echo x >> one/of_root; chmod 666 one/of_root";
    let ran =
        ground.sh(&["--write", "one", "--write", "two"], &format!("cd {} && {{ {script}; }}", ground.text("work")));
    assert_eq!((ran.code, ran.out()), (Some(1), String::new()), "{}", ran.err());
    assert_eq!(fs::metadata(ground.path("work/one/file")).unwrap().uid(), 4711);
    assert_eq!(fs::metadata(ground.path("work/two/file")).unwrap().uid(), 4712);
    let kept = fs::metadata(ground.path("work/one/of_root")).unwrap();
    assert_eq!((kept.uid(), kept.mode() & 0o777, kept.len()), (0, 0o600, 6));
}

#[test]
fn no_set_user_id_file_of_root_comes_of_a_box() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let script = "cp /usr/bin/id id && chmod 6755 id; chown 0:0 id && echo chowned; ./id -u; stat -c %u id";
        let ran = ground.sh(&["--write", "."], script);
        assert_eq!(ran.out(), "1000\n1000\n", "{caller:?}");
        if caller == Caller::User {
            assert_eq!(fs::metadata(ground.path("work/id")).unwrap().uid(), user_id());
        }
    }
}

#[test]
fn an_ordinary_user_cannot_grant_what_they_cannot_read() {
    if !needs_root("files of other users") {
        return;
    }
    let ground = Ground::new(Caller::User);
    let secret = ground.make_directory("work/secret");
    ground.make_file("work/secret/file", "secret", 0o644);
    chown(&secret, Some(0), Some(0)).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o700)).unwrap();
    let ran = run(ground.exec(&["--read", "secret"], &["cat", &format!("{}/file", secret.display())]));
    assert_eq!((ran.code, ran.out()), (Some(1), String::new()), "{}", ran.err());
    run(ground.exec(&["--read", "secret/file"], &["true"])).refused(
        125,
        &format!("kennel: `{}/file` cannot be granted to a box: Permission denied (os error 13)\n", secret.display()),
    );
}
