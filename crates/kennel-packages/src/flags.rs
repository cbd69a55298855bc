//! How a package tool's own flags are told from the command that it runs.

use crate::command::PackageError;
use std::ffi::{OsStr, OsString};

/// What a flag of a tool means to Kennel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nothing: it is about prompts, output or caches, which Kennel does its own way.
    Nothing,
    /// Nothing, and the value that it takes neither.
    NothingWithValue,
    /// A package to install, whose command is named apart.
    Package,
    /// A further package to install.
    Further,
    /// The Python to use.
    Python,
    /// Whether versions before a release count.
    Prerelease,
    /// Cannot be done from a store; the text says what to do instead.
    Refused(&'static str),
    /// The tool is to do more than run a package, so the command is none of Kennel's.
    Foreign,
}

/// Where a tool looks for its own flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Before the first word that is no flag.
    First,
    /// Among all words before `--`.
    Mixed,
}

/// The flags that a tool knows.
pub(crate) struct Flags {
    pub(crate) tool: &'static str,
    pub(crate) known: &'static [(&'static str, Meaning)],
    /// What a flag means that is not among them, where that is no error.
    pub(crate) unknown: Option<Meaning>,
}

/// The words of a command, sorted.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// The flags that mean something, with their values, in their order.
    pub(crate) values: Vec<(Meaning, String)>,
    /// What is no flag of the tool.
    pub(crate) rest: Vec<OsString>,
}

impl Sorted {
    /// The values of one meaning.
    pub(crate) fn of(&self, meaning: Meaning) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(other, _)| *other == meaning).map(|(_, value)| value.as_str())
    }
}

impl Flags {
    /// Sorts the words after the tool's name; nothing where the command is none of Kennel's.
    pub(crate) fn sort(&self, words: &[OsString], order: Order) -> Result<Option<Sorted>, PackageError> {
        let mut sorted = Sorted::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(text) = flag_text(word) else {
                sorted.rest.push(word.clone());
                match order {
                    Order::First => break,
                    Order::Mixed => continue,
                }
            };
            if text == "--" {
                break;
            }
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (text, None),
            };
            let meaning = self.meaning(name)?;
            match meaning {
                Meaning::Nothing => {}
                Meaning::Foreign => return Ok(None),
                Meaning::Refused(reason) => {
                    return Err(PackageError::Refused { tool: self.tool, flag: name.to_owned(), reason });
                }
                _ => {
                    let next = || words.next().and_then(|word| word.to_str()).map(str::to_owned);
                    let missing = || PackageError::NoValue { tool: self.tool, flag: name.to_owned() };
                    sorted.values.push((meaning, value.or_else(next).ok_or_else(missing)?));
                }
            }
        }
        sorted.rest.extend(words.cloned());
        Ok(Some(sorted))
    }

    fn meaning(&self, name: &str) -> Result<Meaning, PackageError> {
        let known = self.known.iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning);
        known.or(self.unknown).ok_or_else(|| PackageError::UnknownFlag { tool: self.tool, flag: name.to_owned() })
    }
}

/// The text of a word that looks like a flag. One that is not text can be none.
fn flag_text(word: &OsStr) -> Option<&str> {
    word.to_str().filter(|text| text.len() > 1 && text.starts_with('-'))
}
