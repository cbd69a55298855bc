use super::*;

/// What is special, said as simply as it can be.
fn next_special(bytes: &[u8], at: usize) -> usize {
    let is_special = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
    bytes.iter().skip(at).position(is_special).map_or(bytes.len(), |offset| at + offset)
}

#[test]
fn the_next_special_byte_is_found_at_every_place_and_beside_every_byte() {
    for special in (0..0x20).chain(*b"\"\\") {
        for other in (0x20..=0xff).filter(|byte| !b"\"\\".contains(byte)) {
            for place in 0..90 {
                let mut bytes = [other; 90];
                bytes[place] = special;
                assert_eq!(Specials::default().next(&bytes, 0), place, "{special:#x} among {other:#x}");
                assert_eq!(Specials::default().next(&bytes, place + 1), 90);
            }
        }
    }
}

#[test]
fn what_was_seen_before_changes_nothing() {
    // Every pattern of two blocks and a rest, as far as a simple generator reaches, searched forwards and backwards.
    let mut seed = 1_u32;
    for length in 0..200 {
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if seed >> 28 == 0 { b'"' } else { b'a' }
            })
            .collect();
        let mut specials = Specials::default();
        for at in (0..=length).chain((0..=length).rev()) {
            assert_eq!(specials.next(&bytes, at), next_special(&bytes, at), "from {at} of {length}");
        }
    }
}
