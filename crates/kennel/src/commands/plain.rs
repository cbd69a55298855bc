//! Owns what of a server's text reaches a terminal: letters, blanks and line ends, and nothing that commands it.

/// A text without what would play tricks on a terminal or its reader.
pub(crate) fn printable(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(harmless).collect()
}

/// The same on one line, with every run of blanks as one.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().map(harmless).collect()
}

fn harmless(letter: char) -> char {
    match letter {
        '\n' | '\t' => letter,
        // These turn the direction of what follows, so that it reads as something else than it is.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ if letter.is_control() => '\u{fffd}',
        _ => letter,
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
