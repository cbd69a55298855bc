use super::*;
use crate::event::EventId;
use bytes::Bytes;
use proptest::prelude::*;

fn event(number: u64, size: usize) -> Event {
    Event::message(EventId { stream: 0, sequence: number }, Bytes::from(vec![b'x'; size]))
}

#[test]
fn a_gap_is_told_only_to_those_who_missed_something() {
    let mut ring = Ring::default();
    for _ in 0..4 {
        let number = ring.number();
        ring.keep(number, event(number, 1));
        ring.shrink(2, usize::MAX);
    }
    assert_eq!(ring.after(1), Following { events: vec![event(3, 1), event(4, 1)], gap: true });
    assert_eq!(ring.after(2), Following { events: vec![event(3, 1), event(4, 1)], gap: false });
    assert_eq!(ring.after(4), Following { events: vec![], gap: false });
}

#[test]
fn numbers_without_an_event_leave_no_gap() {
    let mut ring = Ring::default();
    ring.number();
    let number = ring.number();
    ring.keep(number, event(number, 1));
    ring.number();
    assert_eq!(ring.after(1), Following { events: vec![event(2, 1)], gap: false });
    assert_eq!(ring.after(0), ring.after(1));
}

proptest! {
    /// Whatever the sizes and bounds: what is kept is the end of what was sent, within the bounds, and a gap is told
    /// exactly if something that the reader has not seen is missing.
    #[test]
    fn what_is_kept_is_the_end_of_what_was_sent(
        sizes in proptest::collection::vec(0_usize..400, 1..40),
        most_events in 0_usize..20,
        most_bytes in 0_usize..2000,
        seen in 0_u64..41,
    ) {
        let mut ring = Ring::default();
        let mut sent = Vec::new();
        for size in &sizes {
            let number = ring.number();
            sent.push((number, event(number, *size)));
            ring.keep(number, event(number, *size));
            ring.shrink(most_events, most_bytes);
        }
        prop_assert!(ring.events.len() <= most_events && ring.bytes <= most_bytes);
        prop_assert_eq!(ring.bytes, ring.events.iter().map(|(_, event)| event.size()).sum::<usize>());
        let unseen = sent.iter().filter(|(number, _)| *number > seen).map(|(_, event)| event.clone()).collect::<Vec<_>>();
        let following = ring.after(seen);
        prop_assert!(unseen.ends_with(&following.events));
        prop_assert_eq!(following.gap, following.events.len() < unseen.len());
    }
}
