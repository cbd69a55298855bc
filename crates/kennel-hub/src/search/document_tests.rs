use super::*;
use proptest::prelude::*;

fn read(json: &str) -> Option<Document<'static>> {
    Document::read("server", &RawJson::parse(json.to_owned()).expect("JSON"))
}

#[test]
fn the_words_of_a_tool_are_its_texts_and_those_of_its_arguments() {
    let document = read(
        r#"{"name":"draw","title":"Draw It","description":"Draws.","inputSchema":{"type":"object","properties":{
            "fillColor":{"type":"string","description":"what fills it","enum":["red","blue"]},
            "points":{"type":"array","items":{"type":"object","properties":{"abscissa":{"type":"number"}}}},
            "style":{"anyOf":[{"const":"dotted"},{"type":"null"}]}},"required":["points"]},"annotations":{"title":"no"}}"#,
    )
    .expect("a tool");
    assert_eq!((&*document.name, &*document.title, &*document.description), ("draw", "Draw It", "Draws."));
    let words: Vec<&str> = document.arguments.split_whitespace().collect();
    assert_eq!(words, ["fillColor", "what", "fills", "it", "red", "blue", "points", "abscissa", "style", "dotted"]);
}

#[test]
fn what_is_not_as_it_should_be_is_left_out() {
    let odd =
        read(r#"{"name":"x","title":5,"description":{"a":1},"inputSchema":[1,{"properties":7}]}"#).expect("a tool");
    assert_eq!((&*odd.name, &*odd.title, &*odd.description, &*odd.arguments), ("x", "", "", ""));
    for none in [r#"{"title":"x"}"#, r#"{"name":5}"#, "[]", "null", "7", r#""name""#] {
        assert_eq!(read(none), None, "{none}");
    }
}

#[test]
fn no_tool_costs_more_than_a_bounded_amount() {
    let many: Vec<String> =
        (0..5_000).map(|number| format!(r#""argument{number}":{{"description":"text"}}"#)).collect();
    let wide = format!(r#"{{"name":"x","inputSchema":{{"properties":{{{}}}}}}}"#, many.join(","));
    assert!(read(&wide).expect("a tool").arguments.len() < 4_096);
    let deep = format!(r#"{{"name":"x","inputSchema":{}1{}}}"#, r#"{"items":"#.repeat(100), "}".repeat(100));
    assert_eq!(&*read(&deep).expect("a tool").arguments, "");
    let long = format!(r#"{{"name":"{0}","description":"{0}","title":"{0}"}}"#, "ü".repeat(100_000));
    let long = read(&long).expect("a tool");
    assert!(long.title.len() <= 256 && long.description.len() <= 4_096 && long.counted_name().len() <= 256);
    let huge = format!(r#"{{"name":"x","inputSchema":{{"description":"{}"}}}}"#, "word ".repeat(100_000));
    assert_eq!(&*read(&huge).expect("a tool").arguments, "");
}

/// Any JSON, also such as looks like a tool.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1e999".to_owned()),
        Just(r#""\ud800""#.to_owned()),
        "[a-z ]{0,8}".prop_map(|text| format!("\"{text}\"")),
    ];
    let name = prop_oneof![
        Just("name"),
        Just("title"),
        Just("description"),
        Just("inputSchema"),
        Just("properties"),
        Just("items"),
        Just("enum"),
        Just("anyOf"),
        Just("type"),
        Just("required"),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        let member = (name.clone(), inner.clone()).prop_map(|(name, value)| format!("\"{name}\":{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|values| format!("[{}]", values.join(","))),
            prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused(json in json()) {
        let tool = RawJson::parse(format!(r#"{{"name":"x","inputSchema":{json}}}"#)).expect("JSON");
        prop_assert!(Document::read("server", &tool).is_some());
        let _ = Document::read("server", &RawJson::parse(json).expect("JSON"));
    }
}
