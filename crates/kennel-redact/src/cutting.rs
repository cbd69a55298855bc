//! How a text that is too long is cut, so that everybody can see that it was.

use std::borrow::Cow;

/// What stands where something is missing.
pub const CUT: char = '…';

/// The text as it is, or at most so many bytes of its beginning and the mark.
#[must_use]
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let head = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
    Cow::Owned(format!("{head}{CUT}"))
}

/// The beginning of a text that somebody has cut at any byte, with the mark.
#[must_use]
pub fn cut_off(head: &[u8]) -> String {
    // A character of which only a part is there would stand between the mark and what was cut.
    let whole = match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_none() => head.get(..error.valid_up_to()).unwrap_or_default(),
        _ => {
            let part = head.iter().rev().take(3).position(|byte| *byte >= 0xc0);
            match part {
                Some(back) if is_incomplete(head.get(head.len() - 1 - back..).unwrap_or_default()) => {
                    head.get(..head.len() - 1 - back).unwrap_or_default()
                }
                _ => head,
            }
        }
    };
    format!("{}{CUT}", String::from_utf8_lossy(whole))
}

fn is_incomplete(end: &[u8]) -> bool {
    std::str::from_utf8(end).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_can_be_seen_and_is_between_characters() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("aé", 2), "a…");
        assert_eq!(cut_off(b"a\xc3"), "a…");
        assert_eq!(cut_off(b"\xff\xe2\x80"), "\u{fffd}…");
        assert_eq!(cut_off(b"\xffb"), "\u{fffd}b…");
        assert_eq!(cut_off("aé".as_bytes()), "aé…");
    }
}
