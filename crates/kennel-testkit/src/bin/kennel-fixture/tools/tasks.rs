//! Owns the tools that the conformance suite calls as tasks; without the extension those that can run as any other tool.

use std::time::Duration;

use serde_json::Value;

use super::{NO_ARGUMENTS, TaskSupport, Tool};
use crate::content;
use crate::dialogue::{Question, Sealing, in_words};
use crate::incoming::Failure;

const NAME: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
const SECONDS: &str = r#"{"type":"object","properties":{"seconds":{"type":"integer"}}}"#;
const ANYTHING: &str = r#"{"type":"object"}"#;

/// How long a job takes that does nothing.
const WORK: Duration = Duration::from_millis(200);

pub(super) const TOOLS: &[Tool] = &[
    Tool::new("greet", "Greets at once, and never as a task", NAME, |call| {
        Ok(content::text(format!("Hello, {}!", call.arguments.text("name")?)))
    }),
    Tool::new("slow_compute", "Answers after `seconds`", SECONDS, |call| {
        let seconds = call.arguments.number_or("seconds", 1)?;
        call.wait(Duration::from_secs(seconds))?;
        Ok(content::text(format!("computed for {seconds} s")))
    })
    .with_task(TaskSupport::Optional),
    Tool::new("failing_job", "Fails as a tool, and only as a task", NO_ARGUMENTS, |call| {
        call.wait(WORK)?;
        Ok(content::tool_error("The job has failed"))
    })
    .with_task(TaskSupport::Required),
    Tool::new("protocol_error_job", "Fails by an error of the protocol", NO_ARGUMENTS, |call| {
        call.wait(WORK)?;
        Err(Failure::internal("the job broke down").into())
    })
    .with_task(TaskSupport::Optional),
    Tool::new("confirm_delete", "Asks the user before it deletes nothing", ANYTHING, |call| {
        call.require(&["elicitation"])?;
        let answer = call.ask(Question::form("confirm", "Delete it?", "confirm"), Sealing::WhenNeeded)?;
        Ok(content::text(format!("confirmed by {}", in_words(&answer))))
    })
    .with_task(TaskSupport::Optional),
    Tool::new("multi_input", "Asks the user two things at once", ANYTHING, |call| {
        call.require(&["elicitation"])?;
        let questions = [Question::form("first", "First?", "value"), Question::form("second", "Second?", "value")];
        let answers = call.ask_all(&questions, Sealing::WhenNeeded)?;
        let items: Vec<Value> = answers.iter().map(|answer| content::text_item(&in_words(answer))).collect();
        Ok(content::contents(&items))
    })
    .with_task(TaskSupport::Optional),
    Tool::new("test_tool_with_task", "Asks the user for a name, and then becomes a task", NO_ARGUMENTS, |call| {
        let name = call.ask_for_text(user_name(), "/content/name", Sealing::Always)?;
        call.wait(WORK)?;
        Ok(content::text(format!("{name} was served by a task")))
    })
    .with_task(TaskSupport::RequiredAfter(user_name)),
];

fn user_name() -> Question {
    Question::form("user_name", "What is your name?", "name")
}
