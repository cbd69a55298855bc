//! Boxes on a kernel that has only cgroup v2, which this machine may not have: Debian's, in QEMU. One boot for all.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// What a role does in its session, beside the shell that runs it: every line of output is a JSON object.
const SESSION: &str = r#"
say() { # NAME COMMAND...: runs a command and says how it ended
    name=$1; shift
    "$@" > out 2> err
    code=$?
    out=$(tr '\n"\\' '| /' < out); err=$(tr '\n"\\' '| /' < err)
    echo "{\"role\": \"$ROLE\", \"name\": \"$name\", \"code\": $code, \"out\": \"$out\", \"err\": \"$err\"}"
}
say plain kennel exec -- id -u
say walls kennel exec --verbose -- true
say memory_bomb kennel exec --memory 64M -- dd if=/dev/zero of=/dev/null bs=200M count=1
say memory_within kennel exec --memory 64M -- dd if=/dev/zero of=/dev/null bs=20M count=1
say fork_bomb kennel exec --pids 8 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; wait; exit 3'
say half_a_processor kennel exec --cpus 0.5 -- true
kennel doctor --json > doctor
echo "{\"role\": \"$ROLE\", \"name\": \"findings\", \"findings\": $(tr -d '\n' < doctor)}"
rm out err doctor
"#;

/// What the guest does. The look for remains is from outside of the sessions, when the helpers have cleaned up.
const SCRIPT: &str = r#"
for ROLE in root delegated-user user; do
    export ROLE
    run-as $ROLE sh -c "$SESSION"
    sleep 0.5
    left=$(find /sys/fs/cgroup -type d -name 'kennel-*' | tr '\n' ' ')
    types=$(cat /sys/fs/cgroup/session/cgroup.type /sys/fs/cgroup/user/session/cgroup.type 2> /dev/null | tr '\n' ' ')
    echo "{\"role\": \"$ROLE\", \"name\": \"left\", \"out\": \"$left\", \"types\": \"$types\"}"
done
# A crash starts the program that is to get the core, but not for a box; the machine is the guest's own.
printf '#!/bin/sh\necho "$@" >> /tmp/cores\ncat > /dev/null\n' > /tmp/take-core
chmod 755 /tmp/take-core
echo '|/tmp/take-core %e %c' > /proc/sys/kernel/core_pattern
for ROLE in root user; do
    for place in host native; do
        rm -f /tmp/cores
        run-as $ROLE kennel exec --engine $place -- sh -c 'ulimit -c 0; kill -SEGV $$' > /tmp/out 2>&1
        code=$?
        sleep 1
        echo "{\"role\": \"$ROLE\", \"name\": \"crash-$place\", \"code\": $code, \"out\": \"$(cat /tmp/cores 2> /dev/null | tr '\n"' '| ')\"}"
    done
done
echo core > /proc/sys/kernel/core_pattern
# The clock jumps a day ahead, and back again: deadlines are no matter of the clock on the wall.
kennel exec --timeout 60 -- sleep 3 > /tmp/out 2>&1 & waited=$!
sleep 1; date -s "@$(($(date +%s) + 86400))" > /dev/null; wait $waited
echo "{\"role\": \"root\", \"name\": \"ahead\", \"code\": $?, \"out\": \"$(tr '\n"' '| ' < /tmp/out)\"}"
kennel exec --timeout 3 -- sleep 600 > /tmp/out 2>&1 & waited=$!
sleep 1; date -s "@$(($(date +%s) - 86400))" > /dev/null; wait $waited
echo "{\"role\": \"root\", \"name\": \"back\", \"code\": $?, \"out\": \"$(tr '\n"' '| ' < /tmp/out)\"}"
# Alone in its cgroup, without a shell beside it.
run-as delegated-user kennel exec --verbose -- true 2> /tmp/err
echo "{\"role\": \"delegated-user\", \"name\": \"alone\", \"code\": $?, \"err\": \"$(tr '\n"' '| ' < /tmp/err)\"}"
"#;

/// What the guest said; booted once for all tests.
fn said() -> &'static [Value] {
    static SAID: OnceLock<Result<Vec<Value>, String>> = OnceLock::new();
    let said = SAID.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/with-cgroup-v2");
        let output = Command::new(&script)
            .args(["--timeout", "180", "--file", concat!(env!("CARGO_BIN_EXE_kennel"), ":/usr/bin/kennel")])
            .args(["--env", &format!("SESSION={SESSION}"), "--", "sh", "-c", SCRIPT])
            .output()
            .map_err(|error| format!("{}: {error}", script.display()))?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            return Err(format!("the guest did not run; run scripts/test, which installs what it needs: {out} {err}"));
        }
        let parse = |line: &str| serde_json::from_str(line).map_err(|error| format!("{error} in {line}; {err}"));
        out.lines().filter(|line| !line.is_empty()).map(parse).collect()
    });
    match said {
        Ok(said) => said,
        Err(problem) => panic!("{problem}"),
    }
}

const ROLES: [&str; 3] = ["root", "delegated-user", "user"];
/// Those whose boxes are limited by cgroups.
const LIMITED: [&str; 2] = ["root", "delegated-user"];

#[track_caller]
fn find(role: &str, name: &str) -> &'static Value {
    let found = said().iter().find(|line| line["role"] == role && line["name"] == name);
    found.unwrap_or_else(|| panic!("the guest said nothing of {name} as {role}: {:#?}", said()))
}

#[track_caller]
fn text(role: &str, name: &str, field: &str) -> String {
    find(role, name)[field].as_str().unwrap().to_owned()
}

#[test]
fn boxes_can_be_made_by_everyone() {
    for role in ROLES {
        let plain = find(role, "plain");
        assert_eq!((&plain["code"], &plain["out"], &plain["err"]), (&0.into(), &"1000|".into(), &"".into()), "{role}");
    }
}

#[test]
fn the_limits_are_held_by_cgroup_v2_where_it_can_be_had() {
    for role in LIMITED {
        let findings = &find(role, "findings")["findings"];
        assert_eq!(findings["healthy"], true, "{role}: {findings:#}");
        for wall in ["memory", "pids", "cpu"] {
            assert_eq!(findings["walls"][wall], "cgroup_v2", "{role}: {findings:#}");
        }
        let words = "memory 512 MiB by cgroup v2; 128 processes by cgroup v2; 1 processors by cgroup v2";
        assert!(text(role, "walls", "err").contains(words), "{role}: {:#}", find(role, "walls"));
        assert_eq!(find(role, "half_a_processor")["code"], 0, "{role}: {:#}", find(role, "half_a_processor"));
    }
    let alone = find("delegated-user", "alone");
    assert_eq!(alone["code"], 0, "{alone:#}");
    assert!(alone["err"].as_str().unwrap().contains("memory 512 MiB by cgroup v2"), "{alone:#}");
}

#[test]
fn the_fall_backs_hold_where_cgroups_belong_to_another() {
    let findings = &find("user", "findings")["findings"];
    assert_eq!(findings["healthy"], true, "{findings:#}");
    for (wall, hold) in [("memory", "watchdog"), ("pids", "rlimit"), ("cpu", "affinity")] {
        assert_eq!(findings["walls"][wall], hold, "{findings:#}");
    }
    let half = find("user", "half_a_processor");
    assert_eq!(half["code"], 125);
    let words = "kennel: the box was refused while limiting processor time `0.5 cpus`: ";
    assert!(half["err"].as_str().unwrap().starts_with(words), "{half:#}");
    assert!(half["err"].as_str().unwrap().contains("hint: there is no cpu cgroup for this user"), "{half:#}");
}

#[test]
fn a_memory_bomb_ends_as_out_of_memory() {
    for role in LIMITED {
        let bomb = find(role, "memory_bomb");
        let words = "kennel: out of memory (signal 9): the box may use 64 MiB; raise --memory|";
        assert_eq!((&bomb["code"], &bomb["err"]), (&137.into(), &words.into()), "{role}");
    }
    // A limit per process lets the allocation itself fail.
    assert_ne!(find("user", "memory_bomb")["code"], 0);
    for role in ROLES {
        assert_eq!(find(role, "memory_within")["code"], 0, "{role}: {:#}", find(role, "memory_within"));
    }
}

#[test]
fn a_fork_bomb_ends_at_the_limit_of_processes() {
    for role in ROLES {
        let bomb = find(role, "fork_bomb");
        assert_ne!(bomb["code"], 0, "{role}");
        let words = "the box may have 8 processes and threads; raise --pids";
        assert!(bomb["err"].as_str().unwrap().contains(words), "{role}: {bomb:#}");
    }
}

#[test]
fn no_cgroup_is_left_and_none_is_changed() {
    for role in ROLES {
        assert_eq!(text(role, "left", "out"), "", "{role}");
        // A cgroup that became threaded can have no ordinary children any more.
        assert!(!text(role, "left", "types").contains("threaded"), "{role}: {:#}", find(role, "left"));
    }
}

#[test]
fn a_crash_in_a_box_starts_no_program_outside() {
    for role in ["root", "user"] {
        for (name, expected) in [("crash-host", "sh 0|"), ("crash-native", "")] {
            let crash = find(role, name);
            assert_eq!((&crash["code"], &crash["out"]), (&139.into(), &expected.into()), "{role}: {crash:#}");
        }
    }
}

#[test]
fn a_clock_that_jumps_changes_no_deadline() {
    assert_eq!(find("root", "ahead")["code"], 0, "{:#}", find("root", "ahead"));
    let back = find("root", "back");
    assert_eq!(back["code"], 137, "{back:#}");
    assert!(back["out"].as_str().unwrap().contains("deadline passed"), "{back:#}");
}

#[test]
fn what_an_older_landlock_lacks_is_said() {
    for role in ROLES {
        let findings = &find(role, "findings")["findings"];
        let version = findings["walls"]["landlock"].as_u64().unwrap_or(0);
        let checks = findings["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == "Landlock").unwrap();
        let expected = if version < 6 { "weak" } else { "ok" };
        assert_eq!(check["status"], expected, "{role}: version {version}: {check:#}");
    }
}
