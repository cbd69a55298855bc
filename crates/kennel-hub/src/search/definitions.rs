//! The two tools that stand for all others where a list of them would be too long, as clients are told of them.

/// The name of the tool that searches.
pub const SEARCH_TOOLS: &str = "search_tools";

/// The name of the tool that calls what was found.
pub const CALL_TOOL: &str = "call_tool";

/// The definition of [`SEARCH_TOOLS`], as JSON.
pub const SEARCH_TOOLS_DEFINITION: &str = concat!(
    r#"{"name":"search_tools","title":"Search tools","description":"Finds tools of all connected servers by what they do, "#,
    r#"best match first. Say in a few words what you want to do, then call one of the tools with call_tool.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""query":{"type":"string","description":"What you want to do, e.g. \"read a file\" or \"send an email\""},"#,
    r#""limit":{"type":"integer","minimum":1,"maximum":50,"default":8,"description":"How many tools to return"},"#,
    r#""server":{"type":"string","description":"Only tools of this server"},"#,
    r#""detail":{"type":"string","enum":["names","summary","full"],"default":"summary","description":"#,
    r#""What to return of each: names only, a line with its arguments, or its whole schema"}},"#,
    r#""required":["query"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}}"#
);

/// The definition of [`CALL_TOOL`], as JSON.
pub const CALL_TOOL_DEFINITION: &str = concat!(
    r#"{"name":"call_tool","title":"Call a tool","description":"Calls a tool that search_tools found, and returns its result.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""name":{"type":"string","description":"The name as search_tools returned it"},"#,
    r#""arguments":{"type":"object","description":"The tool's arguments, as its signature or schema says"}},"#,
    r#""required":["name"]}}"#
);

#[cfg(test)]
#[path = "definitions_tests.rs"]
mod tests;
