use super::super::classes::classes;
use super::*;

const LIMITS: Limits = Limits { depth: 6, arguments: 256, fields: 64, note: 100 };

/// The type of a schema, and the classes that it needs.
fn read(schema: &str) -> (String, String) {
    let schema = Json::parse(schema.as_bytes()).expect("JSON");
    let mut reader = Reader::new(&schema, LIMITS);
    let kind = reader.kind(&schema, "thing");
    let records = reader.finish().records;
    (kind.write(&records), classes(&records))
}

fn kind(schema: &str) -> String {
    read(schema).0
}

#[test]
fn schemas_are_read_as_types() {
    for (schema, wanted) in [
        ("{}", "Any"),
        ("true", "Any"),
        ("false", "Any"),
        ("[1]", "Any"),
        (r#"{"type":"string"}"#, "str"),
        (r#"{"type":"integer"}"#, "int"),
        (r#"{"type":"number"}"#, "float"),
        (r#"{"type":"boolean"}"#, "bool"),
        (r#"{"type":"null"}"#, "None"),
        (r#"{"type":"file"}"#, "Any"),
        (r#"{"type":["string","null"]}"#, "str | None"),
        (r#"{"type":"string","nullable":true}"#, "str | None"),
        (r#"{"type":"array"}"#, "list"),
        (r#"{"type":"array","items":{"type":"string"}}"#, "list[str]"),
        (r#"{"items":{"enum":[1,2]}}"#, "list[Literal[1, 2]]"),
        (r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]}"#, "tuple[str, int]"),
        (r#"{"type":"array","items":[{"type":"string"},{"type":"integer"}]}"#, "tuple[str, int]"),
        (r#"{"type":"object"}"#, "dict"),
        (r#"{"type":"object","additionalProperties":{"type":"integer"}}"#, "dict[str, int]"),
        (r#"{"type":"object","patternProperties":{"^x":{"type":"integer"}}}"#, "dict[str, int]"),
        (r#"{"const":"a"}"#, r#"Literal["a"]"#),
        (r#"{"type":"string","enum":["a","b"]}"#, r#"Literal["a", "b"]"#),
        (r#"{"oneOf":[{"const":"a","title":"A"},{"const":"b"}]}"#, r#"Literal["a", "b"]"#),
        (r#"{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}"#, "str | list[str]"),
        (r#"{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}"#, "str | None"),
        (r#"{"type":"string","anyOf":[{"minLength":3},{"pattern":"x"}]}"#, "str"),
        (r#"{"allOf":[{"type":"string"},{"maxLength":3}]}"#, "str"),
        (r#"{"maxLength":3}"#, "str"),
        (r#"{"minimum":3}"#, "float"),
        (r##"{"$ref":"#/$defs/Text","$defs":{"Text":{"type":"string"}}}"##, "str"),
        (r##"{"allOf":[{"$ref":"#/definitions/a~1b%20c"}],"definitions":{"a/b c":{"type":"integer"}}}"##, "int"),
        (r##"{"$ref":"#/$defs/none"}"##, "Any"),
        (r##"{"$ref":"#anchor"}"##, "Any"),
        (r#"{"$ref":"https://example.com/x"}"#, "Any"),
        (r#"{"$ref":5}"#, "Any"),
    ] {
        assert_eq!(kind(schema), wanted, "{schema}");
    }
}

#[test]
fn objects_become_classes_named_after_what_they_are_in() {
    let (kind, classes) = read(
        r#"{"type":"array","items":{"type":"object","required":["entries"],"properties":{
            "note":{"type":"string","description":"A note.","maxLength":9,"default":"x"},
            "entries":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}}}}"#,
    );
    assert_eq!(kind, "list[Thing]");
    let wanted = "class Entry(TypedDict):\n    id: int\n\nclass Thing(TypedDict):\n    entries: list[Entry]\n    \
                  note: NotRequired[str]  # A note. (<= 9 characters); default \"x\"\n\n";
    assert_eq!(classes, wanted);
}

#[test]
fn members_that_are_no_names_are_quoted() {
    let (_, classes) = read(r#"{"properties":{"from":{"type":"string"},"x-y":{}},"required":["from"]}"#);
    assert_eq!(classes, "Thing = TypedDict(\"Thing\", {\n    \"from\": str,\n    \"x-y\": NotRequired[Any],\n})\n\n");
}

#[test]
fn objects_that_may_have_other_members_say_so() {
    let schema = r#"{"properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":{"type":"integer"}}"#;
    let (_, classes) = read(schema);
    assert_eq!(classes, "# Thing may have other members: int\nclass Thing(TypedDict):\n    a: str\n\n");
    let plain = schema.replace(r#"{"type":"integer"}"#, "true");
    assert_eq!(read(&plain).1, "class Thing(TypedDict):\n    a: str\n\n");
    // What differs only in this is another type.
    let (_, both) = read(&format!(r#"{{"properties":{{"x":{schema},"y":{plain}}}}}"#));
    assert!(both.contains("class X(TypedDict)") && both.contains("class Y(TypedDict)"), "{both}");
}

#[test]
fn equal_objects_are_one_class_and_others_of_that_name_are_numbered() {
    let point = r#"{"type":"object","properties":{"x":{"type":"number"}}}"#;
    let other = r#"{"type":"object","properties":{"to":{"type":"object","properties":{"y":{}}}}}"#;
    let schema = format!(r#"{{"properties":{{"from":{point},"to":{point},"via":{other},"class":{point}}}}}"#);
    let (_, classes) = read(&schema);
    assert_eq!(classes.matches("class ").count() + classes.matches("= TypedDict").count(), 4, "{classes}");
    assert!(classes.contains("\"from\": NotRequired[From],"), "{classes}");
    assert!(classes.contains("\"to\": NotRequired[From],") && classes.contains("class To(TypedDict):"), "{classes}");
    assert!(classes.contains("    to: NotRequired[To]\n"), "{classes}");
}

#[test]
fn schemas_that_refer_to_themselves_are_read() {
    let node = r##"{"type":"object","properties":{"value":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Node"}}}}"##;
    let (kind, classes) = read(&format!(r##"{{"$ref":"#/$defs/Node","$defs":{{"Node":{node}}}}}"##));
    assert_eq!(kind, "Node");
    assert_eq!(
        classes,
        "class Node(TypedDict):\n    value: NotRequired[str]\n    children: NotRequired[list[Node]]\n\n"
    );
    for endless in [
        r##"{"$ref":"#"}"##,
        r##"{"anyOf":[{"$ref":"#"},{"type":"string"}]}"##,
        r##"{"allOf":[{"$ref":"#"},{"$ref":"#"}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
        r##"{"type":"array","items":{"$ref":"#"}}"##,
        r##"{"anyOf":[{"title":"x","allOf":[{"$ref":"#"},{"title":"y"}]},{"type":"string"}]}"##,
    ] {
        read(endless);
    }
}

#[test]
fn what_all_must_be_is_merged() {
    let (_, classes) = read(
        r##"{"allOf":[{"$ref":"#/$defs/Base"},{"properties":{"own":{"type":"integer"}},"required":["own"]}],
            "$defs":{"Base":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}}"##,
    );
    assert_eq!(classes, "class Thing(TypedDict):\n    id: str\n    own: int\n\n");
}

#[test]
fn objects_with_choices_have_the_members_of_all() {
    let (kind, classes) = read(
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],
            "anyOf":[{"properties":{"b":{"type":"integer"}},"required":["b"]},{"required":["c"]}]}"#,
    );
    assert_eq!((kind.as_str(), classes.contains("    b: NotRequired[int]\n")), ("Thing", true), "{classes}");
}

#[test]
fn members_that_must_not_be_there_are_left_out_and_those_that_must_are_not() {
    let (_, classes) = read(r#"{"properties":{"a":false,"b":true},"required":["c"]}"#);
    assert_eq!(classes, "class Thing(TypedDict):\n    c: Any\n    b: NotRequired[Any]\n\n");
}

#[test]
fn what_is_too_deep_or_too_much_is_cut() {
    let deep = (0..20).fold(r#"{"type":"string"}"#.to_owned(), |inner, level| {
        format!(r#"{{"type":"object","properties":{{"level{level}":{inner}}}}}"#)
    });
    let schema = Json::parse(deep.as_bytes()).expect("JSON");
    let mut reader = Reader::new(&schema, LIMITS);
    reader.kind(&schema, "thing");
    let read = reader.finish();
    assert!(read.is_cut && read.records.len() == LIMITS.depth, "{:?}", read.records);
    // Each is one of many lists of the next: without a bound that would take years.
    let branch = |level: usize| format!(r##"{{"items":{{"$ref":"#/$defs/d{level}"}}}}"##);
    let fork = |level: usize| format!(r#""d{level}":{{"anyOf":[{}]}}"#, vec![branch(level + 1); 60].join(","));
    let many: Vec<String> = (0..10).map(fork).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{}}}}}"##, many.join(","));
    let schema = Json::parse(schema.as_bytes()).expect("JSON");
    let mut reader = Reader::new(&schema, LIMITS);
    reader.kind(&schema, "thing");
    assert!(reader.finish().is_cut);
}

#[test]
fn references_that_point_nowhere_are_anything() {
    for reference in ["#anchor", "#/$defs/none", "thing.json", "#/properties/a/0"] {
        let (_, classes) =
            read(&format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}},"b":{{"type":"string"}}}}}}"#));
        assert!(classes.contains("    a: NotRequired[Any]\n"), "{reference}: {classes}");
    }
}
