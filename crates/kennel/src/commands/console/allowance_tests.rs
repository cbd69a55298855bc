use super::{Allowance, INTERVAL, MOST_QUOTED, Quoted};
use std::time::Instant;

#[test]
fn a_few_lines_are_quoted_in_each_interval_and_the_others_counted() {
    let (mut allowance, start) = (Allowance::default(), Instant::now());
    let later = start + INTERVAL / 2;
    for number in 1..MOST_QUOTED {
        assert_eq!(allowance.take(if number == 1 { start } else { later }), Quoted::After(0), "{number}");
    }
    assert_eq!(allowance.take(later), Quoted::Last);
    for _ in 0..1000 {
        assert_eq!(allowance.take(later), Quoted::Not);
    }
    assert_eq!(allowance.take(start + INTERVAL), Quoted::After(1000));
    assert_eq!(allowance.take(start + INTERVAL), Quoted::After(0), "they were told");
}
