//! Owns how tools are read from a server's list: what a person needs of each, and each as the server spelled it.

use crate::commands::asking::endpoint::{AskError, Endpoint};
use kennel_redact::one_line;
use kennel_wire::RawJson;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// How many pages a list may have: a server that always has one more would keep the command for ever.
const MOST_PAGES: usize = 1000;

/// The tools of a server.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Those that can be read.
    pub(crate) tools: Vec<Tool>,
    /// All of them, as spelled.
    pub(crate) raw: Vec<String>,
    /// What is wrong with those that cannot be read.
    pub(crate) problems: Vec<String>,
}

/// One tool.
#[derive(Debug)]
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: String,
    /// What it does, or its title.
    pub(crate) description: String,
    /// The arguments without which it cannot be called.
    pub(crate) required: Vec<String>,
    /// The schemas of the arguments, in the order of the server.
    pub(crate) properties: Vec<(String, Value)>,
    /// What becomes of other arguments.
    pub(crate) others: Others,
    /// The schema of all arguments.
    pub(crate) schema: Value,
}

/// What becomes of arguments that a tool does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// It wants them: it names none, or says so.
    Taken,
    /// They are most likely typing errors.
    Unknown,
}

impl Listing {
    /// Asks for all pages.
    pub(crate) async fn ask(endpoint: &Endpoint) -> Result<Self, AskError> {
        let mut listing = Self::default();
        let mut params = RawJson::empty_object();
        for _ in 0..MOST_PAGES {
            let page = endpoint.ask("tools/list", &params, &mut |_| {}).await?;
            let cursor = listing.add(page.as_bytes()).map_err(|error| AskError::List(error.to_string()))?;
            match cursor.as_deref().map(next) {
                None => return Ok(listing),
                Some(further) if further == params => break,
                Some(further) => params = further,
            }
        }
        Err(AskError::List("it has no last page".to_owned()))
    }

    /// Takes one page in, and returns where the next one is, as spelled.
    fn add(&mut self, page: &[u8]) -> Result<Option<String>, serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
            #[serde(borrow)]
            next_cursor: Option<&'a RawValue>,
        }
        let page: Page<'_> = serde_json::from_slice(page)?;
        for raw in page.tools {
            match Tool::read(raw.get()) {
                Ok(tool) => self.tools.push(tool),
                Err(error) => {
                    let head: String = raw.get().chars().take(60).collect();
                    self.problems.push(format!("a tool of the list cannot be read: {error}: {}", one_line(&head)));
                }
            }
            self.raw.push(raw.get().to_owned());
        }
        Ok(page.next_cursor.map(RawValue::get).filter(|cursor| *cursor != "null").map(str::to_owned))
    }

    /// The tool of this name.
    pub(crate) fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The list as one JSON array, each tool as spelled.
    pub(crate) fn json(&self) -> String {
        format!("[{}]", self.raw.join(","))
    }
}

fn next(cursor: &str) -> RawJson {
    // It was scanned with the page, so that it is valid.
    RawJson::parse(format!("{{\"cursor\":{cursor}}}")).unwrap_or_else(|_| RawJson::empty_object())
}

impl Tool {
    /// Reads a tool from its JSON.
    pub(crate) fn read(json: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Listed<'a> {
            name: String,
            #[serde(default)]
            title: Option<String>,
            #[serde(default)]
            description: Option<String>,
            #[serde(borrow, default)]
            input_schema: Option<&'a RawValue>,
        }
        #[derive(Deserialize, Default)]
        struct Arguments {
            #[serde(default)]
            properties: Option<Ordered>,
        }
        let listed: Listed<'_> = serde_json::from_str(json)?;
        let schema = listed.input_schema.map_or("{}", RawValue::get);
        let properties = serde_json::from_str::<Arguments>(schema).unwrap_or_default().properties;
        let schema: Value = serde_json::from_str(schema)?;
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let open = !matches!(schema["additionalProperties"], Value::Null | Value::Bool(false));
        let others = if properties.is_none() || open || schema["patternProperties"].is_object() {
            Others::Taken
        } else {
            Others::Unknown
        };
        let described = listed.description.filter(|text| !text.trim().is_empty());
        Ok(Self {
            name: listed.name,
            description: described.or(listed.title).unwrap_or_default(),
            required: required.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            properties: properties.unwrap_or_default().0,
            others,
            schema,
        })
    }

    /// The names of its arguments: first those that it needs.
    pub(crate) fn arguments(&self) -> Vec<(&str, bool)> {
        let is_required = |name: &str| self.required.iter().any(|required| required == name);
        let required = self.required.iter().map(|name| (name.as_str(), true));
        let names = self.properties.iter().map(|(name, _)| name.as_str());
        required.chain(names.filter(|name| !is_required(name)).map(|name| (name, false))).collect()
    }
}

/// The members of an object in their order.
#[derive(Debug, Default)]
struct Ordered(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Ordered;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Ordered(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
