//! Owns how values are taken out of a table that was checked before.

use crate::check::size_of;
use crate::pattern::Pattern;
use crate::template::Template;
use crate::tree::{Content, Node};
use crate::value::Value;
use kennel_box::Size;
use std::collections::BTreeMap;
use std::time::Duration;

/// The values of a table. What is not there, or was found to be wrong before, is `None` or empty.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(Option<&'a Node>);

impl<'a> Fields<'a> {
    pub(crate) fn of(table: Option<&'a Node>) -> Self {
        Self(table)
    }

    pub(crate) fn get(self, key: &str) -> Option<&'a Node> {
        self.0.and_then(|table| table.get(key))
    }

    pub(crate) fn table(self, key: &str) -> Self {
        Self(self.get(key))
    }

    pub(crate) fn boolean(self, key: &str) -> Option<bool> {
        self.get(key)?.boolean()
    }

    pub(crate) fn text(self, key: &str) -> Option<&'a str> {
        self.get(key)?.text()
    }

    pub(crate) fn texts(self, key: &str) -> Vec<String> {
        self.items(key).filter_map(Node::text).map(str::to_owned).collect()
    }

    pub(crate) fn template(self, key: &str) -> Option<Template> {
        self.text(key).map(Template::parse)
    }

    pub(crate) fn templates(self, key: &str) -> Vec<Template> {
        self.items(key).filter_map(Node::text).map(Template::parse).collect()
    }

    pub(crate) fn patterns(self, key: &str) -> Vec<Pattern> {
        self.items(key).filter_map(Node::text).map(Pattern::new).collect()
    }

    pub(crate) fn count(self, key: &str) -> Option<u32> {
        u32::try_from(self.get(key)?.number()?.whole?).ok()
    }

    pub(crate) fn number(self, key: &str) -> Option<f64> {
        Some(self.get(key)?.number()?.value)
    }

    pub(crate) fn seconds(self, key: &str) -> Option<Duration> {
        Duration::try_from_secs_f64(self.number(key)?).ok()
    }

    pub(crate) fn minutes(self, key: &str) -> Option<Duration> {
        Duration::try_from_secs_f64(self.number(key)? * 60.0).ok()
    }

    pub(crate) fn size(self, key: &str) -> Option<Size> {
        size_of(self.get(key)?)
    }

    pub(crate) fn by_name(self, key: &str) -> BTreeMap<String, String> {
        let entries = self.get(key).map(Node::entries).unwrap_or_default();
        entries.iter().filter_map(|entry| Some((entry.key.clone(), entry.value.text()?.to_owned()))).collect()
    }

    pub(crate) fn value(self, key: &str) -> Option<Value> {
        value(self.get(key)?)
    }

    pub(crate) fn values(self, key: &str) -> BTreeMap<String, Value> {
        let entries = self.get(key).map(Node::entries).unwrap_or_default();
        entries.iter().filter_map(|entry| Some((entry.key.clone(), value(&entry.value)?))).collect()
    }

    fn items(self, key: &str) -> impl Iterator<Item = &'a Node> {
        self.get(key).map(Node::items).unwrap_or_default().iter()
    }
}

/// What a variable or a header is set to.
fn value(node: &Node) -> Option<Value> {
    match &node.content {
        Content::Text(text) => Some(Value::Text(Template::parse(text))),
        // A number is what it looks like; there are no variables in it.
        Content::Number(number) => Some(Value::Text(Template::parse(&number.spelled))),
        Content::Boolean(boolean) => Some(Value::Text(Template::parse(if *boolean { "true" } else { "false" }))),
        Content::Table(_) => {
            let fields = Fields::of(Some(node));
            let from_env = || fields.text("from-env").map(|name| Value::FromEnv(name.to_owned()));
            let from_file = || fields.template("from-file").map(Value::FromFile);
            let from_keyring = || fields.text("from-keyring").and_then(Value::keyring);
            let from_command = || Some(Value::FromCommand(fields.texts("from-command")));
            let secret = from_env().or_else(from_file).or_else(from_keyring).or_else(from_command)?;
            Some(match fields.text("prefix") {
                Some(prefix) => Value::Prefixed { prefix: prefix.to_owned(), secret: Box::new(secret) },
                None => secret,
            })
        }
        Content::List(_) | Content::Other(_) => None,
    }
}
