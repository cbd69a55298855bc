//! Owns the prompts.

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::content::{image_item, resource_item, text_item};
use crate::incoming::Failure;

/// The result of `prompts/list`.
pub(crate) fn list() -> String {
    json!({"prompts": [
        prompt("test_simple_prompt", "A prompt without arguments", &[]),
        prompt("test_prompt_with_arguments", "A prompt with two arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", "A prompt that embeds a resource", &["resourceUri"]),
        prompt("test_prompt_with_image", "A prompt with a picture", &[]),
    ]})
    .to_string()
}

/// The result of `prompts/get`.
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
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Ok(json!({ "messages": messages }).to_string())
}

fn prompt(name: &str, description: &str, arguments: &[&str]) -> Value {
    let arguments: Vec<Value> = (arguments.iter())
        .map(|name| json!({"name": name, "description": format!("The argument {name}"), "required": true}))
        .collect();
    json!({"name": name, "description": description, "arguments": arguments})
}
