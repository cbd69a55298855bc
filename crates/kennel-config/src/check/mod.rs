//! Owns whether what a file says fits the table of keys: every key known, every value of the right kind.

mod values;

use crate::keys::{Choice, Form, Key, Kind, Place, SECTIONS, Section, Zero};
use crate::name::{NameError, ServerName, name_like};
use crate::nearest::did_you_mean;
use crate::problem::{Report, join};
use crate::template::Template;
use crate::tree::{Content, Entry, Node};
use std::net::SocketAddr;
use values::{Holder, cut, meant, one_of};

pub(crate) use values::size_of;

/// The longest pattern for names of tools.
const LONGEST_PATTERN: usize = 256;
/// Values that are shown in a message are cut here.
const SHOWN: usize = 40;
/// What a secret reference may say.
pub(crate) const REFERENCES: [&str; 4] = ["from-env", "from-file", "from-command", "from-keyring"];

/// Whose file it is: what is unknown in Kennel's own is a mistake, and in another program's that program's business.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    Kennel,
    Foreign,
}

/// Checks one file.
pub(crate) struct Checker<'a, 'b> {
    pub(crate) report: &'a mut Report<'b>,
    pub(crate) ownership: Ownership,
}

impl Checker<'_, '_> {
    /// The whole file.
    pub(crate) fn file(&mut self, root: &Node) {
        for entry in root.entries() {
            let Some(section) = SECTIONS.iter().find(|section| section.name == entry.key) else {
                let known = SECTIONS.iter().map(|section| (section.name, section.elsewhere));
                let suggestion =
                    meant(&entry.key, known).unwrap_or_else(|| one_of(SECTIONS.iter().map(|known| known.name)));
                self.report.problem(entry.at, &join("", &entry.written), "there is no such key", Some(suggestion));
                continue;
            };
            self.section(section, entry);
        }
    }

    fn section(&mut self, section: &Section, entry: &Entry) {
        let path = join("", &entry.written);
        if !self.is_table(&entry.value, entry.at, &path) {
            return;
        }
        match section.form {
            Form::Plain => self.table(&entry.value, section.keys, Place::ServerOnly, &path),
            Form::Defaults => self.table(&entry.value, section.keys, Place::Everywhere, &path),
            Form::Named => {
                for named in entry.value.entries() {
                    let path = join(&path, &named.written);
                    if named.key.parse::<ServerName>().is_err() {
                        let suggestion = format!("call it `{}`", name_like(&named.key));
                        self.report.problem(named.at, &path, NameError.to_string(), Some(suggestion));
                    }
                    if self.is_table(&named.value, named.at, &path) {
                        self.table(&named.value, section.keys, Place::ServerOnly, &path);
                    }
                }
            }
        }
    }

    fn is_table(&mut self, node: &Node, at: usize, path: &str) -> bool {
        let is_table = matches!(node.content, Content::Table(_));
        if !is_table {
            let wanted = match self.ownership {
                Ownership::Kennel => "a table",
                Ownership::Foreign => "an object",
            };
            self.report.problem(at, path, format!("this is {}, and must be {wanted}", node.what()), None);
        }
        is_table
    }

    /// A table with known keys, all or those that may stand everywhere.
    fn table(&mut self, node: &Node, keys: &[Key], place: Place, path: &str) {
        for entry in node.entries() {
            let path = join(path, &entry.written);
            match keys.iter().find(|key| key.name == entry.key) {
                Some(key) if place == Place::Everywhere && key.place == Place::ServerOnly => {
                    self.report.problem(entry.at, &path, "says which server it is, and cannot be a default", None);
                }
                Some(key) => self.value(&entry.value, &key.kind, &path),
                None => {
                    let suggestion = meant(&entry.key, keys.iter().map(|key| (key.name, key.elsewhere)));
                    let suggestion = suggestion.unwrap_or_else(|| one_of(keys.iter().map(|key| key.name)));
                    self.report.problem(entry.at, &path, "there is no such key", Some(suggestion));
                }
            }
        }
    }

    fn value(&mut self, node: &Node, kind: &Kind, path: &str) {
        match kind {
            Kind::Boolean if node.boolean().is_none() => self.wrong(node, path, "true or false"),
            Kind::Boolean => {}
            Kind::Text => {
                self.text(node, path);
            }
            Kind::Template => self.template(node, path),
            Kind::Templates => self.list(node, path, Self::template),
            Kind::Texts => self.list(node, path, |checker, item, path| {
                checker.text(item, path);
            }),
            Kind::Patterns => self.list(node, path, Self::pattern),
            Kind::Count { least } => self.count(node, *least, path),
            Kind::Number { zero } => self.number(node, *zero, path),
            Kind::Size => self.size(node, path),
            Kind::Address => self.address(node, path),
            Kind::Choice(choices) => self.choice(node, choices, path),
            Kind::Choices(choices) => self.list(node, path, |checker, item, path| checker.choice(item, choices, path)),
            Kind::Value => self.text_or_reference(node, path),
            Kind::Variables => self.values(node, path, Holder::Variable),
            Kind::Headers => self.values(node, path, Holder::Header),
            Kind::ByTool(what) => self.by_tool(node, *what, path),
            Kind::Table(keys) => {
                if self.is_table(node, node.at, path) {
                    self.table(node, keys, Place::ServerOnly, path);
                }
            }
        }
    }

    fn wrong(&mut self, node: &Node, path: &str, wanted: &str) {
        self.report.problem(node.at, path, format!("this is {}, and must be {wanted}", node.what()), None);
    }

    /// Text that is there and can be given to a program.
    fn text<'n>(&mut self, node: &'n Node, path: &str) -> Option<&'n str> {
        let Some(text) = node.text() else {
            self.wrong(node, path, "text");
            return None;
        };
        if text.is_empty() {
            self.report.problem(node.at, path, "there is nothing in it", None);
            return None;
        }
        self.no_null(text, node.at, path).then_some(text)
    }

    fn no_null(&mut self, text: &str, at: usize, path: &str) -> bool {
        let fine = !text.contains('\0');
        if !fine {
            self.report.problem(at, path, "has a null character in it, which no program can be given", None);
        }
        fine
    }

    /// Text with variables; it may be empty, as an argument may.
    fn template(&mut self, node: &Node, path: &str) {
        let Some(text) = node.text() else {
            return self.wrong(node, path, "text");
        };
        self.no_null(text, node.at, path);
        if Template::parse(text).foreign().is_none() {
            return;
        }
        let said = "has a `${…}` in it that is not the name of a variable";
        match self.ownership {
            Ownership::Kennel => {
                let suggestion =
                    "write `${NAME}` or `${NAME:-default}`, or `$${` where it is meant as it is".to_owned();
                self.report.problem(node.at, path, said, Some(suggestion));
            }
            Ownership::Foreign => {
                let suggestion = "the server cannot be started before it is replaced".to_owned();
                self.report.warning(node.at, path, said, Some(suggestion));
            }
        }
    }

    fn list(&mut self, node: &Node, path: &str, mut each: impl FnMut(&mut Self, &Node, &str)) {
        let Content::List(items) = &node.content else {
            return self.wrong(node, path, "a list");
        };
        for (number, item) in items.iter().enumerate() {
            each(self, item, &format!("{path}[{number}]"));
        }
    }

    fn pattern(&mut self, node: &Node, path: &str) {
        if self.text(node, path).is_some_and(|text| text.len() > LONGEST_PATTERN) {
            self.report.problem(node.at, path, format!("is longer than {LONGEST_PATTERN} bytes"), None);
        }
    }

    fn count(&mut self, node: &Node, least: i64, path: &str) {
        match node.number().and_then(|number| number.whole) {
            Some(whole) if (least..=i64::from(u32::MAX)).contains(&whole) => {}
            Some(whole) => {
                let text = format!("{whole} must be from {least} to {}", u32::MAX);
                self.report.problem(node.at, path, text, None);
            }
            None => self.wrong(node, path, "a whole number"),
        }
    }

    fn number(&mut self, node: &Node, zero: Zero, path: &str) {
        let Some(number) = node.number() else {
            return self.wrong(node, path, "a number");
        };
        // More than a century is a mistake, and what is next to nothing would be rounded to nothing.
        let fits = (1e-6..=4e9).contains(&number.value) || (zero == Zero::Allowed && number.value == 0.0);
        if !fits {
            let wanted = match zero {
                Zero::Refused => "must be more than 0",
                Zero::Allowed => "must be 0 or more",
            };
            self.report.problem(node.at, path, format!("{} {wanted}, and not beyond all measure", number.value), None);
        }
    }

    fn size(&mut self, node: &Node, path: &str) {
        let fits = |bytes: u64| (1..=1 << 50).contains(&bytes);
        match (&node.content, size_of(node)) {
            (_, Some(size)) if fits(size.bytes()) => {}
            (_, Some(_)) => self.report.problem(node.at, path, "must be more than nothing and less than 1024T", None),
            (Content::Text(text), None) => {
                let suggestion = "write a number with K, M, G or T, such as \"512M\"".to_owned();
                self.report.problem(node.at, path, format!("`{}` is not a size", cut(text)), Some(suggestion));
            }
            (_, None) => self.wrong(node, path, "a size, such as \"512M\""),
        }
    }

    fn address(&mut self, node: &Node, path: &str) {
        let Some(text) = self.text(node, path) else { return };
        if text.parse::<SocketAddr>().is_err() {
            let suggestion = "write an address and a port, such as \"127.0.0.1:7330\"".to_owned();
            self.report.problem(node.at, path, format!("`{}` is no place to listen", cut(text)), Some(suggestion));
        }
    }

    fn choice(&mut self, node: &Node, choices: &[Choice], path: &str) {
        let Some(text) = self.text(node, path) else { return };
        if !choices.iter().any(|choice| choice.name == text) {
            let names = || choices.iter().map(|choice| choice.name);
            let suggestion = did_you_mean(text, names()).unwrap_or_else(|| one_of(names()));
            self.report.problem(node.at, path, format!("`{}` is not known here", cut(text)), Some(suggestion));
        }
    }
}
