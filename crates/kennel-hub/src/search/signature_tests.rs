use super::*;
use proptest::prelude::*;

fn of(schema: &str) -> String {
    signature(&RawJson::parse(schema.to_owned()).expect("JSON"))
}

#[test]
fn arguments_are_written_the_short_way() {
    for (schema, written) in [
        (r#"{"type":"object"}"#, ""),
        (
            r#"{"properties":{"head":{"type":"integer"},"path":{"type":"string"}},"required":["path"]}"#,
            "path: string, head?: integer",
        ),
        (r#"{"properties":{"a":{"type":"array","items":{"type":"string"}}}}"#, "a?: string[]"),
        (r#"{"properties":{"a":{"type":"array"}}}"#, "a?: any[]"),
        (r#"{"properties":{"a":{"enum":["x","y",3,null]}}}"#, r#"a?: "x"|"y"|3|null"#),
        (r#"{"properties":{"a":{"type":"array","items":{"enum":["x","y"]}}}}"#, r#"a?: ("x"|"y")[]"#),
        (r#"{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"},{"type":"string"}]}}}"#, "a?: string|null"),
        (
            r#"{"properties":{"a":{"type":["string","null"]},"b":{"const":1},"c":{},"d":true}}"#,
            "a?: string|null, b?: 1, c?: any, d?: any",
        ),
        (r##"{"properties":{"a":{"$ref":"#/$defs/x"}}}"##, "a?: any"),
    ] {
        assert_eq!(of(schema), written, "{schema}");
    }
}

#[test]
fn long_signatures_say_that_there_is_more() {
    let many: Vec<String> = (0..100).map(|number| format!(r#""argument{number}":{{"type":"string"}}"#)).collect();
    let written = of(&format!(r#"{{"properties":{{{}}}}}"#, many.join(",")));
    assert!(written.starts_with("argument0?: string, ") && written.ends_with(", …"), "{written}");
    assert!(written.chars().count() <= LONGEST + 3);
    let values: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    assert_eq!(of(&format!(r#"{{"properties":{{"a":{{"enum":[{}]}}}}}}"#, values.join(","))), "a?: 0|1|2|3|4|5|…");
}

proptest! {
    #[test]
    fn any_schema_has_a_signature_on_one_line(name in "\\PC{0,80}", value in "[\\[\\]{}\":,a-z0-9]{0,60}") {
        let name = serde_json::to_string(&name).expect("JSON");
        for text in [format!(r#"{{"properties":{{{name}:{value}}},"required":{value}}}"#), value] {
            if let Ok(schema) = RawJson::parse(text) {
                let written = signature(&schema);
                prop_assert!(!written.contains('\n') && written.chars().count() <= LONGEST + 3);
            }
        }
    }
}
