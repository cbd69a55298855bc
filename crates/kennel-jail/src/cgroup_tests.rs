use super::*;

fn limits() -> Limits {
    Limits { memory: 64 << 20, pids: 20, milli_cpus: 500, open_files: 64, scratch: 1 << 20 }
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
