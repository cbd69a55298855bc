use super::*;
use crate::search::{CallArguments, SearchArguments};
use kennel_wire::RawJson;
use serde_json::Value;

#[test]
fn definitions_are_tools_as_servers_list_them() {
    for (name, definition) in [(SEARCH_TOOLS, SEARCH_TOOLS_DEFINITION), (CALL_TOOL, CALL_TOOL_DEFINITION)] {
        let tool: Value = serde_json::from_str(definition).expect("JSON");
        assert_eq!(tool["name"], name);
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(tool["description"].as_str().is_some_and(|text| !text.is_empty()));
        let required = tool["inputSchema"]["required"].as_array().expect("names");
        assert!(required.iter().all(|name| tool["inputSchema"]["properties"][name.as_str().unwrap()].is_object()));
    }
}

#[test]
fn what_the_definitions_say_of_bounds_and_defaults_is_so() {
    let tool: Value = serde_json::from_str(SEARCH_TOOLS_DEFINITION).expect("JSON");
    let limit = &tool["inputSchema"]["properties"]["limit"];
    let read = |json: String| SearchArguments::read(Some(&RawJson::parse(json).expect("JSON"))).expect("arguments");
    assert_eq!(limit["default"], read(r#"{"query":"x"}"#.to_owned()).limit);
    assert_eq!(limit["maximum"], read(r#"{"query":"x","limit":1000}"#.to_owned()).limit);
    for detail in tool["inputSchema"]["properties"]["detail"]["enum"].as_array().expect("names") {
        read(format!(r#"{{"query":"x","detail":{detail}}}"#));
    }
    let call = RawJson::parse(r#"{"name":"x"}"#).expect("JSON");
    assert!(CallArguments::read(Some(&call)).is_ok());
}
