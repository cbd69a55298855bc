//! In which parts and spellings a secret is looked for, beside those that undoing escapes makes of it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// A value shorter than this is no secret worth the name, and taking it out would make any text unreadable.
pub const SHORTEST: usize = 6;
/// The same for one line of several, and for other spellings of short values.
const SHORTEST_PART: usize = 8;
/// Longer lines are looked for in pieces: no line that is shown is as long.
const LONGEST_PART: usize = 4096;

/// All that is looked for because of one secret.
pub(crate) fn spellings(secret: &str) -> Vec<Vec<u8>> {
    let secret = secret.trim();
    let mut found = Vec::new();
    if secret.len() < SHORTEST {
        return found;
    }
    let lines: Vec<&str> = secret.lines().map(str::trim).collect();
    if secret.len() <= LONGEST_PART {
        spell(secret.as_bytes(), &mut found);
        if lines.len() > 1 {
            // As it is where only its escapes had several lines, whatever ended them.
            found.push(lines.join("\n").into_bytes());
        }
    }
    if lines.len() > 1 || secret.len() > LONGEST_PART {
        // What a key file says of itself is no secret.
        let parts = lines.iter().filter(|line| line.len() >= SHORTEST_PART && !line.starts_with("-----"));
        for part in parts.flat_map(|line| line.as_bytes().chunks(LONGEST_PART)) {
            spell(part, &mut found);
        }
    }
    found
}

/// A value in the spellings that are not escapes of it.
fn spell(value: &[u8], found: &mut Vec<Vec<u8>>) {
    found.push(value.to_vec());
    // As a form spells it; everything else in it is escaped, and undone elsewhere.
    if value.contains(&b' ') {
        found.push(value.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte }).collect());
    }
    let hexadecimal: Vec<u8> = value
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| b"0123456789abcdef"[usize::from(digit)])
        .collect();
    found.push(hexadecimal.to_ascii_uppercase());
    found.push(hexadecimal);
    for before in 0..3 {
        // What surrounds it decides the letters at both ends, so that they are left out.
        let shifted: Vec<u8> = std::iter::repeat_n(0, before).chain(value.iter().copied()).collect();
        let (from, to) = ((before * 8).div_ceil(6), shifted.len() * 8 / 6);
        for text in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            let inner = text.as_bytes().get(from..to).unwrap_or_default();
            if inner.len() >= SHORTEST_PART.min(value.len()) {
                found.push(inner.to_vec());
            }
        }
    }
}
