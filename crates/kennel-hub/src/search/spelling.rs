//! Tells whether a word is another one with one slip of the hand.

/// Whether one becomes the other by one letter more, less, changed, or two neighbours exchanged. Equal words do not.
pub(crate) fn is_one_slip(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let (short, long) = (short.as_bytes(), long.as_bytes());
    if long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(one, other)| one == other).count();
    let (short_rest, long_rest) = (short.get(same..).unwrap_or_default(), long.get(same..).unwrap_or_default());
    match (short_rest, long_rest) {
        (short_rest, [_, after @ ..]) if long.len() > short.len() => short_rest == after,
        ([first, second, after @ ..], [one, two, others @ ..]) if first == two && second == one => after == others,
        ([_, after @ ..], [_, others @ ..]) => after == others,
        _ => false,
    }
}

#[cfg(test)]
#[path = "spelling_tests.rs"]
mod tests;
