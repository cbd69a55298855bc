//! Owns which of the known words somebody may have meant by one that is not known.

/// How many words are offered.
const MOST_OFFERED: usize = 2;
/// Words are compared up to here: longer ones are nobody's typing error.
const MOST_COMPARED: usize = 64;

/// The words that are nearest to one, best first; none where nothing is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = plain(word);
    let mut near: Vec<(usize, &str)> = known.into_iter().filter_map(|name| Some((far(&word, name)?, name))).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MOST_OFFERED).map(|(_, name)| name).collect()
}

/// `did you mean …?`, where something is near.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near: Vec<String> = nearest(word, known).into_iter().map(|name| format!("`{name}`")).collect();
    if near.is_empty() { None } else { Some(format!("did you mean {}?", near.join(" or "))) }
}

/// How far a name is from a word, or `None` if too far.
fn far(word: &[char], name: &str) -> Option<usize> {
    let name = plain(name);
    let longest = word.len().max(name.len());
    let bearable = longest.div_ceil(3).min(4);
    let distance = distance(word, &name);
    if distance <= bearable && distance < longest.max(1) {
        return Some(distance);
    }
    // A part of a name is a good guess too, but a worse one than a name that is almost right.
    let is_part = word.len() >= 3 && name.windows(word.len()).any(|part| part == word);
    is_part.then_some(bearable + 1)
}

/// Without what people mix up: case, and how words are joined.
fn plain(name: &str) -> Vec<char> {
    name.chars()
        .filter(|letter| !matches!(letter, '-' | '_' | '.' | ' '))
        .take(MOST_COMPARED)
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many letters have to be added, taken away, changed or swapped with their neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut above: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut cheapest = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && left[row - 1] == *other && right[column - 1] == *letter {
                cheapest = cheapest.min(above[column - 1] + 1);
            }
            current.push(cheapest);
        }
        above = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
