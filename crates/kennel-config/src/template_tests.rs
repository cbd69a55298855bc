use super::*;
use proptest::prelude::*;

fn literal(text: &str) -> Part {
    Part::Literal(text.to_owned())
}

fn variable(name: &str, default: Option<&str>) -> Part {
    Part::Variable { name: name.to_owned(), default: default.map(str::to_owned) }
}

#[test]
fn variables_are_told_from_text() {
    let cases: [(&str, &[Part]); 9] = [
        ("", &[]),
        ("plain $text {}", &[literal("plain $text {}")]),
        ("${A}", &[variable("A", None)]),
        (
            "a${B}c${D:-e f}g",
            &[literal("a"), variable("B", None), literal("c"), variable("D", Some("e f")), literal("g")],
        ),
        ("${A:-}", &[variable("A", Some(""))]),
        ("${env:TOKEN}", &[variable("TOKEN", None)]),
        ("$${A} costs $$5", &[literal("${A} costs $$5")]),
        ("${never closed", &[literal("${never closed")]),
        ("${input:token}", &[Part::Foreign("input:token".to_owned())]),
    ];
    for (text, parts) in cases {
        assert!(Template::parse(text).parts() == parts, "{text}");
    }
}

#[test]
fn text_is_not_shown() {
    let template = Template::parse("hunter2${A:-hunter2}${hunter2 x}");
    assert_eq!(format!("{template:?}"), "Template(…${A}${…})");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_again(text in "([a$]|\\$\\{|\\}|A|:-|env:){0,10}") {
        let template = Template::parse(&text);
        prop_assert!(Template::parse(&template.written()) == template, "{} {}", text, template.written());
    }
}
