use super::*;

const HYBRID_MOUNTS: &str = "\
25 20 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
26 25 0:23 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
27 25 0:24 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
28 25 0:25 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
const HYBRID_OWN: &str = "5:memory:/job/one\n4:cpu,cpuacct:/\n0::/";

const CONTAINER_MOUNTS: &str = "40 30 0:26 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate";

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
