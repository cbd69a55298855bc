//! Where a command starts, and which places in the box are its own.

use crate::support::caller::{callers, myself, needs_root};
use crate::support::ground::Ground;
use crate::support::running::run;

#[test]
fn the_callers_directory_is_kept_where_the_box_sees_it() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let work = ground.text("work");
        ground.make_directory("work/deep");
        assert_eq!(run(ground.exec(&["--read", "."], &["pwd"])).fine(), format!("{work}\n"));
        assert_eq!(run(ground.exec(&["--write", &work], &["pwd"])).fine(), format!("{work}\n"));
        let mut deep = ground.exec(&["--read", &work], &["pwd"]);
        deep.current_dir(ground.path("work/deep"));
        assert_eq!(run(deep).fine(), format!("{work}/deep\n"));
        let mut system = ground.exec(&[], &["pwd"]);
        system.current_dir("/usr/share");
        assert_eq!(run(system).fine(), "/usr/share\n");
    }
}

#[test]
fn otherwise_a_command_starts_at_home() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("work/other");
        for flags in [&[][..], &["--read", "other"], &["--read", ".:/elsewhere"]] {
            assert_eq!(run(ground.exec(flags, &["pwd"])).fine(), "/home/kennel\n", "{caller:?} {flags:?}");
        }
        let mut temporary = ground.exec(&[], &["pwd"]);
        temporary.current_dir("/tmp");
        assert_eq!(run(temporary).fine(), "/home/kennel\n", "the box's /tmp is another than the caller's");
    }
}

#[test]
fn a_directory_that_only_looks_like_one_of_the_box_is_not_kept() {
    let ground = Ground::under(myself(), std::path::Path::new("/tmp"));
    // The caller is somewhere in /tmp, and the box's /tmp is something else.
    assert_eq!(run(ground.exec(&["--read", ".:/tmp"], &["pwd"])).fine(), "/home/kennel\n");
    if !needs_root("another /home") {
        return;
    }
    // Somebody may be called kennel, and have that home directory outside as well.
    let mut shell = ground.command(["unshare"]);
    let script = format!(
        "mount -t tmpfs none /home && mkdir -p /home/kennel/project && cd /home/kennel/project && exec {} exec -- pwd",
        ground.kennel_program().display()
    );
    shell.args(["--mount", "sh", "-c", &script]);
    assert_eq!(run(shell).fine(), "/home/kennel\n");
}

#[test]
fn the_directory_can_be_chosen() {
    let ground = Ground::new(myself());
    ground.make_directory("work/deep");
    let work = ground.text("work");
    for (flags, place) in [
        (&["--cwd", "/tmp"][..], "/tmp".to_owned()),
        (&["--cwd", "/"], "/".to_owned()),
        (&["--cwd", "/usr/bin"], "/usr/bin".to_owned()),
        (&["--read", ".", "--cwd", "deep"], format!("{work}/deep")),
        (&["--read", ".", "--cwd", "deep/.."], work.clone()),
        (&["--read", ".:/elsewhere", "--cwd", "/elsewhere/deep"], "/elsewhere/deep".to_owned()),
    ] {
        assert_eq!(run(ground.exec(flags, &["pwd"])).fine(), format!("{place}\n"), "{flags:?}");
    }
}

#[test]
fn a_directory_that_is_not_in_the_box_is_an_error_with_the_fix() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let work = ground.text("work");
        run(ground.exec(&["--cwd", "/nowhere"], &["pwd"])).refused(
            125,
            "kennel: box spec: `workdir` is `/nowhere`, which is neither outside nor in the box; grant it with --read or \
             --write\n",
        );
        run(ground.exec(&["--read", ".", "--cwd", "missing"], &["pwd"])).refused(
            125,
            &format!(
                "kennel: the program could not be started while entering the working directory `{work}/missing`: \
                 No such file or directory (os error 2)\n  hint: not in the box; grant it with --read or --write\n"
            ),
        );
    }
}

#[test]
fn a_path_can_have_another_place() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let file = ground.make_file("work/file", "content\n", 0o644);
        let file = file.to_str().unwrap();
        let work = ground.text("work");
        for (grant, seen) in [
            (format!("{work}:/data"), "/data/file"),
            (format!("{work}:/deep/in/the/box"), "/deep/in/the/box/file"),
            (format!("{work}:/tmp"), "/tmp/file"),
            (format!("{work}:/tmp/below"), "/tmp/below/file"),
            (format!("{work}:/home/kennel"), "/home/kennel/file"),
            (format!("{work}:/home/kennel/below"), "/home/kennel/below/file"),
            (format!("{work}:/workspace"), "/workspace/file"),
            (".:/relative".to_owned(), "/relative/file"),
            ("file:/one/file".to_owned(), "/one/file"),
            (format!("{file}:/other/name"), "/other/name"),
        ] {
            assert_eq!(run(ground.exec(&["--read", &grant], &["cat", seen])).fine(), "content\n", "{caller:?} {grant}");
            assert_eq!(
                run(ground.exec(&["--write", &grant], &["cat", seen])).fine(),
                "content\n",
                "{caller:?} {grant}"
            );
        }
    }
}

#[test]
fn places_that_belong_to_the_box_are_refused() {
    let ground = Ground::new(myself());
    for place in ["/", "/proc", "/proc/1", "/dev/shm", "/etc", "/etc/passwd", "/sys/fs", "/home", "/a/../etc", "/../x"]
    {
        run(ground.exec(&["--read", &format!(".:{place}")], &["true"])).refused(
            125,
            &format!(
                "kennel: box spec: `mount_path` is `{place}`, but must be absolute, without `..`, and outside of \
                 /proc, /dev, /etc and /sys\n"
            ),
        );
    }
}

#[test]
fn a_place_in_the_base_system_is_refused_with_a_reason() {
    let ground = Ground::new(myself());
    for place in ["/usr/inside", "/bin/inside", "/lib/inside"] {
        let ran = run(ground.exec(&["--read", &format!(".:{place}")], &["true"]));
        assert_eq!(ran.code, Some(125), "{place}");
        assert!(ran.err().contains(&format!("`{place}`")), "{}", ran.err());
        // "No such file" or "too many links" would send the reader to look for a wrong thing.
        assert!(ran.err().contains("base system"), "{place} is refused without the reason: {}", ran.err());
    }
}

#[test]
fn two_paths_at_one_place_are_refused() {
    let ground = Ground::new(myself());
    ground.make_directory("work/a");
    ground.make_directory("work/b");
    let work = ground.text("work");
    run(ground.exec(&["--read", "a:/x", "--read", "b:/x"], &["true"])).refused(
        125,
        &format!("kennel: `{work}/b` cannot be granted to a box: `{work}/a` is already at `/x` in the box\n"),
    );
}

#[test]
fn a_colon_in_a_name_is_part_of_it() {
    let ground = Ground::new(myself());
    ground.make_directory("work/a:");
    ground.make_file("work/a:/b", "content\n", 0o644);
    let path = ground.text("work/a:/b");
    assert_eq!(run(ground.exec(&["--read", "a:/b"], &["cat", &path])).fine(), "content\n");
}

#[test]
fn the_temporary_directory_of_the_box_stays_private() {
    for caller in callers() {
        let ground = Ground::under(caller, std::path::Path::new("/tmp"));
        let name = ground.path("").file_name().unwrap().to_str().unwrap().to_owned();
        let work = ground.text("work");
        ground.make_file("beside", "hidden", 0o644);
        let script = format!("ls -A /tmp; ls -A /tmp/{name}; echo new > /tmp/{name}-new; echo new > {work}/new");
        let ran = ground.sh(&["--write", "."], &script);
        assert_eq!(ran.fine(), format!("{name}\nwork\n"), "{caller:?}: nothing else of /tmp is seen");
        assert!(!std::path::Path::new(&format!("/tmp/{name}-new")).exists(), "{caller:?}: /tmp is the host's");
        assert_eq!(std::fs::read_to_string(ground.path("work/new")).unwrap(), "new\n");
    }
}

#[test]
fn paths_in_the_other_temporary_directory_can_be_granted() {
    for caller in callers() {
        let ground = Ground::under(caller, std::path::Path::new("/var/tmp"));
        let file = ground.make_file("work/file", "content\n", 0o644);
        let ran = run(ground.exec(&["--read", "."], &["cat", file.to_str().unwrap()]));
        assert_eq!(ran.fine(), "content\n", "{caller:?}");
        assert_eq!(run(ground.exec(&["--read", "."], &["pwd"])).fine(), format!("{}\n", ground.text("work")));
    }
}

#[test]
fn the_homes_and_temporary_directories_of_a_box_can_be_written() {
    for caller in callers() {
        let script = "for place in $HOME /tmp /var/tmp /dev/shm; do echo x > $place/file && cat $place/file; done";
        assert_eq!(Ground::new(caller).sh(&[], script).fine(), "x\nx\nx\nx\n");
    }
}
