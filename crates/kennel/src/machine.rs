//! What this machine offers: kernel, user namespaces and what blocks them, cgroups, Landlock, seccomp, engines.

use serde::Serialize;
use std::fs;
use std::path::Path;

/// How a finding is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// As it should be.
    Ok,
    /// Works, with less than the best.
    Weak,
    /// Keeps boxes from being made.
    Fail,
    /// Neither good nor bad.
    Info,
}

impl Status {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Weak => "weak",
            Self::Fail => "FAIL",
            Self::Info => "-",
        }
    }
}

/// One finding.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) status: Status,
    pub(crate) detail: String,
    pub(crate) fix: Option<String>,
}

impl Check {
    pub(crate) fn new(name: &'static str, status: Status, detail: String) -> Self {
        Self { name, status, detail, fix: None }
    }

    pub(crate) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

/// Looks at everything that can be seen without making a box.
pub(crate) fn examine() -> Vec<Check> {
    let mut checks = vec![kernel(), user_namespaces()];
    checks.extend(container());
    checks.extend([cgroups(), landlock(), seccomp()]);
    checks.extend(engines());
    checks
}

fn kernel() -> Check {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy().into_owned();
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (5, 12) {
        Check::new("kernel", Status::Ok, format!("Linux {release}"))
    } else {
        Check::new("kernel", Status::Fail, format!("Linux {release}")).fix("the native box needs Linux 5.12 or newer")
    }
}

/// The switches by which systems turn user namespaces off for ordinary users.
fn user_namespaces() -> Check {
    let name = "user namespaces";
    let setting = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let root = rustix::process::geteuid().is_root();
    if !Path::new("/proc/self/ns/user").exists() {
        return Check::new(name, Status::Fail, "not in this kernel".into()).fix("use a kernel with CONFIG_USER_NS");
    }
    if setting("/proc/sys/user/max_user_namespaces").as_deref() == Some("0") {
        return Check::new(name, Status::Fail, "user.max_user_namespaces is 0".into())
            .fix("sysctl -w user.max_user_namespaces=15000");
    }
    if !root && setting("/proc/sys/kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        return Check::new(name, Status::Fail, "kernel.unprivileged_userns_clone is 0".into())
            .fix("sysctl -w kernel.unprivileged_userns_clone=1");
    }
    if !root && setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        return Check::new(name, Status::Weak, "AppArmor restricts them to programs with a profile".into()).fix(
            "give kennel a profile: write `abi <abi/4.0>, profile kennel /path/to/kennel flags=(unconfined) { userns, }` \
             to /etc/apparmor.d/kennel and run apparmor_parser -r on it",
        );
    }
    Check::new(name, Status::Ok, if root { "available (as root)".into() } else { "available".into() })
}

fn container() -> Option<Check> {
    let marks =
        [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman"), ("/var/run/secrets/kubernetes.io", "Kubernetes")];
    let (_, engine) = marks.into_iter().find(|(path, _)| Path::new(path).exists())?;
    let fix = "if boxes are refused below, the container needs user namespaces and an unmasked /proc \
               (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)";
    Some(Check::new("container", Status::Info, format!("running inside {engine}")).fix(fix))
}

fn cgroups() -> Check {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let has = |kind: &str| mounts.lines().any(|line| line.contains(&format!(" - {kind} ")));
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own.lines().last().unwrap_or_default().to_owned();
    match (has("cgroup2"), has("cgroup")) {
        (true, false) => Check::new("cgroups", Status::Ok, format!("version 2, this process in {own}")),
        (true, true) => Check::new("cgroups", Status::Ok, "versions 1 and 2 side by side".into()),
        (false, true) => Check::new("cgroups", Status::Ok, "version 1".into()),
        (false, false) => {
            Check::new("cgroups", Status::Weak, "none mounted".into()).fix("mount -t cgroup2 none /sys/fs/cgroup")
        }
    }
}

fn landlock() -> Check {
    let lacks = |what: &str, version| Check::new("Landlock", Status::Weak, format!("version {version}: {what}"));
    match kennel_jail::landlock_version() {
        Some(version @ ..4) => lacks(
            "steps of packages can connect to any TCP port of this machine while they are installed, and boxes with the \
             network on to its abstract sockets",
            version,
        )
        .fix("use Linux 6.12 or newer"),
        Some(version @ ..6) => lacks("boxes with the network on can connect to abstract sockets of this machine", version)
            .fix("use Linux 6.12 or newer"),
        Some(version) => Check::new("Landlock", Status::Ok, format!("version {version}")),
        None => Check::new("Landlock", Status::Weak, "not in force; the box has one wall less".into())
            .fix("use Linux 5.13 or newer with `landlock` in the lsm= boot parameter"),
    }
}

fn seccomp() -> Check {
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    if actions.split_whitespace().any(|action| action == "kill_process") {
        Check::new("seccomp", Status::Ok, "available".into())
    } else {
        Check::new("seccomp", Status::Fail, "no filters in this kernel".into())
            .fix("use a kernel with CONFIG_SECCOMP_FILTER")
    }
}

/// Engines that are there beside the embedded one. Kennel does not need any of them.
fn engines() -> Vec<Check> {
    let sockets = [
        ("docker", "/var/run/docker.sock"),
        ("podman", "/run/podman/podman.sock"),
        ("containerd", "/run/containerd/containerd.sock"),
    ];
    let found = sockets
        .into_iter()
        .filter(|(_, socket)| Path::new(socket).exists())
        .map(|(name, socket)| format!("{name} ({socket})"));
    let all = ["native (embedded)".to_owned()].into_iter().chain(found).collect::<Vec<_>>();
    vec![Check::new("engines", Status::Info, all.join(", "))]
}
