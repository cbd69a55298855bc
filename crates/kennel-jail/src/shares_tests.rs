use super::*;

#[test]
fn a_box_gets_a_part_of_what_the_user_has() {
    assert_eq!(Shares::of(Some(128), Some(80_000)), Shares { inotify_instances: 8, inotify_watches: 10_000 });
}

#[test]
fn a_box_gets_something_and_not_too_much() {
    let least = Shares { inotify_instances: 4, inotify_watches: 128 };
    assert_eq!(Shares::of(Some(1), Some(1)), least);
    assert_eq!(Shares::of(None, None), least, "a kernel that does not say");
    assert_eq!(Shares::of(Some(1 << 20), Some(0)).inotify_instances, 16);
}
