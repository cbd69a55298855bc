//! Owns how one text becomes the words of a command: as a POSIX shell splits it, and nothing else that a shell does.

/// Why a text has no words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SplitError {
    /// A quotation mark without its partner.
    #[error("the quotation mark {mark} at character {position} is never closed; close it, or write \\{mark}")]
    Unbalanced {
        /// The mark.
        mark: char,
        /// Where it stands, counted from 1.
        position: usize,
    },
    /// A backslash with nothing behind it.
    #[error("it ends in a backslash, which quotes the next character; write \\\\ for a backslash")]
    LoneBackslash,
    /// Nothing but blanks.
    #[error("it is empty; write the server's command and its arguments")]
    Empty,
}

/// Splits a text into words by blanks, with quotation marks and backslashes as in a shell. Variables, patterns, `~` and
/// operators stay the characters that they are.
pub(crate) fn split(text: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars().enumerate();
    while let Some((index, character)) = characters.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\\' => match characters.next() {
                // The line goes on.
                Some((_, '\n')) => {}
                Some((_, quoted)) => word.get_or_insert_default().push(quoted),
                None => return Err(SplitError::LoneBackslash),
            },
            '\'' | '"' => {
                let quoted = quoted(character, &mut characters);
                let quoted = quoted.ok_or(SplitError::Unbalanced { mark: character, position: index + 1 })?;
                word.get_or_insert_default().push_str(&quoted);
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    if words.is_empty() { Err(SplitError::Empty) } else { Ok(words) }
}

/// What stands up to the closing mark, which is consumed; `None` if there is no such mark.
fn quoted(mark: char, characters: &mut impl Iterator<Item = (usize, char)>) -> Option<String> {
    let mut text = String::new();
    loop {
        match characters.next()?.1 {
            character if character == mark => return Some(text),
            '\\' if mark == '"' => match characters.next()?.1 {
                '\n' => {}
                escaped @ ('$' | '`' | '"' | '\\') => text.push(escaped),
                other => text.extend(['\\', other]),
            },
            character => text.push(character),
        }
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
