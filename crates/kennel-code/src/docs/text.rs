//! Makes foreign texts short and harmless: cut at a sentence, without characters that hide something.

use super::types::is_hidden;

/// A text as one line of at most about so many characters, cut after a sentence if one ends late enough.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    // No more is looked at than could be kept.
    let start: String = text.chars().take(longest.saturating_mul(4)).collect();
    for word in start.split(|letter: char| letter.is_whitespace() || is_hidden(letter)).filter(|word| !word.is_empty())
    {
        let letters = word.chars().count();
        let space = usize::from(length > 0);
        if length + space + letters > longest {
            if length == 0 {
                line.extend(word.chars().take(longest.saturating_sub(1)));
            }
            return cut(&line, longest);
        }
        if space > 0 {
            line.push(' ');
        }
        line.push_str(word);
        length += space + letters;
    }
    line
}

/// The first sentence or line of a text as one line.
pub(crate) fn summary(text: &str, longest: usize) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let line = one_line(first, longest);
    match sentence_end(&line) {
        Some(end) => line.get(..end).unwrap_or(&line).to_owned(),
        None => line,
    }
}

/// A text of several lines, of at most about so many characters, cut after a line or sentence if one ends late enough.
pub(crate) fn paragraphs(text: &str, longest: usize) -> String {
    let mut kept = String::new();
    let mut length = 0;
    let mut is_empty_line_due = false;
    for line in text.trim().lines() {
        let line: String = line.chars().filter(|letter| !is_hidden(*letter) || *letter == '\t').collect();
        let line = line.trim_end();
        if line.is_empty() {
            is_empty_line_due = !kept.is_empty();
            continue;
        }
        let separator = match (kept.is_empty(), is_empty_line_due) {
            (true, _) => "",
            (false, true) => "\n\n",
            (false, false) => "\n",
        };
        is_empty_line_due = false;
        let room = longest.saturating_sub(length + separator.len());
        let letters = line.chars().count();
        if letters > room {
            if room > longest / 2 {
                kept.push_str(separator);
                kept.push_str(&one_line(line, room));
            } else {
                kept.push_str(" …");
            }
            break;
        }
        kept.push_str(separator);
        kept.push_str(line);
        length += separator.len() + letters;
    }
    kept
}

/// A line that was cut: after its last sentence if that keeps a third, else after a word.
fn cut(line: &str, longest: usize) -> String {
    let ends = [". ", "! ", "? "].iter().filter_map(|end| line.rfind(end)).max();
    match ends {
        Some(end) if end >= longest / 3 => format!("{} …", line.get(..=end).unwrap_or(line)),
        _ => format!("{line}…"),
    }
}

/// Where the first sentence ends. A short word before the dot is an abbreviation: `e.g. `.
fn sentence_end(line: &str) -> Option<usize> {
    let ends = line.match_indices(". ").chain(line.match_indices("! ")).chain(line.match_indices("? "));
    let is_sentence = |end: usize| {
        let word = line.get(..end).unwrap_or_default().rsplit([' ', '(']).next().unwrap_or_default();
        !matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf")
    };
    ends.map(|(end, _)| end).filter(|end| is_sentence(*end)).min().map(|end| end + 1)
}

/// A text as what stands in a docstring.
pub(crate) fn in_docstring(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "'''")
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
