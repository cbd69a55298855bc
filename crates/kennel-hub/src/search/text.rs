//! Takes texts out of foreign JSON, and makes them short enough to be shown: one line, cut at a word.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The text of a JSON string, half characters replaced; none of anything else.
pub(crate) fn text_of(value: &RawValue) -> Option<String> {
    serde_json::from_str::<LossyText>(value.get()).ok().map(|LossyText(text)| text)
}

/// The first sentence or line of a text, as one line of at most so many characters.
pub(crate) fn summary(text: &str, longest: usize) -> String {
    let (first, _) = first_sentence(text);
    one_line(first, longest)
}

/// A text as one line of at most so many characters, without control characters; `…` says that there was more.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()).filter(|word| !word.is_empty())
    {
        let space = usize::from(length > 0);
        let letters = word.chars().count();
        if length + space + letters > longest {
            if length == 0 {
                line.extend(word.chars().take(longest.saturating_sub(1)));
            }
            line.push('…');
            break;
        }
        if space > 0 {
            line.push(' ');
        }
        line.push_str(word);
        length += space + letters;
    }
    line
}

/// The first sentence or line of a text, and what follows.
pub(crate) fn first_sentence(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let line = text.find('\n');
    let sentence = [". ", "! ", "? "].iter().filter_map(|end| text.find(end)).min().map(|place| place + 1);
    match [line, sentence].into_iter().flatten().min() {
        Some(end) => text.split_at_checked(end).unwrap_or((text, "")),
        None => (text, ""),
    }
}

/// The start of a text, at most so many bytes of it.
pub(crate) fn start(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}

/// A JSON string that may hold half characters (`"\ud83d"`), which `String` refuses.
pub struct LossyText(pub String);

impl<'de> Deserialize<'de> for LossyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = LossyText;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<LossyText, E> {
                Ok(LossyText(String::from_utf8_lossy(bytes).into_owned()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<LossyText, E> {
                Ok(LossyText(text.to_owned()))
            }
        }
        deserializer.deserialize_bytes(Text)
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
