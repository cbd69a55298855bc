use super::*;

#[test]
fn only_the_cgroups_of_the_dead_count_as_left_behind() {
    let own = owner_of(&format!("{}-7", own_prefix())).unwrap();
    assert!(own.alive());
    assert!(!Owner { started: own.started + 1, ..own }.alive(), "a later process with the same number");
    for foreign in ["docker-12-3", "kennel", "kennel-", "kennel-x-1", "kennel-12"] {
        assert_eq!(owner_of(foreign), None, "{foreign}");
    }
}
