//! Owns the list of tools and what each has in `tools/list`; the modules own what they do.

mod annotated;
mod client;
mod conformance;
pub(crate) mod echo;
mod elicitation;
mod files;
mod held;
mod input_required;
mod process;
pub(crate) mod sleeper;
mod tasks;
mod traffic;
mod triggers;

use serde_json::Value;

use crate::calls::Work;
use crate::dialogue::Question;
use crate::era::Era;

/// A schema without properties.
const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// One line.
    description: &'static str,
    /// The schema of its arguments, as JSON.
    schema: &'static str,
    /// The schema of its structured result, as JSON.
    output: Option<&'static str>,
    /// Its annotations, as JSON.
    annotations: Option<&'static str>,
    /// Runs it, in a thread of its own.
    pub(crate) run: Work,
    /// Whether it runs as a task, where there are any.
    pub(crate) task: TaskSupport,
}

/// Whether a tool runs as a task.
#[derive(Clone, Copy)]
pub(crate) enum TaskSupport {
    Never,
    /// If the client can.
    Optional,
    /// Not for a client that cannot.
    Required,
    /// The same, but only when this is answered.
    RequiredAfter(fn() -> Question),
}

/// Every tool.
pub(crate) fn all() -> impl Iterator<Item = &'static Tool> {
    [
        conformance::TOOLS,
        elicitation::TOOLS,
        echo::TOOLS,
        traffic::TOOLS,
        process::TOOLS,
        client::TOOLS,
        triggers::TOOLS,
        annotated::TOOLS,
        files::TOOLS,
        held::TOOLS,
        input_required::TOOLS,
    ]
    .into_iter()
    .flatten()
}

/// The tools that are there only with `--tasks`.
pub(crate) fn of_tasks() -> &'static [Tool] {
    tasks::TOOLS
}

/// The tool of that name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

impl Tool {
    const fn new(name: &'static str, description: &'static str, schema: &'static str, run: Work) -> Self {
        Self { name, description, schema, output: None, annotations: None, run, task: TaskSupport::Never }
    }

    const fn with_task(self, task: TaskSupport) -> Self {
        Self { task, ..self }
    }

    const fn with_output(self, schema: &'static str) -> Self {
        Self { output: Some(schema), ..self }
    }

    /// As it appears in `tools/list`. Only a legacy tool says there that it can run as a task.
    pub(crate) fn to_json(&self, era: Era) -> String {
        let output = self.output.map(|json| format!(r#","outputSchema":{json}"#)).unwrap_or_default();
        let execution = match (era, self.task) {
            (Era::Legacy, TaskSupport::Optional) => r#","execution":{"taskSupport":"optional"}"#,
            (Era::Legacy, TaskSupport::Required) => r#","execution":{"taskSupport":"required"}"#,
            (Era::Legacy, TaskSupport::Never | TaskSupport::RequiredAfter(_)) | (Era::Modern, _) => "",
        };
        let annotations = self.annotations.map(|json| format!(r#","annotations":{json}"#)).unwrap_or_default();
        let (name, description) = (Value::from(self.name), Value::from(self.description));
        format!(
            r#"{{"name":{name},"description":{description},"inputSchema":{}{output}{annotations}{execution}}}"#,
            self.schema
        )
    }
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
