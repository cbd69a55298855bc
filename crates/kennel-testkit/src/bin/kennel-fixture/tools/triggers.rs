//! Owns the tools that make the server say that something has changed.

use serde_json::Value;

use super::{NO_ARGUMENTS, Tool};
use crate::content;
use crate::incoming::Failure;

const WHAT: &str = r#"{"type":"object","properties":{"what":{"type":"string","enum":["tools","resources","prompts"]}},"required":["what"]}"#;
const URI: &str = r#"{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"]}"#;
const NAME: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new("trigger_list_changed", "Says that the list of tools, resources or prompts has changed", WHAT, |call| {
        let what = call.arguments.text("what")?;
        if !["tools", "resources", "prompts"].contains(&what) {
            return Err(Failure::invalid_params(format_args!("there is no list of `{what}`")).into());
        }
        call.server.list_changed(what);
        Ok(content::text(format!("said that the list of {what} has changed")))
    }),
    Tool::new("test_trigger_tool_change", "Changes the list of tools, and says so", NO_ARGUMENTS, |call| {
        call.server.change_tools();
        Ok(content::text("changed the list of tools"))
    }),
    Tool::new("test_trigger_prompt_change", "Changes the list of prompts, and says so", NO_ARGUMENTS, |call| {
        call.server.change_prompts();
        Ok(content::text("changed the list of prompts"))
    }),
    Tool::new("end_subscriptions", "Ends every stream of changes; a legacy client has none", NO_ARGUMENTS, |call| {
        let ended = call.server.listeners.end(&call.server.output);
        Ok(content::text(format!("ended {ended}")))
    }),
    Tool::new("trigger_resource_updated", "Says that `uri` has changed, if it is subscribed to", URI, |call| {
        let said = call.server.resource_updated(call.arguments.text("uri")?);
        Ok(content::text(if said { "sent" } else { "not subscribed" }))
    }),
    Tool::new("add_tool", "Adds a tool to the list, and says that it has changed", NAME, |call| {
        let name = call.arguments.text("name")?;
        if call.server.catalog.find(name).is_some() || !call.server.catalog.add(name) {
            return Ok(content::tool_error(format!("{} cannot be added", Value::from(name))));
        }
        call.server.list_changed("tools");
        Ok(content::text(format!("added {name}")))
    }),
];
