use super::*;
use crate::engine::Command;
use crate::profile::Profile;
use std::ffi::{OsStr, OsString};

fn host() -> HostView {
    HostView { path: "/usr/bin:/bin".into(), home: "/home/ada".into(), cwd: "/home/ada".into(), manners: Vec::new() }
}

fn plan(spec: &BoxSpec) -> Result<BoxPlan, BoxError> {
    spec.plan(&host(), &MountRules::for_user(Path::new("/home/ada")), &[])
}

fn problem(spec: &BoxSpec) -> String {
    plan(spec).expect_err("the spec should be refused").to_string()
}

fn variable<'a>(plan: &'a BoxPlan, name: &str) -> Option<&'a OsStr> {
    plan.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
}

#[test]
fn nothing_said_means_offline_and_small() {
    let plan = plan(&BoxSpec::default()).unwrap();
    assert_eq!(plan.network, Network::Off);
    assert_eq!(
        plan.limits,
        Limits { memory: 512 << 20, pids: 128, milli_cpus: 1000, open_files: 1024, scratch: 64 << 20 }
    );
    assert!(plan.grants.is_empty() && !plan.writable_root && plan.deadline.is_none());
    assert_eq!(plan.cwd, Path::new(INNER_HOME));
}

#[test]
fn profiles_give_what_platforms_know() {
    let of = |profile| plan(&BoxSpec { profile, timeout: Some(1e6), ..BoxSpec::default() }).unwrap();
    let extended = of(Profile::NetworkExtended);
    assert_eq!((extended.network, extended.limits.milli_cpus, extended.limits.memory >> 20), (Network::On, 2000, 1024));
    assert!(extended.writable_root);
    assert_eq!(extended.deadline, Some(Duration::from_mins(5)), "the profile's maximum");
    let readonly = of(Profile::OfflineReadonly);
    assert_eq!((readonly.limits.pids, readonly.limits.milli_cpus, readonly.limits.memory >> 20), (64, 500, 256));
    assert_eq!(of(Profile::Default).network, Network::On);
}

#[test]
fn a_locked_field_is_named_with_its_profile() {
    let locked = BoxSpec { profile: Profile::OfflineReadonly, ..BoxSpec::default() };
    for (spec, field) in [
        (BoxSpec { network: Some(Network::On), ..locked.clone() }, "network"),
        (BoxSpec { mode: Some(AccessMode::ReadWrite), ..locked.clone() }, "mode"),
        (BoxSpec { read_only_rootfs: Some(false), ..locked.clone() }, "read_only_rootfs"),
    ] {
        let problem = problem(&spec);
        assert!(problem.contains(&format!("`{field}`")) && problem.contains("offline_readonly"), "{problem}");
    }
    // What the profile says anyway may be said again.
    plan(&BoxSpec { network: Some(Network::Off), ..locked }).unwrap();
}

#[test]
fn values_no_box_can_have_are_named_with_their_field() {
    let base = BoxSpec::default();
    for (spec, field) in [
        (BoxSpec { memory: Some(Size::mebibytes(31)), ..base.clone() }, "memory"),
        (BoxSpec { cpus: Some(0.0), ..base.clone() }, "cpus"),
        (BoxSpec { cpus: Some(f64::NAN), ..base.clone() }, "cpus"),
        (BoxSpec { cpus: Some(-1.0), ..base.clone() }, "cpus"),
        (BoxSpec { pids: Some(0), ..base.clone() }, "pids"),
        (BoxSpec { fds: Some(3), ..base.clone() }, "fds"),
        (BoxSpec { tmp_size: Some("1".parse().unwrap()), ..base.clone() }, "tmp_size"),
        (BoxSpec { timeout: Some(0.0), ..base.clone() }, "timeout"),
        (BoxSpec { timeout: Some(f64::INFINITY), ..base.clone() }, "timeout"),
        (BoxSpec { image: Some("debian".into()), ..base.clone() }, "image"),
        (BoxSpec { workdir: Some("relative".into()), ..base.clone() }, "workdir"),
        (BoxSpec { workdir: Some("/tmp/../etc".into()), ..base.clone() }, "workdir"),
        (BoxSpec { workdir: Some("/srv/secret".into()), ..base.clone() }, "workdir"),
        (BoxSpec { env: BTreeMap::from([("A=B".into(), String::new())]), ..base.clone() }, "env"),
        (BoxSpec { env: BTreeMap::from([("A".into(), "x\0y".into())]), ..base }, "env"),
    ] {
        let problem = problem(&spec);
        assert!(problem.contains(&format!("`{field}`")), "{field}: {problem}");
    }
}

#[test]
fn an_unknown_field_is_an_error_that_names_it() {
    let error = serde_json::from_str::<BoxSpec>(r#"{"netwrok": "off"}"#).unwrap_err().to_string();
    assert!(error.contains("netwrok"), "{error}");
    let spec: BoxSpec = serde_json::from_str(
        r#"{"memory": "1.5G", "network": "on", "profile": "default", "mounts": [{"host_path": "/srv", "mode": "rw"}]}"#,
    )
    .unwrap();
    assert_eq!(spec.memory, Some("1536M".parse().unwrap()));
    assert_eq!(spec.mounts[0].mode, AccessMode::ReadWrite);
}

#[test]
fn a_project_is_mounted_at_the_workspace_and_processes_start_there() {
    let project = tempfile::tempdir().unwrap();
    let spec =
        BoxSpec { host_path: Some(project.path().into()), mode: Some(AccessMode::ReadOnly), ..BoxSpec::default() };
    let plan = plan(&spec).unwrap();
    assert_eq!(plan.cwd, Path::new("/workspace"));
    let grant = &plan.grants[0];
    assert_eq!(
        (grant.target.as_path(), grant.access, grant.as_owner),
        (Path::new("/workspace"), Access::ReadOnly, true)
    );
}

#[test]
fn one_place_holds_one_path() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mount = |path: &Path, mode| MountSpec { host_path: path.into(), mount_path: Some("/data".into()), mode };
    let both = |first, second| BoxSpec { mounts: vec![first, second], ..BoxSpec::default() };
    let conflict = both(mount(one.path(), AccessMode::ReadOnly), mount(two.path(), AccessMode::ReadOnly));
    assert!(problem(&conflict).contains("already at `/data`"));
    let twice = both(mount(one.path(), AccessMode::ReadOnly), mount(one.path(), AccessMode::ReadWrite));
    let grants = plan(&twice).unwrap().grants;
    assert_eq!((grants.len(), grants[0].access), (1, Access::ReadWrite));
}

#[test]
fn the_boxs_own_places_are_not_covered() {
    let data = tempfile::tempdir().unwrap();
    for target in ["/", "/proc", "/proc/sys", "/dev/shm", "/etc/passwd", "/home", "/a/../etc", "relative"] {
        let mount =
            MountSpec { host_path: data.path().into(), mount_path: Some(target.into()), mode: AccessMode::ReadOnly };
        let problem = problem(&BoxSpec { mounts: vec![mount], ..BoxSpec::default() });
        assert!(problem.contains("`mount_path`"), "{target}: {problem}");
    }
}

#[test]
fn the_callers_directory_is_kept_where_the_box_sees_it() {
    let project = tempfile::tempdir().unwrap();
    let real = project.path().canonicalize().unwrap();
    let mount = MountSpec { host_path: real.clone(), mount_path: None, mode: AccessMode::ReadOnly };
    let spec = BoxSpec { mounts: vec![mount], ..BoxSpec::default() };
    let rules = MountRules::for_user(Path::new("/home/ada"));
    let at = |cwd: PathBuf| spec.plan(&HostView { cwd, ..host() }, &rules, &[]).unwrap().cwd;
    assert_eq!(at(real.join("deep/down")), real.join("deep/down"));
    assert_eq!(at("/home/ada/elsewhere".into()), Path::new(INNER_HOME));
    assert_eq!(at("/tmp/of-the-host".into()), Path::new(INNER_HOME), "the box's /tmp is another");
}

#[test]
fn the_environment_is_the_boxs_own() {
    let spec = BoxSpec {
        env: BTreeMap::from([("TOKEN".into(), "x".into()), ("HOME".into(), "/tmp".into())]),
        ..BoxSpec::default()
    };
    let boxed = plan(&spec).unwrap();
    assert_eq!(variable(&boxed, "TOKEN"), Some(OsStr::new("x")));
    assert_eq!(variable(&boxed, "HOME"), Some(OsStr::new("/tmp")), "what is asked for wins");
    assert_eq!(variable(&boxed, "PATH"), Some(OsStr::new("/usr/bin:/bin:/usr/local/bin")));
    let command = Command { program: "x".into(), env: vec![("TOKEN".into(), "y".into())], ..Command::default() };
    let tokens = boxed.process_spec(&command).env.into_iter().filter(|(name, _)| name == "TOKEN").collect::<Vec<_>>();
    assert_eq!(tokens, [(OsString::from("TOKEN"), OsString::from("y"))]);
}

#[test]
fn the_shorter_deadline_counts() {
    let boxed = plan(&BoxSpec { timeout: Some(2.0), ..BoxSpec::default() }).unwrap();
    let with =
        |deadline| boxed.process_spec(&Command { program: "x".into(), deadline, ..Command::default() }).deadline_ms;
    assert_eq!(with(None), Some(2000));
    assert_eq!(with(Some(Duration::from_millis(5))), Some(5));
    assert_eq!(with(Some(Duration::from_mins(1))), Some(2000));
}

#[test]
fn places_of_its_own_are_checked() {
    let place = |path: &str, size| ScratchSpec { path: path.into(), size: Size::kibibytes(size) };
    let of = |scratch| BoxSpec { scratch, ..BoxSpec::default() };
    let plan = plan(&of(vec![place("/workspace", 8), place("/tmp/deeper", 4)])).unwrap();
    assert_eq!(plan.scratch.iter().map(|place| place.size).collect::<Vec<_>>(), [8192, 4096]);
    for path in ["relative", "/", "/tmp", "/home", INNER_HOME, "/a/../b", "/etc/x", "/usr/x", "/dev/shm", "/proc"] {
        let problem = problem(&of(vec![place(path, 8)]));
        assert!(problem.contains("`scratch`") && problem.contains(&format!("`{path}`")), "{problem}");
    }
    assert!(problem(&of(vec![place("/a", 3)])).contains("at least 4K"));
    assert!(problem(&of(vec![place("/a", 4), place("/a", 8)])).contains("twice"));
    assert!(problem(&of((0..17).map(|number| place(&format!("/{number}"), 4)).collect())).contains("16 at most"));
    let project = tempfile::tempdir().unwrap();
    let spec = BoxSpec { host_path: Some(project.path().into()), ..of(vec![place("/workspace/x", 4)]) };
    assert!(problem(&spec).contains("`/workspace`, a path of the host"), "{}", problem(&spec));
}
