//! What of a text reaches a terminal: letters, blanks and line ends, and nothing that commands it or misleads its reader.

use std::borrow::Cow;
use std::fmt::Write;

/// What stands for a character that may not be shown.
pub const REPLACEMENT: char = '\u{fffd}';

/// Joins what stands on both sides of it (emoji, Persian), and cannot be seen.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];
/// Chooses how the character before it looks, and cannot be seen.
const SELECTORS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
/// The box around a digit, which makes a keycap of it.
const KEYCAP: char = '\u{20e3}';

/// Whether a character commands a terminal, turns the direction of the text around it, or cannot be seen. Line ends and
/// tabulators do so too; whoever wants them asks for them.
#[must_use]
pub fn is_unfit(character: char) -> bool {
    // C0 with the escape, delete, and C1 with the control sequence introducer of eight bits.
    character.is_control()
        || matches!(character,
            // Invisible: soft hyphen, grapheme joiner, Hangul fillers, Khmer vowels, Mongolian selectors.
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{3164}' | '\u{ffa0}'
            // Direction: marks, embeddings, overrides and isolates; the ends of lines and paragraphs among them.
            | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Selectors, the byte order mark, notes between lines, shorthand and musical format, and tags.
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text of several lines without what a terminal would obey, or what its reader could not see. Joiners and selectors
/// stay where scripts and emoji need them.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut last = None;
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let fit = match character {
            '\n' | '\t' => true,
            '\r' if next == Some('\n') => continue,
            _ if JOINERS.contains(&character) => last.is_some_and(joins) && next.is_some_and(joins),
            _ if SELECTORS.contains(&character) => last.is_some_and(joins) || next == Some(KEYCAP),
            _ => !is_unfit(character),
        };
        let character = if fit { character } else { REPLACEMENT };
        shown.push(character);
        last = Some(character);
    }
    Cow::Owned(shown)
}

/// Whether a joiner beside this character can have a meaning.
fn joins(character: char) -> bool {
    let is_selected = SELECTORS.contains(&character);
    !character.is_ascii() && character != REPLACEMENT && (is_selected || !is_unfit(character))
}

/// The same on one line, with every run of blanks as one.
#[must_use]
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    printable(&words.join(" ")).into_owned()
}

/// A text that is fit to be shown as one message: every line after the first is indented, so that none of them can be
/// taken for the beginning of another message.
#[must_use]
pub fn hanging(text: &str) -> Cow<'_, str> {
    let text = printable(text);
    if text.split('\n').skip(1).all(|line| line.is_empty() || line.starts_with("  ")) {
        return text;
    }
    let mut lines = text.split('\n');
    let mut shown = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        shown.push('\n');
        if !line.is_empty() && !line.starts_with("  ") {
            shown.push_str("  ");
        }
        shown.push_str(line);
    }
    Cow::Owned(shown)
}

/// JSON with the same meaning, in which a terminal finds nothing to obey and its reader nothing that cannot be seen.
#[must_use]
pub fn json_for_terminal(json: &str) -> Cow<'_, str> {
    if json.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len());
    let mut units = [0; 2];
    for character in json.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            // Only between values, where it means nothing: in a text it would be escaped.
            '\r' => shown.push(' '),
            _ if is_unfit(character) => {
                for unit in character.encode_utf16(&mut units) {
                    // Writing to a string cannot fail.
                    let _ = write!(shown, "\\u{unit:04x}");
                }
            }
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
#[path = "clean_tests.rs"]
mod tests;
