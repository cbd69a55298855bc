//! Attempts to have or to gain privileges.

use std::fs;
use std::process::Command;

use crate::Runner;
use crate::finding::{Setup, Stop, Verdict, blocked, escaped, gate, not_possible};
use crate::scene::Scene;
use crate::system::{Argument, call};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("run_setuid_program", run_setuid_program),
    ("setuid_root", |_| become_root(libc::SYS_setuid)),
    ("setresuid_root", |_| become_root(libc::SYS_setresuid)),
    ("setgid_root", |_| become_root(libc::SYS_setgid)),
    ("setgroups_root", setgroups_root),
    ("gain_capability", gain_capability),
    ("effective_capabilities", |_| capabilities("CapEff")),
    ("permitted_capabilities", |_| capabilities("CapPrm")),
    ("bounding_capabilities", |_| capabilities("CapBnd")),
    ("no_new_privileges_missing", |_| status_must_be("NoNewPrivs", "1")),
    ("no_new_privileges_unset", no_new_privileges_unset),
    ("seccomp_missing", |_| status_must_be("Seccomp", "2")),
    ("realtime_scheduling", realtime_scheduling),
];

/// A line of `/proc/self/status`.
fn status(name: &str) -> Result<String, Stop> {
    let text = fs::read_to_string("/proc/self/status").setup("read /proc/self/status")?;
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .map(|value| value.trim().to_owned())
        .ok_or_else(|| Stop::Found(not_possible(format!("the status has no {name}"))))
}

fn status_must_be(name: &str, wanted: &str) -> Verdict {
    let value = status(name)?;
    let detail = format!("{name} is {value}");
    Ok(if value == wanted { blocked(detail) } else { escaped(detail) })
}

fn capabilities(set: &str) -> Verdict {
    let value = status(set)?;
    let detail = format!("{set} is {value}");
    let empty = value.chars().all(|digit| digit == '0');
    Ok(if empty { blocked(detail) } else { escaped(detail) })
}

fn run_setuid_program(scene: &Scene) -> Verdict {
    let program = scene.path(0)?;
    fs::metadata(program).setup("see the program")?;
    let output = Command::new(program).arg("-u").output()?;
    let user = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(match user.as_str() {
        "" => not_possible("the program printed no user"),
        "0" => escaped("the program ran as user 0"),
        _ => blocked(format!("the program ran as user {user}")),
    })
}

/// Any of the calls that take user or group numbers only.
fn become_root(number: libc::c_long) -> Verdict {
    gate(call(number, [Argument::Number(0), Argument::Number(0), Argument::Number(0)]), &[])
}

fn setgroups_root(_: &Scene) -> Verdict {
    let groups = 0_u32.to_ne_bytes();
    gate(call(libc::SYS_setgroups, [Argument::Number(1), Argument::Bytes(&groups)]), &[])
}

/// Adds one capability to those that are there: a full set fails even for a trimmed root.
fn gain_capability(_: &Scene) -> Verdict {
    const VERSION_3: u64 = 0x2008_0522;
    const SYS_ADMIN: u64 = 1 << 21;

    let header = [VERSION_3];
    // Three 32-bit words (effective, permitted, inheritable) for the lower half, three for the upper.
    let mut sets = [0; 3];
    call(libc::SYS_capget, [Argument::Words(&header), Argument::FillWords(&mut sets)])
        .setup("read the own capabilities")?;
    sets[0] |= SYS_ADMIN | SYS_ADMIN << 32;
    gate(call(libc::SYS_capset, [Argument::Words(&header), Argument::Words(&sets)]), &[])
}

fn no_new_privileges_unset(_: &Scene) -> Verdict {
    let unset = call(
        libc::SYS_prctl,
        [
            Argument::Number(libc::PR_SET_NO_NEW_PRIVS.into()),
            Argument::Number(0),
            Argument::Number(0),
            Argument::Number(0),
            Argument::Number(0),
        ],
    );
    match (status("NoNewPrivs")?.as_str(), unset) {
        ("0", _) => Ok(escaped("NoNewPrivs is 0")),
        (_, Err(error)) => Err(error.into()),
        (_, Ok(_)) => Ok(blocked("the call had no effect")),
    }
}

fn realtime_scheduling(_: &Scene) -> Verdict {
    let priority = 1_u32.to_ne_bytes();
    let arguments = [Argument::Number(0), Argument::Number(libc::SCHED_FIFO.into()), Argument::Bytes(&priority)];
    gate(call(libc::SYS_sched_setscheduler, arguments), &[])
}
