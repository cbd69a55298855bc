use super::*;
use crate::docs::{DescribeArguments, SearchArguments};
use kennel_wire::RawJson;
use serde_json::{Value, json};

fn definitions() -> impl Iterator<Item = Value> {
    super::definitions(&NotebookLimits::default()).into_iter()
}

#[test]
fn definitions_are_tools_as_servers_list_them() {
    let names: Vec<Value> = definitions().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, [RUN_PYTHON, WAIT_PYTHON, SEARCH_TOOLS, DESCRIBE_TOOLS]);
    for tool in definitions() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        for name in tool["inputSchema"]["required"].as_array().expect("names") {
            assert!(tool["inputSchema"]["properties"][name.as_str().expect("a name")].is_object(), "{tool}");
        }
    }
}

#[test]
fn what_they_say_of_bounds_and_defaults_is_so() {
    let tool = definitions().find(|tool| tool["name"] == SEARCH_TOOLS).expect("a tool");
    let read = |arguments: Value| {
        SearchArguments::read(Some(&RawJson::parse(arguments.to_string()).expect("JSON"))).expect("arguments")
    };
    let properties = &tool["inputSchema"]["properties"];
    assert_eq!(properties["limit"]["default"], read(json!({"query": "x"})).limit);
    assert_eq!(properties["limit"]["maximum"], read(json!({"query": "x", "limit": 1000})).limit);
    let default = read(json!({"query": "x", "detail": properties["detail"]["default"]})).detail;
    assert_eq!(default, read(json!({"query": "x"})).detail);
    for detail in properties["detail"]["enum"].as_array().expect("words") {
        read(json!({"query": "x", "detail": detail}));
    }

    let tool = definitions().find(|tool| tool["name"] == DESCRIBE_TOOLS).expect("a tool");
    let detail = &tool["inputSchema"]["properties"]["detail"];
    let read = |arguments: Value| {
        DescribeArguments::read(Some(&RawJson::parse(arguments.to_string()).expect("JSON"))).expect("arguments")
    };
    let default = read(json!({"tools": ["a.b"], "detail": detail["default"]}));
    assert_eq!(default, read(json!({"tools": ["a.b"]})));
    for detail in detail["enum"].as_array().expect("words") {
        read(json!({"tools": ["a.b"], "detail": detail}));
    }
}

#[test]
fn all_four_are_short() {
    let bytes: usize = definitions().map(|definition| definition.to_string().len()).sum();
    assert!(bytes <= 3 * 1024, "{bytes}");
}

#[test]
fn times_are_those_of_the_limits() {
    let (timeout, most_timeout) = (Duration::from_millis(1500), Duration::from_mins(5));
    let limits = NotebookLimits { timeout, most_timeout, ..NotebookLimits::default() };
    let timeout = |name: &str| {
        let tools = super::definitions(&limits);
        let tool = tools.into_iter().find(|tool| tool["name"] == name).expect("a tool");
        tool["inputSchema"]["properties"]["timeout"].clone()
    };
    assert_eq!(
        timeout(RUN_PYTHON),
        json!({ "type": "number", "maximum": 300, "default": 1.5, "description": "Seconds" })
    );
    assert_eq!(timeout(WAIT_PYTHON), json!({ "type": "number", "maximum": 300, "description": "Seconds" }));
}
