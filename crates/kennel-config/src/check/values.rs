//! Owns the checks of tables whose keys are names from elsewhere: variables, headers, tools.

use super::{Checker, REFERENCES, SHOWN};
use crate::keys::ByTool;
use crate::name::LONGEST_NAME;
use crate::nearest::did_you_mean;
use crate::problem::join;
use crate::template::is_variable;
use crate::tree::{Content, Entry, Node};
use crate::value::Value;
use kennel_box::Size;
use std::collections::BTreeSet;

/// What has a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Variable,
    Header,
}

impl Holder {
    fn allows(self, name: &str) -> bool {
        match self {
            Self::Variable => is_variable(name),
            // What HTTP calls a token.
            Self::Header => {
                let punctuation = "!#$%&'*+-.^_`|~";
                !name.is_empty()
                    && name.chars().all(|letter| letter.is_ascii_alphanumeric() || punctuation.contains(letter))
            }
        }
    }
}

impl Checker<'_, '_> {
    /// Variables or headers.
    pub(super) fn values(&mut self, node: &Node, path: &str, holder: Holder) {
        if !self.is_table(node, node.at, path) {
            return;
        }
        for entry in node.entries() {
            let path = join(path, &entry.written);
            if !holder.allows(&entry.key) {
                let said = match holder {
                    Holder::Variable => "a variable has letters, digits and `_` in its name, and no digit first",
                    Holder::Header => "this cannot be the name of a header",
                };
                self.report.problem(entry.at, &path, said, None);
            }
            match &entry.value.content {
                Content::Table(_) => self.reference(&entry.value, entry.at, &path),
                // A port or a switch is text for the program in any case.
                Content::Number(_) | Content::Boolean(_) => {}
                _ => {
                    self.template(&entry.value, &path);
                    if holder == Holder::Header && entry.value.text().is_some_and(|text| text.contains(['\r', '\n'])) {
                        self.report.problem(
                            entry.value.at,
                            &path,
                            "has a line end in it, which no header can have",
                            None,
                        );
                    }
                }
            }
        }
    }

    /// Text, or where a secret is kept.
    pub(super) fn text_or_reference(&mut self, node: &Node, path: &str) {
        match &node.content {
            Content::Table(_) => self.reference(node, node.at, path),
            _ => self.template(node, path),
        }
    }

    /// Where a secret is kept.
    fn reference(&mut self, node: &Node, at: usize, path: &str) {
        let (prefix, secrets): (Vec<&Entry>, Vec<&Entry>) =
            node.entries().iter().partition(|entry| entry.key == "prefix");
        for entry in prefix {
            self.text(&entry.value, &join(path, &entry.written));
        }
        let [entry] = secrets.as_slice() else {
            let suggestion = "write for example { from-env = \"NAME\" }".to_owned();
            let said = format!("must have one of `{}`, and nothing else but `prefix`", REFERENCES.join("`, `"));
            return self.report.problem(at, path, said, Some(suggestion));
        };
        let path = join(path, &entry.written);
        match entry.key.as_str() {
            "from-env" => {
                if self.text(&entry.value, &path).is_some_and(|name| !is_variable(name)) {
                    self.report.problem(entry.value.at, &path, "must be the name of a variable, without `$`", None);
                }
            }
            "from-file" => {
                if self.text(&entry.value, &path).is_some() {
                    self.template(&entry.value, &path);
                }
            }
            "from-command" => {
                self.list(&entry.value, &path, |checker, item, path| {
                    checker.text(item, path);
                });
                if matches!(&entry.value.content, Content::List(words) if words.is_empty()) {
                    self.report.problem(entry.value.at, &path, "must have a program in it", None);
                }
            }
            "from-keyring" => {
                if self.text(&entry.value, &path).is_some_and(|text| Value::keyring(text).is_none()) {
                    self.report.problem(entry.value.at, &path, "must be `service/account`", None);
                }
            }
            other => {
                let suggestion = did_you_mean(other, REFERENCES).unwrap_or_else(|| one_of(REFERENCES));
                self.report.problem(entry.at, &path, "there is no such place for a secret", Some(suggestion));
            }
        }
    }

    /// Other names or descriptions.
    pub(super) fn by_tool(&mut self, node: &Node, what: ByTool, path: &str) {
        if !self.is_table(node, node.at, path) {
            return;
        }
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for entry in node.entries() {
            let path = join(path, &entry.written);
            let Some(text) = self.text(&entry.value, &path) else { continue };
            if what == ByTool::Description {
                continue;
            }
            let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
            if text.len() > LONGEST_NAME || !text.chars().all(plain) {
                let said = format!(
                    "a name of a tool has letters, digits, `-`, `_` and `.`, and at most {LONGEST_NAME} of them"
                );
                self.report.problem(entry.value.at, &path, said, None);
            }
            if !names.insert(text) {
                self.report.problem(entry.value.at, &path, "another tool gets this name already", None);
            }
        }
    }
}

/// The size that a node says: text with a unit, or bytes.
pub(crate) fn size_of(node: &Node) -> Option<Size> {
    match &node.content {
        Content::Text(text) => text.parse().ok(),
        Content::Number(number) => u64::try_from(number.whole?).ok()?.to_string().parse().ok(),
        _ => None,
    }
}

/// `did you mean …?`, also by what others call a key.
pub(super) fn meant<'a>(word: &str, known: impl Iterator<Item = (&'a str, &'a [&'a str])> + Clone) -> Option<String> {
    let plain = |word: &str| word.replace(['-', '_'], "").to_lowercase();
    let by_other_name = known.clone().find(|(_, elsewhere)| elsewhere.iter().any(|name| plain(name) == plain(word)));
    match by_other_name {
        Some((name, _)) => Some(format!("did you mean `{name}`?")),
        None => did_you_mean(word, known.map(|(name, _)| name)),
    }
}

/// All that there is to say.
pub(super) fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    format!("there are {}", names.join(", "))
}

/// The beginning of a text, for a message.
pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN { text.to_owned() } else { text.chars().take(SHOWN).chain(['…']).collect() }
}
