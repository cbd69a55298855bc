use super::*;
use proptest::prelude::*;

fn ticket(errand: Errand) -> Ticket {
    let holder = Mark::of_principal(&Principal::new("ann"));
    Ticket { errand, expires: 123_456, holder, request: Mark::of_request("tools/call", "echo") }
}

fn resume() -> Ticket {
    ticket(Errand::Resume { exchange: 3, generation: Generation::new(9), number: -4, round: 2 })
}

#[test]
fn what_was_sealed_is_found_again() {
    let hub = Sealer::new().unwrap();
    for ticket in [resume(), ticket(Errand::Repeat)] {
        let sealed = hub.seal(&ticket);
        assert!(sealed.bytes().all(|byte| byte.is_ascii_graphic()), "{sealed}");
        assert_eq!(hub.open(&sealed), Some(ticket));
    }
}

#[test]
fn another_hub_opens_nothing() {
    let sealed = Sealer::new().unwrap().seal(&resume());
    assert_eq!(Sealer::new().unwrap().open(&sealed), None);
}

#[test]
fn marks_do_not_run_together() {
    assert_ne!(Mark::of_request("a", "bc"), Mark::of_request("ab", "c"));
    assert_ne!(Mark::of_principal(&Principal::new("ann")), Mark::of_principal(&Principal::new("bob")));
}

proptest! {
    #[test]
    fn no_bit_can_be_changed(byte in 0..256_usize, bit in 0..8_u32) {
        let hub = Sealer::new().unwrap();
        let mut sealed = BASE64_URL_SAFE_NO_PAD.decode(hub.seal(&resume())).unwrap();
        let place = byte % sealed.len();
        sealed[place] ^= 1 << bit;
        prop_assert_eq!(hub.open(&BASE64_URL_SAFE_NO_PAD.encode(sealed)), None);
    }

    #[test]
    fn junk_opens_nothing(junk in "[A-Za-z0-9_=+/ -]{0,200}") {
        prop_assert_eq!(Sealer::new().unwrap().open(&junk), None);
    }

    #[test]
    fn a_piece_of_a_state_is_none(length in 0..100_usize) {
        let hub = Sealer::new().unwrap();
        let sealed = hub.seal(&resume());
        let piece = &sealed[..length.min(sealed.len() - 1)];
        prop_assert_eq!(hub.open(piece), None);
    }
}
