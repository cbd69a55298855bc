//! A machine that denies user namespaces: no box, unless the caller accepts one of fences alone, which then holds.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A place that an ordinary user can use, with a copy of the program.
struct Ground {
    directory: tempfile::TempDir,
    kennel: PathBuf,
}

const USER: &str = "54323";

impl Ground {
    fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("fenced-").tempdir_in("/var/tmp").unwrap();
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let kennel = directory.path().join("kennel");
        std::fs::copy(env!("CARGO_BIN_EXE_kennel"), &kennel).unwrap();
        Self { directory, kennel }
    }

    /// Runs `kennel` as an ordinary user in a user namespace that allows no others below it.
    fn kennel(&self, arguments: &[&str]) -> Output {
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--clear-groups", "unshare"]);
            command
        } else {
            Command::new("unshare")
        };
        command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]).arg(&self.kennel).args(arguments);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.directory.path()).env("SECRET", "x");
        command.current_dir(self.directory.path()).output().unwrap()
    }

    fn fenced(&self, flags: &[&str], script: &str) -> Output {
        self.kennel(&[&["exec", "--accept-missing", "namespaces"], flags, &["--", "sh", "-c", script]].concat())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn without_namespaces_there_is_no_box() {
    let output = Ground::new().kennel(&["exec", "--", "touch", "ran"]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{message}");
    assert!(message.contains("making a user namespace"), "{message}");
    assert!(message.contains("kennel doctor") && message.contains("--accept-missing namespaces"), "{message}");
}

#[test]
fn an_accepted_fence_says_so_and_holds() {
    let ground = Ground::new();
    std::fs::write(ground.directory.path().join("private"), "secret").unwrap();
    let private = ground.directory.path().join("private");
    let script = format!(
        "cat {private} && echo READ; echo x >> {private} && echo WROTE; cat /etc/shadow && echo SHADOW; \
         ls /var/log && echo LISTED; kill -0 $PPID && echo SIGNALLED; unshare --user true && echo UNSHARED; \
         /usr/bin/python3 -c 'import socket; socket.socket()' && echo INTERNET; \
         /usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX)' && echo UNIX; \
         cat /proc/$PPID/environ && echo ENVIRONMENT; env | grep SECRET; \
         grep -q 'NoNewPrivs:.1' /proc/self/status && grep -q 'Seccomp:.2' /proc/self/status && echo fenced; \
         touch \"$HOME/x\" \"$TMPDIR/y\" && echo scratch; /usr/bin/python3 -c 'print(6 * 7)'",
        private = private.display()
    );
    let output = ground.fenced(&[], &script);
    assert_eq!(text(&output.stdout), "fenced\nscratch\n42\n", "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("going on without namespaces, as accepted"));
    assert_eq!(std::fs::read_to_string(private).unwrap(), "secret");
}

#[test]
fn grants_hold_in_a_fence() {
    let ground = Ground::new();
    for name in ["shown", "changed"] {
        let path = ground.directory.path().join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o777)).unwrap();
        std::fs::write(path.join("file"), name).unwrap();
    }
    let script = format!(
        "cd {}; cat shown/file; touch shown/new && echo BROKEN; touch changed/new && echo written",
        ground.directory.path().display()
    );
    let output = ground.fenced(&["--read", "shown", "--write", "changed"], &script);
    assert_eq!(text(&output.stdout), "shownwritten\n", "{}", text(&output.stderr));
    let moved = ground.fenced(&["--read", "shown:/elsewhere"], "true");
    assert_eq!(moved.status.code(), Some(125));
    assert!(text(&moved.stderr).contains("a path stays where it is"), "{}", text(&moved.stderr));
}

#[test]
fn limits_hold_in_a_fence() {
    let ground = Ground::new();
    let crowd = ground.fenced(&["--pids", "8"], "for n in $(seq 30); do sleep 5 & done; wait; exit 3");
    assert!(text(&crowd.stderr).contains("process limit reached"), "{}", text(&crowd.stderr));
    let eat = "/usr/bin/python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 20))'";
    let hungry = ground.fenced(&["--memory", "64M"], eat);
    assert!(text(&hungry.stderr).contains("out of memory"), "{}", text(&hungry.stderr));
}

#[test]
fn nothing_outlives_a_fence() {
    let ground = Ground::new();
    let output = ground.fenced(
        &[],
        "echo $HOME; (setsid sleep 27182.8 &) ; sleep 0.1; pgrep -f 'sleep 27182.8' >/dev/null && echo up",
    );
    let lines = text(&output.stdout);
    let mut lines = lines.lines();
    let scratch = PathBuf::from(lines.next().unwrap());
    assert_eq!(lines.next(), Some("up"), "{}", text(&output.stderr));
    let start = Instant::now();
    let running = || Command::new("pgrep").args(["-f", "^sleep 27182.8"]).output().unwrap().status.success();
    while running() || scratch.exists() {
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "left behind: process {}, directory {}",
            running(),
            scratch.exists()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}
