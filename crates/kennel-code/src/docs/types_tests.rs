use super::*;

fn written(kind: &Type) -> String {
    kind.write(&[])
}

fn values(json: &str) -> (String, Option<String>) {
    let (kind, note) = one_of(Json::parse(json.as_bytes()).expect("JSON").elements());
    (written(&kind), note)
}

#[test]
fn unions_name_each_kind_once_and_none_last() {
    let kinds = [Type::Null, Type::Str, Type::Union(vec![Type::Int, Type::Str])];
    assert_eq!(written(&Type::union(kinds)), "str | int | None");
    assert_eq!(written(&Type::union([Type::Int, Type::Float])), "float");
    assert_eq!(written(&Type::union([Type::Str, Type::Any])), "Any");
    assert_eq!(written(&Type::union([])), "Any");
    let many = (0..20).map(|depth| (0..depth).fold(Type::Str, |of, _| Type::list(of)));
    assert_eq!(written(&Type::union(many)), "Any");
}

#[test]
fn values_to_choose_from_are_literals() {
    assert_eq!(values(r#"["a","b","a",3,true,null]"#), (r#"Literal["a", "b", 3, True] | None"#.to_owned(), None));
    assert_eq!(values("[null]"), ("None".to_owned(), None));
    let first = Type::Literal(vec!["1".to_owned()]);
    let second = Type::Literal(vec!["2".to_owned(), "1".to_owned()]);
    assert_eq!(written(&Type::union([first, Type::Null, second])), "Literal[1, 2] | None");
}

#[test]
fn values_that_types_cannot_have_are_noted() {
    assert_eq!(values("[1.5,2.5]"), ("float".to_owned(), Some("one of 1.5, 2.5".to_owned())));
    assert_eq!(values(r#"[{"a":1},"x"]"#), ("dict | str".to_owned(), Some(r#"one of {"a": 1}, "x""#.to_owned())));
    let many: Vec<String> = (0..500).map(|number| format!("\"value{number}\"")).collect();
    let (kind, note) = values(&format!("[{}]", many.join(",")));
    let note = note.expect("a note");
    assert_eq!(kind, "str");
    assert!(note.starts_with(r#"one of "value0", "value1""#) && note.ends_with("… (500 values)"), "{note}");
    assert!(note.len() < LONGEST_LITERAL + 40, "{note}");
}

#[test]
fn texts_are_quoted_so_that_nothing_hides_in_them() {
    assert_eq!(quoted("a\"b\\c\nd\u{0}\u{202e}é"), r#""a\"b\\c\nd\U00000000\U0000202eé""#);
}
