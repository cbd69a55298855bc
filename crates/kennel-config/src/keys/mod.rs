//! Owns the one table of all keys: what the file may say, what each key means, and what it counts as when it is silent.
//!
//! Reading, suggestions and the JSON schema all go by this table.

mod gateway;
mod server;

pub(crate) use gateway::{CODE, GATEWAY, VIEW};
pub(crate) use server::SERVER;

/// A key.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kind: Kind,
    /// What counts where nothing is said, as JSON; `None` where that is nothing or depends.
    pub(crate) default: Option<&'static str>,
    /// How it may look, as JSON.
    pub(crate) example: &'static str,
    /// What other programs call it.
    pub(crate) elsewhere: &'static [&'static str],
    pub(crate) place: Place,
}

/// Where a key may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Everywhere that its table may.
    Everywhere,
    /// With a server, but not in `[defaults]`: it says which server this is.
    ServerOnly,
}

/// What a key takes.
pub(crate) enum Kind {
    Boolean,
    /// Text as it is.
    Text,
    /// Text with `${NAME}` in it.
    Template,
    /// A list of such.
    Templates,
    /// A list of text.
    Texts,
    /// A list of patterns with `*` and `?`.
    Patterns,
    /// A whole number.
    Count {
        least: i64,
    },
    /// A number above nothing, or nothing as well.
    Number {
        zero: Zero,
    },
    /// `512M`.
    Size,
    /// `127.0.0.1:7330`.
    Address,
    Choice(&'static [Choice]),
    /// A list of choices.
    Choices(&'static [Choice]),
    /// Text with `${NAME}` in it, or where a secret is kept.
    Value,
    /// Names of variables with what they are set to.
    Variables,
    /// Names of headers with what they are set to.
    Headers,
    /// Names of tools with text for each.
    ByTool(ByTool),
    Table(&'static [Key]),
}

/// Whether nothing is a number that makes sense.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zero {
    Refused,
    Allowed,
}

/// What is said about each tool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByTool {
    /// Another name.
    Name,
    /// Another description.
    Description,
}

/// One of a few words.
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

/// A key that is silent by default and may stand everywhere.
const fn key(name: &'static str, kind: Kind, example: &'static str, about: &'static str) -> Key {
    Key { name, about, kind, default: None, example, elsewhere: &[], place: Place::Everywhere }
}

const fn choice(name: &'static str, about: &'static str) -> Choice {
    Choice { name, about }
}

impl Key {
    const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    const fn known_as(self, elsewhere: &'static [&'static str]) -> Self {
        Self { elsewhere, ..self }
    }

    const fn server_only(self) -> Self {
        Self { place: Place::ServerOnly, ..self }
    }
}

/// The tables of the file: each key, what it means, and whether it is a table of named tables.
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) keys: &'static [Key],
    pub(crate) form: Form,
    pub(crate) elsewhere: &'static [&'static str],
}

/// What is below the name of a section.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Its keys.
    Plain,
    /// Its keys, but for those that say which server it is.
    Defaults,
    /// Names, and below them the keys.
    Named,
}

/// What is at the top of the file.
pub(crate) const SECTIONS: [Section; 5] = [
    Section {
        name: "servers",
        about: "The MCP servers by their names, which are in URLs and in names of tools.",
        keys: &SERVER,
        form: Form::Named,
        elsewhere: &["mcpServers", "mcp_servers", "mcp", "context_servers", "server"],
    },
    Section {
        name: "defaults",
        about: "What counts for every server that says nothing else.",
        keys: &SERVER,
        form: Form::Defaults,
        elsewhere: &["default"],
    },
    Section {
        name: "views",
        about: "Selections of servers and tools, each with an endpoint of its own.",
        keys: &VIEW,
        form: Form::Named,
        elsewhere: &["view", "profiles", "groups"],
    },
    Section {
        name: "gateway",
        about: "How clients reach Kennel.",
        keys: &GATEWAY,
        form: Form::Plain,
        elsewhere: &["serve", "listen"],
    },
    Section {
        name: "code",
        about: "How Python is run that calls tools.",
        keys: &CODE,
        form: Form::Plain,
        elsewhere: &["code-mode", "python"],
    },
];

#[cfg(test)]
#[path = "../keys_tests.rs"]
mod tests;
