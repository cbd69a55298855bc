use super::*;
use proptest::prelude::*;

fn text(capture: &mut Capture, offset: u64) -> (String, u64, String) {
    capture.since(offset, |span| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(span.head), span.missing, text(span.tail))
    })
}

#[test]
fn the_first_and_the_last_half_are_kept() {
    let mut capture = Capture::new(6);
    capture.push(b"ab");
    assert_eq!(text(&mut capture, 0), ("ab".into(), 0, String::new()));
    capture.push(b"cde");
    assert_eq!(text(&mut capture, 0), ("abc".into(), 0, "de".into()));
    capture.push(b"fghij");
    assert_eq!(text(&mut capture, 0), ("abc".into(), 4, "hij".into()));
    assert_eq!(text(&mut capture, 2), ("c".into(), 4, "hij".into()));
    assert_eq!(text(&mut capture, 5), (String::new(), 2, "hij".into()));
    assert_eq!(text(&mut capture, 8), (String::new(), 0, "ij".into()));
    assert_eq!(text(&mut capture, 10), (String::new(), 0, String::new()));
    assert!(!capture.seal().is_whole());
}

#[test]
fn what_is_lent_is_there_as_long_as_its_holder_has_it() {
    for most in [100, 6] {
        let mut capture = Capture::new(most);
        capture.push(b"abcdefgh");
        let kept = capture.seal();
        let whole = text(&mut capture, 1);
        capture.lend(4);
        assert_eq!(text(&mut capture, 1), whole);
        drop(kept);
        assert_eq!(text(&mut capture, 1), ("b".into(), 4, "gh".into()), "of {most}");
        assert_eq!(capture.total(), 8);
    }
}

proptest! {
    #[test]
    fn no_byte_is_lost_or_made_up(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..20),
        most in 0..200_usize,
        offset in 0..700_u64,
    ) {
        let all = pieces.concat();
        let offset = offset.min(all.len() as u64);
        let from = usize::try_from(offset).unwrap();
        let mut capture = Capture::new(most);
        for piece in &pieces {
            capture.push(piece);
        }
        let check = |span: Span<'_>| {
            let missing = usize::try_from(span.missing).unwrap();
            assert!(span.head.len() + span.tail.len() <= most);
            assert_eq!(span.head.len() + missing + span.tail.len(), all.len() - from);
            assert!(all[from..].starts_with(span.head) && all[from..].ends_with(span.tail));
        };
        capture.since(offset, check);
        let kept = capture.seal();
        assert!(kept.is_whole() || all.len() > most - most % 2);
        capture.since(offset, check);
    }
}
