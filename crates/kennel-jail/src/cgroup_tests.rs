use super::*;

const HYBRID_MOUNTS: &str = "\
25 20 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
26 25 0:23 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
27 25 0:24 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
28 25 0:25 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
const HYBRID_OWN: &str = "5:memory:/job/one\n4:cpu,cpuacct:/\n0::/";

const CONTAINER_MOUNTS: &str = "40 30 0:26 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate";

fn limits() -> Limits {
    Limits { memory: 64 << 20, pids: 20, milli_cpus: 500, open_files: 64, scratch: 1 << 20 }
}

#[test]
fn the_own_cgroup_is_found_in_each_version() {
    let memory = v1_directory(HYBRID_MOUNTS, HYBRID_OWN, Controller::Memory);
    assert_eq!(memory, Some(PathBuf::from("/sys/fs/cgroup/memory/job/one")));
    let cpu = v1_directory(HYBRID_MOUNTS, HYBRID_OWN, Controller::Cpu);
    assert_eq!(cpu, Some(PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/")));
    assert_eq!(v1_directory(HYBRID_MOUNTS, HYBRID_OWN, Controller::Pids), None);
    let unified = v2_directory(HYBRID_MOUNTS, HYBRID_OWN);
    assert_eq!(unified, Some(("/sys/fs/cgroup/unified".into(), "/sys/fs/cgroup/unified/".into())));
}

#[test]
fn a_mount_that_shows_a_part_of_the_hierarchy_is_understood() {
    let found = v2_directory(CONTAINER_MOUNTS, "0::/docker/abc/init");
    assert_eq!(found, Some(("/sys/fs/cgroup".into(), "/sys/fs/cgroup/init".into())));
    assert_eq!(v2_directory(CONTAINER_MOUNTS, "0::/elsewhere"), None);
}

#[test]
fn the_init_does_not_use_up_what_the_box_was_promised() {
    assert_eq!(settings(Controller::Pids, Version::V2, &limits()), [("pids.max", "21".to_owned(), true)]);
}

#[test]
fn half_a_processor_is_half_a_period() {
    assert_eq!(settings(Controller::Cpu, Version::V2, &limits())[0].1, "50000 100000");
    assert_eq!(settings(Controller::Cpu, Version::V1, &limits())[1], ("cpu.cfs_quota_us", "50000".to_owned(), true));
}

#[test]
fn no_version_lets_a_box_swap() {
    let of = |version| {
        settings(Controller::Memory, version, &limits()).into_iter().map(|(file, ..)| file).collect::<Vec<_>>()
    };
    assert!(of(Version::V2).contains(&"memory.swap.max"));
    assert!(of(Version::V1).contains(&"memory.memsw.limit_in_bytes"));
}

#[test]
fn counters_are_read_by_their_whole_name() {
    let events = "low 0\nhigh 0\nmax 31\noom 2\noom_kill 1\noom_group_kill 0\n";
    assert_eq!(parse_counter(events, "oom_kill"), 1);
    assert_eq!(parse_counter(events, "max"), 31);
    assert_eq!(parse_counter(events, "absent"), 0);
    assert_eq!(parse_counter("oom_kill_disable 0\nunder_oom 0\noom_kill 4", "oom_kill"), 4);
}

#[test]
fn only_the_cgroups_of_the_dead_count_as_left_behind() {
    let own = owner_of(&format!("{}-7", own_prefix())).unwrap();
    assert!(own.alive());
    assert!(!Owner { started: own.started + 1, ..own }.alive(), "a later process with the same number");
    for foreign in ["docker-12-3", "kennel", "kennel-", "kennel-x-1", "kennel-12"] {
        assert_eq!(owner_of(foreign), None, "{foreign}");
    }
}
