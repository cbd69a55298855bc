use super::*;

#[test]
fn the_next_special_byte_is_found_at_every_place_and_beside_every_byte() {
    for special in (0..0x20).chain(*b"\"\\") {
        for other in (0x20..=0xff).filter(|byte| !b"\"\\".contains(byte)) {
            for place in 0..60 {
                let mut bytes = [other; 60];
                bytes[place] = special;
                assert_eq!(next_special(&bytes, 0), place, "{special:#x} among {other:#x}");
                assert_eq!(next_special(&bytes, place + 1), 60);
            }
        }
    }
}
