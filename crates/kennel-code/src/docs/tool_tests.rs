use super::*;

fn tool(json: &str) -> Tool {
    Tool::read(&RawJson::parse(json.to_owned()).expect("JSON"))
}

fn signature_of(schema: &str) -> String {
    tool(&format!(r#"{{"name":"x","inputSchema":{schema}}}"#)).signature
}

#[test]
fn signatures_name_what_must_be_given_first() {
    for (schema, wanted) in [
        (
            r#"{"type":"object","properties":{"head":{"type":"integer"},"path":{"type":"string"}},"required":["path"]}"#,
            "(path: str, *, head: int | None = None)",
        ),
        (
            r#"{"properties":{"n":{"type":"number","default":3},"dry":{"type":"boolean","default":false}}}"#,
            "(*, n: float = 3, dry: bool = False)",
        ),
        (r#"{"properties":{"s":{"type":"string","default":null},"a":{}}}"#, "(*, s: str | None = None, a: Any = None)"),
        (r#"{"type":"object","properties":{}}"#, "()"),
        (r#"{"type":"object","additionalProperties":false}"#, "()"),
        (r#"{"type":"object"}"#, "(**arguments: Any)"),
        (r#"{"type":"object","additionalProperties":{"type":"string"}}"#, "(**arguments: str)"),
        (
            r#"{"properties":{"others":{"type":"string"}},"required":["others"],"additionalProperties":true}"#,
            "(others: str, **others_: Any)",
        ),
        (
            r#"{"properties":{"a":{"type":"string"}},"additionalProperties":{"type":"integer"}}"#,
            "(*, a: str | None = None, **others: int)",
        ),
        (r#"{"required":["a"]}"#, "(a: Any)"),
        ("true", "(**arguments: Any)"),
        ("null", "(**arguments: Any)"),
        (r#"{"type":"string"}"#, "(**arguments: Any)"),
        (r#"{"type":"array","items":{}}"#, "(**arguments: Any)"),
        (
            r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}"##,
            "(a: str)",
        ),
        (
            r#"{"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}}}]}"#,
            "(*, a: str | None = None, b: int | None = None)",
        ),
    ] {
        assert_eq!(signature_of(schema), wanted, "{schema}");
    }
    assert_eq!(tool(r#"{"name":"x"}"#).signature, "(**arguments: Any)");
}

#[test]
fn results_with_a_schema_have_a_type() {
    let output =
        |schema: &str| tool(&format!(r#"{{"name":"x","inputSchema":{{"properties":{{}}}},"outputSchema":{schema}}}"#));
    let found = output(
        r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}}},"required":["items"]}"#,
    );
    assert_eq!((found.signature.as_str(), found.short_types.as_str()), ("() -> Result", "Result = {items: list[str]}"));
    assert_eq!(output(r#"{"type":"object"}"#).signature, "() -> dict");
    for nothing in ["true", "null", "{}"] {
        assert_eq!(output(nothing).signature, "()", "{nothing}");
    }
    // References point into the schema that has them.
    let both = tool(
        r##"{"name":"x","inputSchema":{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"i":{}}}}},
            "outputSchema":{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"o":{}}}}}}"##,
    );
    assert_eq!(
        (both.signature.as_str(), both.short_types.as_str()),
        ("(*, a: A | None = None) -> A_2", "A_2 = {o?: Any}\nA = {i?: Any}")
    );
}

#[test]
fn arguments_that_are_no_names_are_found_again() {
    let tool = tool(
        r#"{"name":"mail","inputSchema":{"properties":{"from":{"type":"string"},"to":{"type":"string"},"x-id":{"type":"string"}},"required":["from","to"]}}"#,
    );
    assert_eq!(tool.signature, "(from_: str, to: str, *, x_id: str | None = None)");
    let names: Vec<(&str, &str)> = tool.names.iter().map(|(python, name)| (python.as_str(), name.as_str())).collect();
    assert_eq!(names, [("from_", "from"), ("x_id", "x-id")]);
    let told = String::from_utf8(tool.for_box().into_bytes().to_vec()).expect("text");
    assert!(told.contains(r#""names":{"from_":"from","x_id":"x-id"}"#), "{told}");
}

#[test]
fn docs_say_what_arguments_are_for_and_how_large() {
    let tool = tool(
        r#"{"name":"x","description":"Does it.\n\nWell.","annotations":{"readOnlyHint":true},"inputSchema":{"properties":{
            "when":{"type":"string","format":"date-time","description":"The time."},
            "n":{"type":"integer","minimum":1,"maximum":10},"m":{"exclusiveMinimum":0,"type":"number"},
            "tags":{"type":"array","minItems":1,"items":{"type":"string"},"uniqueItems":true},
            "code":{"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":2},
            "size":{"enum":[0.5,1.5]}}}}"#,
    );
    assert_eq!(
        tool.doc,
        "Does it.\n\nWell.\n\nwhen: The time. (date-time)\nn: (1 to 10)\nm: (> 0)\n\
         tags: (>= 1 item; no item twice)\ncode: (matches ^[a-z]+$; 2 characters)\n\
         size: (one of 0.5, 1.5)"
    );
    assert_eq!((tool.summary.as_str(), tool.read_only, tool.is_cut), ("Does it.", true, false));
}

#[test]
fn the_box_is_told_the_types_with_the_docs() {
    let tool = tool(
        r#"{"name":"x","description":"Does it.","inputSchema":{"properties":{"p":{"type":"object","properties":{"a":{"type":"string"}}}}}}"#,
    );
    let told: serde_json::Value = serde_json::from_slice(tool.for_box().as_bytes()).expect("JSON");
    assert_eq!(told["doc"], "Does it.\n\nclass P(TypedDict):\n    a: NotRequired[str]");
    assert_eq!(told["signature"], "(*, p: P | None = None)");
    assert_eq!((&told["name"], &told["python"], &told["read_only"]), (&"x".into(), &"x".into(), &false.into()));
    assert!(told.get("names").is_none());
}

#[test]
fn tools_of_one_server_have_different_names() {
    let definitions = [r#"{"name":"a-b"}"#, r#"{"name":"a_b"}"#, r#"{"name":"a.b"}"#, r#"{"name":7}"#, "[]"];
    let definitions = definitions.map(|json| RawJson::parse(json.to_owned()).expect("JSON"));
    let names: Vec<String> = Tool::read_all(&definitions).into_iter().map(|tool| tool.python).collect();
    assert_eq!(names, ["a_b_2", "a_b", "a_b_3", "tool", "tool_2"]);
}

#[test]
fn large_tools_are_shown_in_part() {
    let long = "Very long words that say little. ".repeat(20);
    let property = |number: usize| {
        format!(
            r#""argument_{number}":{{"type":"object","description":"{long}","properties":{{"value":{{"type":"string","description":"{long}"}}}}}}"#
        )
    };
    let all = |count: usize| (0..count).map(property).collect::<Vec<_>>().join(",");
    let read = |count: usize| {
        tool(&format!(
            r#"{{"name":"x","description":"{long}","inputSchema":{{"type":"object","properties":{{{}}},"required":["argument_1"]}}}}"#,
            all(count)
        ))
    };
    let small = read(3);
    assert!(!small.is_cut && small.signature.starts_with("(argument_1: Argument1, *, argument_0: "), "{small:?}");
    for count in [20, 100, 300] {
        let large = read(count);
        let stub = stub::function(&large);
        assert!(stub.len() <= LARGEST_STUB, "{count}: {}", stub.len());
        assert!(stub.contains("argument_1: "), "{stub}");
    }
    let huge = read(300);
    assert!(huge.is_cut && huge.doc.ends_with(CUT) && huge.signature.ends_with("**others: Any)"), "{huge:?}");
    let beyond = tool(&format!(r#"{{"name":"big","description":"{}"}}"#, "x".repeat(LARGEST_DEFINITION)));
    assert_eq!((beyond.name.as_str(), beyond.signature.as_str(), beyond.is_cut), ("big", "(**arguments: Any)", true));
}
