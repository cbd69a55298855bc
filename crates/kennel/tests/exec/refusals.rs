//! What Kennel refuses, in exact words: what, where, and what to do instead.

use crate::support::caller::{callers, myself};
use crate::support::ground::Ground;
use crate::support::running::run;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

/// Expects that a path is refused in these words.
#[track_caller]
fn refused(ground: &Ground, flag: &str, path: &str, problem: &str) {
    let words = format!("kennel: `{path}` cannot be granted to a box: {problem}\n");
    run(ground.exec(&[flag, path], &["true"])).refused(125, &words);
}

#[test]
fn the_system_and_its_secrets_are_never_granted() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for flag in ["--read", "--write"] {
            for path in ["/", "/home", "/var"] {
                refused(&ground, flag, path, &format!("`{path}` is too wide; grant the directory that is needed"));
            }
            for (path, tree) in [
                ("/etc/shadow", "/etc"),
                ("/etc", "/etc"),
                ("/proc", "/proc"),
                ("/sys/kernel", "/sys"),
                ("/dev/shm", "/dev"),
                ("/run", "/run"),
            ] {
                refused(&ground, flag, path, &format!("nothing under `{tree}` is ever granted"));
            }
        }
        refused(
            &ground,
            "--write",
            "/usr/local",
            "the base system is never writable in a box; grant it with --read or not at all",
        );
        run(ground.exec(&["--read", "/usr/share"], &["true"])).fine();
    }
}

#[test]
fn devices_sockets_and_pipes_are_never_granted() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let _listener = UnixListener::bind(ground.path("work/socket")).unwrap();
        let pipe = ground.path("work/pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [ground.text("work/socket"), pipe.to_str().unwrap().to_owned(), "/dev/null".to_owned()] {
            let problem = "only directories and regular files can be granted, no sockets, pipes or devices";
            refused(&ground, "--read", &path, problem);
        }
    }
}

#[test]
fn the_home_directory_and_the_keys_in_it_are_never_granted() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let home = ground.text("home");
        for name in [".ssh", ".aws", ".gnupg", ".config", ".config/gcloud", "project"] {
            ground.make_directory(&format!("home/{name}"));
        }
        ground.make_file("home/.ssh/id_ed25519", "key", 0o600);
        ground.make_file("home/.netrc", "password", 0o600);
        refused(&ground, "--read", &home, &format!("`{home}` is too wide; grant the directory that is needed"));
        for (path, tree) in [
            (".ssh", ".ssh"),
            (".ssh/id_ed25519", ".ssh"),
            (".aws", ".aws"),
            (".gnupg", ".gnupg"),
            (".netrc", ".netrc"),
            (".config/gcloud", ".config/gcloud"),
        ] {
            let problem = format!("nothing under `{home}/{tree}` is ever granted");
            refused(&ground, "--read", &format!("{home}/{path}"), &problem);
            refused(&ground, "--write", &format!("{home}/{path}"), &problem);
        }
        refused(
            &ground,
            "--read",
            &format!("{home}/.config"),
            &format!("it holds `{home}/.config/gcloud`, which is never granted; grant what is needed beside it"),
        );
        run(ground.exec(&["--write", &format!("{home}/project")], &["true"])).fine();
    }
}

#[test]
fn what_holds_the_home_directory_is_not_granted_either() {
    let ground = Ground::new(myself());
    let home = ground.text("home");
    let ran = run(ground.exec(&["--read", &ground.text("")], &["ls", &home]));
    assert_eq!(ran.code, Some(125), "the parent of the home directory shows all of it: {}", ran.out());
}

#[test]
fn links_do_not_lead_around_the_rules() {
    for caller in callers() {
        let ground = Ground::new(caller);
        symlink("/etc", ground.path("work/innocent")).unwrap();
        symlink("/proc/self/root", ground.path("work/root")).unwrap();
        symlink("innocent", ground.path("work/again")).unwrap();
        let path = |name: &str| ground.text(&format!("work/{name}"));
        refused(&ground, "--read", &path("innocent"), "nothing under `/etc` is ever granted");
        refused(&ground, "--read", &path("innocent/shadow"), "nothing under `/etc` is ever granted");
        refused(&ground, "--read", &path("again"), "nothing under `/etc` is ever granted");
        refused(&ground, "--read", &path("root"), "`/` is too wide; grant the directory that is needed");
        refused(&ground, "--read", &path("root/etc"), "nothing under `/etc` is ever granted");
        refused(&ground, "--read", &path("../../../../../../../etc"), "nothing under `/etc` is ever granted");
    }
}

#[test]
fn a_missing_path_is_named() {
    let ground = Ground::new(myself());
    let missing = ground.text("work/missing");
    refused(&ground, "--read", &missing, "No such file or directory (os error 2)");
    let ran = run(ground.exec(&["--write", "missing"], &["true"]));
    ran.refused(
        125,
        &format!("kennel: `{missing}` cannot be granted to a box: No such file or directory (os error 2)\n"),
    );
}

#[test]
fn a_profile_locks_its_fields() {
    let ground = Ground::new(myself());
    for (flags, field) in [(&["--write", "."][..], "mounts.mode"), (&["--network", "on"], "network")] {
        let flags = [&["--profile", "offline_readonly"], flags].concat();
        run(ground.exec(&flags, &["true"])).refused(
            125,
            &format!(
                "kennel: box spec: `{field}` is locked by profile `offline_readonly`; remove the field or choose another profile\n"
            ),
        );
    }
    // A whole processor, because not everybody who runs the tests has a cgroup for half of one.
    let allowed = ["--profile", "offline_readonly", "--read", ".", "--network", "off", "--cpus", "1"];
    run(ground.exec(&allowed, &["true"])).fine();
}

#[test]
fn values_out_of_bounds_are_named_with_the_bounds() {
    let ground = Ground::new(myself());
    for (flags, words) in [
        (["--memory", "1M"], "`memory` is 1M, but a box needs at least 32M"),
        (["--pids", "0"], "`pids` is 0, but must be between 1 and 4194304"),
        (["--cpus", "0"], "`cpus` is 0, but must be between 0.01 and 1024"),
        (["--cpus", "NaN"], "`cpus` is NaN, but must be between 0.01 and 1024"),
        (["--tmp-size", "1K"], "`tmp_size` is 1K, but must be at least 4K"),
        (["--timeout", "0"], "`timeout` is 0, but must be more than 0 seconds"),
        (["--timeout", "-1"], "`timeout` is -1, but must be more than 0 seconds"),
        (["--timeout", "inf"], "`timeout` is inf, but must be more than 0 seconds"),
    ] {
        let flag = format!("{}={}", flags[0], flags[1]);
        run(ground.exec(&[&flag], &["true"])).refused(125, &format!("kennel: box spec: {words}\n"));
    }
    let ran = run(ground.exec(&["--memory", "much"], &["true"]));
    assert_eq!(ran.code, Some(2));
    let words = "invalid value 'much' for '--memory <SIZE>': `much` is not a size; write a number with K, M, G or T, such as 512M";
    assert!(ran.err().contains(words), "{}", ran.err());
}

#[test]
fn without_a_box_kennel_says_so() {
    let ran = run(Ground::new(myself()).exec(&["--engine", "host"], &["echo", "unconfined"]));
    assert_eq!((ran.code, ran.out().as_str()), (Some(0), "unconfined\n"));
    assert_eq!(ran.err(), "kennel: --engine host: no box; the command can do all that you can do\n");
}
