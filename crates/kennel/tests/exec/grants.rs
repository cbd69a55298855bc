//! What `--read` and `--write` give: exactly that, and nothing around it.

use crate::support::caller::{callers, make_file, myself, needs_root};
use crate::support::ground::{Ground, SYSTEM_PATH};
use crate::support::running::run;
use kennel_testkit::Caller;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn a_path_to_read_cannot_be_changed() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_file("work/file", "content\n", 0o666);
        let attempts = [
            "echo x > file",
            "echo x >> file",
            "touch new",
            "rm -f file",
            "mkdir new",
            "mv file other",
            "ln file other",
            "chmod 777 file",
            "touch -d 2001-01-01 file",
            "truncate -s 0 file",
        ];
        for attempt in attempts {
            let ran = ground.sh(&["--read", "."], &format!("cat file && {attempt}"));
            assert_ne!(ran.code, Some(0), "{caller:?}: `{attempt}` worked");
            assert_eq!(ran.out(), "content\n", "{caller:?} {attempt}");
        }
        assert_eq!(fs::read_to_string(ground.path("work/file")).unwrap(), "content\n");
        assert_eq!(fs::read_dir(ground.path("work")).unwrap().count(), 1);
    }
}

#[test]
fn a_path_to_write_can_be_changed() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_file("work/file", "content\n", 0o600);
        let script = "cat file && echo more >> file && mkdir new && echo x > new/file && mv file moved && \
                      ln -s moved link && ln moved hard && chmod 640 moved && rm new/file && rmdir new";
        assert_eq!(ground.sh(&["--write", "."], script).fine(), "content\n", "{caller:?}");
        assert_eq!(fs::read_to_string(ground.path("work/link")).unwrap(), "content\nmore\n");
        assert_eq!(fs::read_to_string(ground.path("work/hard")).unwrap(), "content\nmore\n");
    }
}

#[test]
fn only_the_path_itself_is_seen() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("work/granted");
        ground.make_file("work/secret", "secret", 0o644);
        let work = ground.text("work");
        let ran = ground.sh(&["--read", "granted"], &format!("ls {work}; cat {work}/secret {work}/granted/../secret"));
        assert_eq!(ran.out(), "granted\n", "{caller:?}");
        assert_ne!(ran.code, Some(0));
    }
}

#[test]
fn a_file_can_be_granted_alone() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let file = ground.make_file("work/file", "content\n", 0o600);
        ground.make_file("work/secret", "secret", 0o644);
        let (file, work) = (file.to_str().unwrap(), ground.text("work"));
        let ran = ground.sh(&["--read", "file"], &format!("cat {file}; ls {work}; echo x > {file}"));
        assert_eq!(ran.out(), "content\nfile\n", "{caller:?}");
        assert_eq!(ran.code, Some(2), "{caller:?}: it was written");
        ground.sh(&["--write", "file"], &format!("echo more >> {file}")).fine();
        assert_eq!(fs::read_to_string(file).unwrap(), "content\nmore\n", "{caller:?}");
    }
}

#[test]
fn a_writable_directory_can_lie_in_a_readable_one() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("work/out");
        for flags in [["--read", ".", "--write", "out"], ["--write", "out", "--read", "."]] {
            let ran = ground.sh(&flags, "echo x > out/file && echo written; echo x > file || echo refused");
            assert_eq!(ran.out(), "written\nrefused\n", "{caller:?} {flags:?}: {}", ran.err());
        }
    }
}

#[test]
fn a_readable_directory_can_lie_in_a_writable_one() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("work/kept");
        ground.make_file("work/kept/file", "kept\n", 0o666);
        let script = "echo x > file && echo written; echo x > kept/file || echo refused; \
                      mv kept moved || echo refused; rm -rf kept || echo refused";
        let ran = ground.sh(&["--write", ".", "--read", "kept"], script);
        assert_eq!(ran.out(), "written\nrefused\nrefused\nrefused\n", "{caller:?}: {}", ran.err());
        assert_eq!(fs::read_to_string(ground.path("work/kept/file")).unwrap(), "kept\n");
    }
}

#[test]
fn the_same_path_both_ways_can_be_written() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for flags in [["--read", ".", "--write", "."], ["--write", ".", "--read", "."]] {
            ground.sh(&flags, "echo x > file").fine();
        }
    }
}

#[test]
fn a_link_is_granted_as_what_it_leads_to() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("work/real");
        ground.make_file("work/real/file", "content\n", 0o644);
        symlink("real", ground.path("work/link")).unwrap();
        let real = ground.text("work/real");
        assert_eq!(run(ground.exec(&["--read", "link"], &["cat", &format!("{real}/file")])).fine(), "content\n");
        assert_eq!(run(ground.exec(&["--read", "link:/place"], &["cat", "/place/file"])).fine(), "content\n");
        assert_eq!(
            run(ground.exec(&["-v", "--read", "link"], &["true"])).err().lines().next(),
            Some(format!("kennel: read {real} at {real}").as_str())
        );
    }
}

#[test]
fn a_link_inside_a_granted_path_leads_nowhere_else() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("work/granted");
        ground.make_file("work/secret", "secret", 0o644);
        symlink(ground.path("work/secret"), ground.path("work/granted/link")).unwrap();
        symlink("/etc/shadow", ground.path("work/granted/shadow")).unwrap();
        let ran = ground.sh(&["--write", "granted"], &format!("cd {} && cat link shadow", ground.text("work/granted")));
        assert_eq!((ran.code, ran.out()), (Some(1), String::new()), "{caller:?}");
    }
}

#[test]
fn a_name_need_not_be_text() {
    let ground = Ground::new(myself());
    let directory = ground.path("work").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("file"), "content\n").unwrap();
    let mut command = ground.kennel(["exec", "--read"]);
    command.arg(&directory).args(["--", "cat"]).arg(directory.join("file"));
    assert_eq!(run(command).fine(), "content\n");
    let mut command = ground.exec(&["--read", "."], &["cat", "file"]);
    command.current_dir(&directory);
    assert_eq!(run(command).fine(), "content\n");
}

#[test]
fn spaces_quotes_and_line_breaks_in_names_are_no_problem() {
    let ground = Ground::new(myself());
    for name in ["with space", "with\nbreak", "qu'o\"te", "-dash", "back\\slash", "ünïcode", "\\040"] {
        ground.make_directory(&format!("work/{name}"));
        ground.make_file(&format!("work/{name}/file"), "content\n", 0o644);
        let path = ground.text(&format!("work/{name}"));
        assert_eq!(
            run(ground.exec(&["--read", &path], &["cat", &format!("{path}/file")])).fine(),
            "content\n",
            "{name}"
        );
    }
}

#[test]
fn a_path_with_a_set_user_id_program_is_not_granted_for_writing() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("work/tree");
        ground.make_directory("work/tree/deep");
        let tool = ground.make_file("work/tree/deep/tool", "#!/bin/sh\n", 0o755);
        let tree = ground.text("work/tree");
        ground.sh(&["--write", "tree"], &format!("echo >> {tree}/deep/tool")).fine();
        for mode in [0o4755, 0o2755] {
            fs::set_permissions(&tool, fs::Permissions::from_mode(mode)).unwrap();
            for grant in ["tree", "tree/deep", "tree/deep/tool"] {
                let ran = ground.sh(&["--write", grant], "true");
                assert_eq!((ran.code, ran.out().as_str()), (Some(125), ""), "{caller:?} {grant}: {}", ran.err());
                let cure = format!("chmod ug-s {}", tool.display());
                assert!(ran.err().contains(&cure), "{caller:?} {grant}: {}", ran.err());
            }
            // It may be read and run, where it gains nothing, and it may lie beside what is written.
            ground.make_directory("work/tree/beside");
            ground
                .sh(
                    &["--read", "tree", "--write", "tree/beside"],
                    &format!("{tree}/deep/tool && touch {tree}/beside/x"),
                )
                .fine();
        }
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        ground.sh(&["--write", "tree"], "true").fine();
    }
}

#[test]
fn a_set_user_id_program_that_the_box_cannot_write_is_in_nobodys_way() {
    if !needs_root("a set-user-id program of another user") {
        return;
    }
    let ground = Ground::new(Caller::User);
    make_file(Caller::Root, &ground.path("work/tool"), "#!/bin/sh\n", 0o4755);
    ground.sh(&["--write", "."], "test -u tool && touch file").fine();
}

#[test]
fn a_project_on_the_path_shows_only_its_programs() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for name in ["work/project", "work/project/bin", "work/project/src"] {
            ground.make_directory(name);
        }
        ground.make_file("work/project/bin/python3", "#!/bin/sh\necho mine\n", 0o755);
        ground.make_file("work/project/.env", "secret\n", 0o644);
        let project = ground.text("work/project");
        let mut command = ground.exec(&[], &["sh", "-c", &format!("python3; ls -a {project}; cat {project}/.env")]);
        command.env("PATH", format!("{project}/bin:{SYSTEM_PATH}")).current_dir("/");
        let ran = run(command);
        assert_eq!(ran.out(), "mine\n.\n..\nbin\n", "{caller:?}: {}", ran.err());
    }
}

#[test]
fn a_link_that_an_earlier_box_has_put_into_a_grant_is_not_followed() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for name in ["work/project", "work/project/docs", "work/private"] {
            ground.make_directory(name);
        }
        ground.make_file("work/private/diary", "private\n", 0o644);
        let (project, private) = (ground.text("work/project"), ground.text("work/private"));
        let flags = ["--write", "project", "--read", "project/docs"];
        ground.sh(&flags, "true").fine();
        let plant = format!("rmdir {project}/docs && ln -s {private} {project}/docs");
        ground.sh(&["--write", "project"], &plant).fine();
        let ran = ground.sh(&flags, &format!("cat {private}/diary {project}/docs/diary"));
        assert_eq!((ran.code, ran.out().as_str()), (Some(125), ""), "{caller:?}: {ran:?}");
        assert!(ran.err().contains("a box may have put it there"), "{caller:?}: {ran:?}");
    }
}
