//! Shells, compilers and what else comes with a system or a toolchain.

use crate::support::caller::{callers, myself};
use crate::support::ground::Ground;
use crate::support::running::run;
use crate::{as_at_home, on_path};

#[test]
fn shells_and_tools_of_the_system_run() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let bash = "declare -A map=([a]=1); echo ${map[a]}$(echo sub) <(true); diff <(echo 1) <(echo 1) && echo same";
        let out = run(ground.exec(&[], &["bash", "-c", bash])).fine();
        assert!(out.starts_with("1sub /dev/fd/") && out.ends_with("same\n"), "{caller:?}: {out}");
        assert_eq!(run(ground.exec(&[], &["perl", "-MPOSIX", "-e", "print floor(6.5) * 7, qq{\\n}"])).fine(), "42\n");
        assert!(run(ground.exec(&[], &["git", "--version"])).fine().starts_with("git version "), "{caller:?}");
        let pipeline = "seq 1000 | sort -rn | head -1 | tr 0 x && find /usr/bin -name env && date +%Y | grep -c 20";
        assert_eq!(ground.sh(&[], pipeline).fine(), "1xxx\n/usr/bin/env\n1\n", "{caller:?}");
    }
}

#[test]
fn git_works_in_a_granted_directory() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let script = "git init -q . && echo x > file && git add file && \
                      git -c user.name=k -c user.email=k@example.org commit -qm first && git log --format=%s";
        assert_eq!(ground.sh(&["--write", "."], script).fine(), "first\n", "{caller:?}");
    }
}

#[test]
fn a_program_is_compiled_into_a_granted_directory_and_run() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_file("work/hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n", 0o644);
        let ran = ground.sh(&["--write", "."], "gcc -O1 -o hello hello.c && ./hello");
        assert_eq!(ran.fine(), "hello\n", "{caller:?}");
        assert_eq!(run(ground.exec(&["--read", "."], &["./hello"])).fine(), "hello\n", "{caller:?}");
    }
}

#[test]
fn the_proxies_of_rustup_run() {
    let Some(cargo) = on_path("cargo") else { panic!("no cargo on PATH: how was this test compiled?") };
    let ground = Ground::new(myself());
    for tool in ["cargo", "rustc"] {
        let out = run(as_at_home(&ground, &[], &[tool, "--version"])).fine();
        assert!(out.starts_with(&format!("{tool} 1.")), "{}: {out}", cargo.display());
    }
    ground.make_file("work/hello.rs", "fn main() { println!(\"hello\"); }\n", 0o644);
    let command = ["sh", "-c", "rustc -o hello hello.rs && ./hello"];
    assert_eq!(run(as_at_home(&ground, &["--write", "."], &command)).fine(), "hello\n");
}

#[test]
fn keys_beside_a_toolchain_are_not_shown() {
    let ground = Ground::new(myself());
    let cargo = ground.make_directory("home/.cargo/bin");
    ground.make_file("home/.cargo/bin/tool", "#!/bin/sh\necho a tool\n", 0o755);
    ground.make_file("home/.cargo/credentials.toml", "token", 0o644);
    let home = ground.text("home");
    let mut command = ground.exec(&[], &["sh", "-c", &format!("tool; ls -A {home} {home}/.cargo")]);
    command.env("PATH", format!("{}:/usr/bin:/bin", cargo.display()));
    let ran = run(command);
    assert_eq!(ran.fine(), format!("a tool\n{home}:\n.cargo\n\n{home}/.cargo:\nbin\n"));
}
