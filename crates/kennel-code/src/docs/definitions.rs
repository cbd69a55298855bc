//! The tools of code mode as clients are told of them. Every word is read by a model in every session.

use crate::settings::NotebookLimits;
use serde_json::Value;
use std::time::Duration;

/// The name of the tool that runs a cell.
pub const RUN_PYTHON: &str = "run_python";

/// The name of the tool that waits for a cell.
pub const WAIT_PYTHON: &str = "wait_python";

/// The name of the tool that finds tools.
pub const SEARCH_TOOLS: &str = "search_tools";

/// The name of the tool that shows how tools are called.
pub const DESCRIBE_TOOLS: &str = "describe_tools";

/// The definition of [`RUN_PYTHON`], as JSON, without the limits of its times.
const RUN_PYTHON_DEFINITION: &str = concat!(
    r#"{"name":"run_python","title":"Run Python","description":"Runs a cell in a persistent Python notebook without network. "#,
    r#"Tools of all servers are async functions: `await mcp_SERVER.TOOL(...)`; find them with search_tools. "#,
    r#"Results are plain Python objects; several calls at once: asyncio.gather. "#,
    r#"Returns what is printed and the last expression, so filter in code. Manual: resource kennel://code/capabilities","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""code":{"type":"string","description":"Top-level await works; variables stay for later cells"},"#,
    r#""servers":{"type":"array","items":{"type":"string"},"description":"The only servers this cell may call"},"#,
    r#""timeout":{"type":"number","description":"Seconds"},"#,
    r#""session":{"type":"string","description":"Another notebook, by any name. Without sessions of MCP each cell has a new one, "#,
    r#"unless it is named; the result says its name"},"#,
    r#""format":{"type":"string","enum":["compact","json","toon"],"default":"compact"}},"required":["code"]},"#,
    r#""annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}}"#
);

/// The definition of [`WAIT_PYTHON`], as JSON, without the limits of its times.
const WAIT_PYTHON_DEFINITION: &str = concat!(
    r#"{"name":"wait_python","title":"Wait for Python","description":"Waits for a cell that is still running, "#,
    r#"and returns its new output.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""cell":{"type":"string","description":"Its id from run_python"},"#,
    r#""timeout":{"type":"number","description":"Seconds"},"#,
    r#""cancel":{"type":"boolean","default":false,"description":"Interrupt it; variables stay"}},"required":["cell"]},"#,
    r#""annotations":{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}}"#
);

/// The definition of [`SEARCH_TOOLS`], as JSON.
const SEARCH_TOOLS_DEFINITION: &str = concat!(
    r#"{"name":"search_tools","title":"Search tools","description":"Finds tools to call from run_python by what they do, "#,
    r#"best match first.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""query":{"type":"string","description":"What you want to do, in a few words"},"#,
    r#""limit":{"type":"integer","maximum":50,"default":5},"#,
    r#""server":{"type":"string","description":"Only of this server"},"#,
    r#""detail":{"type":"string","enum":["names","signatures","full"],"default":"signatures"}},"required":["query"]},"#,
    r#""annotations":{"readOnlyHint":true,"openWorldHint":false}}"#
);

/// The definition of [`DESCRIBE_TOOLS`], as JSON.
const DESCRIBE_TOOLS_DEFINITION: &str = concat!(
    r#"{"name":"describe_tools","title":"Describe tools","description":"Shows how tools are called: arguments, types, docs.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""tools":{"type":"array","items":{"type":"string"},"description":"server.tool, or server.* for all of a server"},"#,
    r#""detail":{"type":"string","enum":["names","signatures","full","schema"],"default":"full"}},"required":["tools"]},"#,
    r#""annotations":{"readOnlyHint":true,"openWorldHint":false}}"#
);

const DEFINITIONS: [&str; 4] =
    [RUN_PYTHON_DEFINITION, WAIT_PYTHON_DEFINITION, SEARCH_TOOLS_DEFINITION, DESCRIBE_TOOLS_DEFINITION];

/// All definitions in the order in which they are listed, with the times that cells have here.
#[must_use]
pub fn definitions(limits: &NotebookLimits) -> Vec<Value> {
    let mut definitions: Vec<Value> =
        DEFINITIONS.iter().filter_map(|definition| serde_json::from_str(definition).ok()).collect();
    for definition in &mut definitions {
        let is_run = definition["name"] == RUN_PYTHON;
        if let Some(timeout) = definition.pointer_mut("/inputSchema/properties/timeout") {
            timeout["maximum"] = seconds(limits.most_timeout);
            if is_run {
                timeout["default"] = seconds(limits.timeout);
            }
        }
    }
    definitions
}

/// A time in seconds, as a whole number where it is one.
fn seconds(time: Duration) -> Value {
    if time.subsec_nanos() == 0 { time.as_secs().into() } else { time.as_secs_f64().into() }
}

#[cfg(test)]
#[path = "definitions_tests.rs"]
mod tests;
