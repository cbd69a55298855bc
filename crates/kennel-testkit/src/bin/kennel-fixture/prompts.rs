//! Owns the prompts.

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::calls::Work;
use crate::content::{image_item, resource_item, text_item};
use crate::dialogue::{Question, Sealing};
use crate::incoming::Failure;

/// The prompt that asks.
const ASKING: &str = "test_input_required_result_prompt";

/// The result of `prompts/list` after so many changes.
pub(crate) fn list(changes: u64) -> String {
    let simple = match changes {
        0 => "A prompt without arguments".to_owned(),
        changes => format!("A prompt without arguments, changed {changes} times"),
    };
    json!({"prompts": [
        prompt("test_simple_prompt", &simple, &[]),
        prompt("test_prompt_with_arguments", "A prompt with two arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", "A prompt that embeds a resource", &["resourceUri"]),
        prompt("test_prompt_with_image", "A prompt with a picture", &[]),
        prompt(ASKING, "A prompt that asks the user for its context", &[]),
    ]})
    .to_string()
}

/// What makes a prompt that asks the client first.
pub(crate) fn asking(name: &str) -> Option<Work> {
    (name == ASKING).then_some(|call| {
        call.require(&["elicitation"])?;
        let question = Question::form("user_context", "What context should the prompt use?", "context");
        let context = call.ask_for_text(question, "/content/context", Sealing::WhenNeeded)?;
        Ok(messages(vec![text_item(&format!("Prompt with context: {context}"))]))
    })
}

/// The result of `prompts/get` for the others.
pub(crate) fn get(name: &str, arguments: &Arguments) -> Result<String, Failure> {
    let contents = match name {
        "test_simple_prompt" => vec![text_item("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (arguments.text("arg1")?, arguments.text("arg2")?);
            vec![text_item(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            resource_item(arguments.text("resourceUri")?, "text/plain", "Embedded resource content for testing."),
            text_item("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image_item(), text_item("Please analyze the image above.")],
        _ => return Err(Failure::invalid_params(format_args!("there is no prompt `{name}`"))),
    };
    Ok(messages(contents))
}

fn messages(contents: Vec<Value>) -> String {
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    json!({ "messages": messages }).to_string()
}

fn prompt(name: &str, description: &str, arguments: &[&str]) -> Value {
    let arguments: Vec<Value> = (arguments.iter())
        .map(|name| json!({"name": name, "description": format!("The argument {name}"), "required": true}))
        .collect();
    json!({"name": name, "description": description, "arguments": arguments})
}
