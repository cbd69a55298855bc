//! Owns what servers and views may be called, so that their names fit into URLs and names of tools.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The longest name.
pub const LONGEST_NAME: usize = 64;

/// Why something cannot be a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a name has letters, digits, `-`, `_` and `.`, begins with a letter or digit, and has at most 64 of them")]
pub struct NameError;

macro_rules! name {
    ($name:ident, $what:literal) => {
        #[doc = concat!("The name of a ", $what, ": letters, digits, `-`, `_` and `.`, at most 64.")]
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                if is_name(text) { Ok(Self(text.to_owned())) } else { Err(NameError) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(ServerName, "server");
name!(ViewName, "view");

fn is_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
}

/// The name that is most like a text that may be none.
#[must_use]
pub fn name_like(text: &str) -> String {
    let mut name = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.') {
            name.push(letter);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name: String = name.trim_start_matches(['-', '_', '.']).chars().take(LONGEST_NAME).collect();
    let name = name.trim_end_matches('-');
    if name.is_empty() { "server".to_owned() } else { name.to_owned() }
}

/// Names for servers that other programs named: those that are names already keep theirs, the others get the one that is
/// most like it, with a number where that is taken. Texts that differ never get the same name.
#[must_use]
pub fn names_for(texts: &[&str]) -> Vec<String> {
    let mut taken: BTreeSet<String> =
        texts.iter().filter(|text| is_name(text)).map(|text| (*text).to_owned()).collect();
    texts.iter().map(|text| if is_name(text) { (*text).to_owned() } else { free_name(text, &mut taken) }).collect()
}

fn free_name(text: &str, taken: &mut BTreeSet<String>) -> String {
    let wanted = name_like(text);
    let mut name = wanted.clone();
    let mut number = 2_usize;
    while !taken.insert(name.clone()) {
        let suffix = format!("-{number}");
        let kept: String = wanted.chars().take(LONGEST_NAME - suffix.len()).collect();
        name = kept + &suffix;
        number += 1;
    }
    name
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
