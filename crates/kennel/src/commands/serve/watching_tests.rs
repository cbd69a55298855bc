use super::*;

#[expect(clippy::unnecessary_wraps, reason = "a version may be missing")]
fn at(moment: i64) -> Version {
    Some((1, 1, 1, moment, 0))
}

#[test]
fn a_file_is_read_once_when_it_has_stopped_changing() {
    let mut watched = Watched::new(at(1));
    let seen = [at(1), at(2), at(3), at(3), at(3), at(4), at(4)];
    let read: Vec<bool> = seen.into_iter().map(|now| watched.is_to_be_read(now)).collect();
    assert_eq!(read, [false, false, false, true, false, false, true]);
}

#[test]
fn a_file_that_is_gone_for_a_while_changes_nothing() {
    let mut watched = Watched::new(at(1));
    assert!([None, None, at(1), at(1)].into_iter().all(|now| !watched.is_to_be_read(now)));
}
