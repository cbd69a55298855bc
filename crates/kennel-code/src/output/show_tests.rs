use super::*;
use crate::output::Capture;
use proptest::prelude::*;

fn whole(bytes: &[u8]) -> Span<'_> {
    Span { head: bytes, tail: &[], missing: 0 }
}

#[test]
fn what_fits_is_shown_as_it_is() {
    let shown = shown(Span { head: b"a\xc3", tail: b"\xa4b", missing: 0 }, 3, Coming::Nothing);
    assert_eq!((shown.text(Whole::Nowhere).as_str(), shown.left_out, shown.bytes), ("aäb", 0, 4));
}

#[test]
fn the_middle_of_what_does_not_fit_is_left_out_between_characters() {
    let text = "ä".repeat(100);
    let shown = cut(&text, 10);
    assert_eq!(shown.left_out, 180);
    assert_eq!(shown.text(Whole::Nowhere), "äääää\n… 180 bytes left out …\näääää");
    assert_eq!(
        shown.text(Whole::At("kennel://result/r7")),
        "äääää\n… 180 bytes left out, all kept: kennel://result/r7 …\näääää"
    );
}

#[test]
fn what_is_missing_counts_and_cut_characters_are_not_shown() {
    let span = Span { head: b"ab\xc3", tail: b"\xa4cd", missing: 2_000_000 };
    let shown = shown(span, 100, Coming::Nothing);
    assert_eq!(
        shown.text(Whole::EndsAt("kennel://result/r1", 3)),
        "ab\n… 2,000,002 bytes left out, the first and last 3 kept: kennel://result/r1 …\ncd"
    );
    assert_eq!(shown.bytes, 2_000_006);
}

#[test]
fn a_character_that_is_not_whole_waits_for_its_rest() {
    let euro = "€".as_bytes();
    for cut in 1..euro.len() {
        let all = [b"x", &euro[..cut]].concat();
        assert_eq!(shown(whole(&all), 10, Coming::More).bytes, 1, "{cut} bytes of it");
        // The same, where it goes from the head into the tail.
        let span = Span { head: &all[..2], tail: &all[2..], missing: 0 };
        assert!(shown(span, 10, Coming::More).bytes <= 2);
        assert_eq!(shown(whole(&all), 10, Coming::Nothing).text(Whole::Nowhere), "x\u{fffd}");
    }
    // What can be no character does not wait.
    assert_eq!(shown(whole(b"x\xff"), 10, Coming::More).bytes, 2);
}

#[test]
fn numbers_are_grouped() {
    for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (99_980_000, "99,980,000")] {
        assert_eq!(grouped(number), text);
    }
}

proptest! {
    #[test]
    fn the_budget_holds_and_all_is_accounted_for(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'a'), Just(0xc3), Just(0xa4)], 0..300),
        most in 0..400_usize,
        chars in 0..100_usize,
    ) {
        let mut capture = Capture::new(most);
        capture.push(&bytes);
        let shown = capture.since(0, |span| shown(span, chars, Coming::Nothing));
        prop_assert!(shown.chars() <= chars);
        prop_assert_eq!(shown.bytes, bytes.len() as u64);
        if shown.left_out == 0 {
            prop_assert_eq!(shown.text(Whole::Nowhere), String::from_utf8_lossy(&bytes));
        } else {
            prop_assert!(String::from_utf8_lossy(&bytes).starts_with(&shown.head));
            prop_assert!(shown.left_out <= bytes.len() as u64);
        }
    }

    #[test]
    fn pieces_that_are_read_one_after_the_other_are_the_whole(
        text in "[a-zäöü€𝄞\n]{0,200}", cuts in prop::collection::vec(0..40_usize, 0..20),
    ) {
        let mut capture = Capture::new(4096);
        let (mut rest, mut cursor, mut read) = (text.as_bytes(), 0, String::new());
        for cut in cuts {
            let (piece, others) = rest.split_at(cut.min(rest.len()));
            capture.push(piece);
            rest = others;
            let shown = capture.since(cursor, |span| shown(span, 1000, Coming::More));
            cursor += shown.bytes;
            read += &shown.text(Whole::Nowhere);
        }
        capture.push(rest);
        read += &capture.since(cursor, |span| shown(span, 1000, Coming::Nothing)).text(Whole::Nowhere);
        prop_assert_eq!(read, text);
    }
}
