//! Owns the list of tools and what each has in `tools/list`; the modules own what they do.

mod annotated;
mod client;
mod conformance;
pub(crate) mod echo;
mod elicitation;
mod files;
mod input_required;
mod process;
pub(crate) mod sleeper;
mod traffic;
mod triggers;

use serde_json::Value;

use crate::calls::Work;

/// A schema without properties.
const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// One line.
    description: &'static str,
    /// The schema of its arguments, as JSON.
    schema: &'static str,
    /// Its annotations, as JSON.
    annotations: Option<&'static str>,
    /// Runs it, in a thread of its own.
    pub(crate) run: Work,
}

/// Every tool.
pub(crate) fn all() -> impl Iterator<Item = &'static Tool> {
    [
        conformance::TOOLS,
        elicitation::TOOLS,
        input_required::TOOLS,
        echo::TOOLS,
        traffic::TOOLS,
        process::TOOLS,
        client::TOOLS,
        triggers::TOOLS,
        annotated::TOOLS,
        files::TOOLS,
    ]
    .into_iter()
    .flatten()
}

/// The tool of that name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

impl Tool {
    const fn new(name: &'static str, description: &'static str, schema: &'static str, run: Work) -> Self {
        Self { name, description, schema, annotations: None, run }
    }

    /// As it appears in `tools/list`.
    pub(crate) fn to_json(&self) -> String {
        let annotations = self.annotations.map(|json| format!(r#","annotations":{json}"#)).unwrap_or_default();
        let (name, description) = (Value::from(self.name), Value::from(self.description));
        format!(r#"{{"name":{name},"description":{description},"inputSchema":{}{annotations}}}"#, self.schema)
    }
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
