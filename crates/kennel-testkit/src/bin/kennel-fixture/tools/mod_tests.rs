//! The list of tools as a client gets it.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_tool_has_a_name_of_its_own_a_description_and_a_schema_of_an_object() {
    let mut names = BTreeSet::new();
    for tool in all() {
        assert!(names.insert(tool.name), "{} is there twice", tool.name);
        let json: Value = serde_json::from_str(&tool.to_json(Era::Legacy)).unwrap();
        assert_eq!(json["name"], tool.name);
        assert!(!json["description"].as_str().unwrap().is_empty(), "{}", tool.name);
        assert_eq!(json["inputSchema"]["type"], "object", "{}", tool.name);
    }
}

#[test]
fn what_a_tool_requires_is_among_its_properties() {
    for tool in all() {
        let schema: Value = serde_json::from_str(tool.schema).unwrap();
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{}: {required}", tool.name);
        }
    }
}
