//! Days that are easily got wrong.

use super::*;

#[test]
fn dates_are_those_of_the_calendar() {
    for (seconds, expected) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_399, "2000-02-28T23:59:59.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (951_868_800, "2000-03-01T00:00:00.000Z"),
        (1_785_196_800, "2026-07-28T00:00:00.000Z"),
        (4_102_444_799, "2099-12-31T23:59:59.000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z"),
    ] {
        assert_eq!(format(seconds, 0), expected);
    }
    assert!(format(0, 7).ends_with("00.007Z"));
}
