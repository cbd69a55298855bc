use super::*;
use std::time::Duration;

#[test]
fn a_server_has_its_share_and_what_is_beyond_is_counted() {
    let (share, start) = (Share::new("s"), Instant::now());
    let written = (0..10_000).filter(|_| share.take(Origin::Quoted, 1000, start)).count();
    assert_eq!(written as u64, QUOTED.0 / 1000);
    assert_eq!(
        share.take_skipped(),
        Some(Skipped { lines: 10_000 - written as u64, bytes: 10_000_000 - 1000 * written as u64 })
    );
    assert_eq!(share.take_skipped(), None, "it was told");
    assert!(share.take(Origin::Quoted, 1000, start + Duration::from_secs(1)), "it gets more with time");
}

#[test]
fn what_kennel_says_of_a_server_is_heard_beside_its_flood() {
    let (share, start) = (Share::new("s"), Instant::now());
    while share.take(Origin::Quoted, 1000, start) {}
    assert!(share.take(Origin::Said, 1000, start));
    while share.take(Origin::Said, 1000, start) {}
    assert!(!share.take(Origin::Said, 1000, start), "but not without an end: a server may fail again and again");
}

#[test]
fn numbers_are_for_people() {
    let words = |lines, bytes| Skipped { lines, bytes }.in_words();
    assert_eq!(words(123_456, 1_234_567_890), "… 123,456 more lines (1.2 GB) not shown");
    assert_eq!(words(1, 999), "… 1 more line (999 bytes) not shown");
    assert_eq!(words(1000, 10_050), "… 1,000 more lines (10.0 kB) not shown");
}
