use super::{Expected, Type};
use serde_json::{Value, json};

fn read(schema: &Value) -> Expected {
    let whole = json!({ "$defs": { "Level": { "enum": ["low", "high"] }, "a/b": { "type": "integer" }, "loop": { "$ref": "#/$defs/loop" } } });
    Expected::read(schema, &whole)
}

/// The value that a text means, as spelled, or what is wrong with it.
fn value(schema: &Value, text: &str) -> Result<String, String> {
    read(schema).value(text).map(|raw| String::from_utf8_lossy(raw.as_bytes()).into_owned())
}

#[test]
fn values_are_understood_by_their_type() {
    for (schema, text, expected) in [
        (json!({"type": "string"}), "hi", r#""hi""#),
        (json!({"type": "string"}), "5", r#""5""#),
        (json!({"type": "string"}), "true", r#""true""#),
        (json!({"type": "string"}), "\"quoted\"", r#""\"quoted\"""#),
        (json!({"type": "string"}), "", r#""""#),
        (json!({"type": "number"}), "2", "2"),
        (json!({"type": "number"}), "-2.50e3", "-2.50e3"),
        (json!({"type": "integer"}), "7", "7"),
        (json!({"type": "integer"}), "7.0", "7.0"),
        (json!({"type": "integer"}), "123456789012345678901234567890", "123456789012345678901234567890"),
        (json!({"type": "boolean"}), "false", "false"),
        (json!({"type": "null"}), "null", "null"),
        (json!({"type": "object"}), r#"{"b":1,"a":1.0}"#, r#"{"b":1,"a":1.0}"#),
        (json!({"type": "array"}), "[1,2]", "[1,2]"),
        (json!({"type": ["string", "null"]}), "null", "null"),
        (json!({"type": ["string", "null"]}), "5", r#""5""#),
        (json!({"type": ["string", "integer"]}), "5", "5"),
        (json!({"type": ["string", "integer"]}), "x", r#""x""#),
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), "3", "3"),
        (json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}), "3x", r#""3x""#),
        (json!({"allOf": [{"description": "x"}, {"type": "boolean"}]}), "true", "true"),
        (json!({"$ref": "#/$defs/a~1b"}), "3", "3"),
        (json!({}), "5", "5"),
        (json!({}), "five", r#""five""#),
        (json!(true), "[1", r#""[1""#),
        (json!({"$ref": "#/$defs/loop"}), "x", r#""x""#),
        (json!({"$ref": "#/nowhere"}), "x", r#""x""#),
    ] {
        assert_eq!(value(&schema, text).as_deref(), Ok(expected), "{schema} {text}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_type() {
    for (schema, text, expected) in [
        (json!({"type": "number"}), "two", "must be a number, not `two`"),
        (json!({"type": "number"}), "\"2\"", "must be a number, not `\"2\"`"),
        (json!({"type": "integer"}), "2.5", "must be an integer, not `2.5`"),
        (json!({"type": "boolean"}), "yes", "must be true or false, not `yes`"),
        (json!({"type": "boolean"}), "", "must be true or false, not ``"),
        (json!({"type": "null"}), "nil", "must be null, not `nil`"),
        (json!({"type": "object"}), "[]", r#"must be an object in JSON, such as {"name":"value"}, not `[]`"#),
        (json!({"type": "array"}), "a,b", r#"must be an array in JSON, such as ["one","two"], not `a,b`"#),
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), "x", "must be an integer or null, not `x`"),
        (json!({"$ref": "#/$defs/a~1b"}), "x", "must be an integer, not `x`"),
    ] {
        assert_eq!(value(&schema, text), Err(expected.to_owned()), "{schema} {text}");
    }
}

#[test]
fn choices_are_checked_however_they_are_written() {
    let plain = json!({"type": "string", "enum": ["text", "binary"]});
    assert_eq!(value(&plain, "binary").as_deref(), Ok(r#""binary""#));
    let error = "must be one of text, binary, not `tetx`; did you mean `text`?";
    assert_eq!(value(&plain, "tetx"), Err(error.to_owned()));
    let titled = json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]});
    assert_eq!(value(&titled, "b").as_deref(), Ok(r#""b""#));
    assert_eq!(value(&titled, "zzz"), Err("must be one of a, b, not `zzz`".to_owned()));
    let numbers = json!({"enum": [1, 2.0, "three"]});
    assert_eq!(value(&numbers, "2").as_deref(), Ok("2"));
    assert_eq!(value(&numbers, "three").as_deref(), Ok(r#""three""#));
    assert_eq!(value(&numbers, "3"), Err("must be one of 1, 2.0, three, not `3`".to_owned()));
    let optional = json!({"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}]});
    assert_eq!(value(&optional, "null").as_deref(), Ok("null"));
    assert_eq!(value(&optional, "low").as_deref(), Ok(r#""low""#));
    assert_eq!(value(&optional, "middle"), Err("must be one of low, high, null, not `middle`".to_owned()));
    assert_eq!(value(&json!({"const": true}), "true").as_deref(), Ok("true"));
    let typed = json!({"type": "integer", "enum": [10, 20]});
    assert_eq!(value(&typed, "ten"), Err("must be one of 10, 20, not `ten`".to_owned()));
}

#[test]
fn an_alternative_without_a_type_allows_everything() {
    assert_eq!(read(&json!({"anyOf": [{"type": "integer"}, {}]})), Expected::default());
    let mixed = read(&json!({"anyOf": [{"enum": ["a"]}, {"type": "integer"}]}));
    assert_eq!((mixed.types, mixed.choices), (vec![Type::String, Type::Integer], None));
}

#[test]
fn many_choices_are_cut_short() {
    let names: Vec<String> = (0..50).map(|number| format!("choice-{number:02}")).collect();
    let error = value(&json!({ "enum": names }), "zzz");
    assert!(error.is_err_and(|text| text.contains("choice-19, …") && !text.contains("choice-20")));
}
