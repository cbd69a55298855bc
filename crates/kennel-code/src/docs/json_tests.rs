use super::*;

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

#[test]
fn members_keep_their_order_and_numbers_their_spelling() {
    let read = Json::parse(br#"{"z":1.0,"a":[true,null,"x"],"m":{"b":-1e3}}"#);
    let number = |number: &str| Json::Number(number.to_owned());
    let wanted = Json::Object(vec![
        ("z".to_owned(), number("1.0")),
        ("a".to_owned(), Json::Array(vec![Json::Bool(true), Json::Null, text("x")])),
        ("m".to_owned(), Json::Object(vec![("b".to_owned(), number("-1e3"))])),
    ]);
    assert_eq!(read, Some(wanted));
}

#[test]
fn of_members_with_the_same_name_the_last_counts() {
    let read = Json::parse(br#"{"a":1,"a":"x"}"#).expect("JSON");
    assert_eq!((read.members().len(), read.get("a")), (2, Some(&text("x"))));
}

#[test]
fn half_characters_are_replaced_also_in_names() {
    let read = Json::parse(br#"{"\ud83d":"\ud83d"}"#).expect("JSON");
    let (name, value) = &read.members()[0];
    assert!(name.contains('\u{fffd}') && value.text().is_some_and(|text| text.contains('\u{fffd}')), "{read:?}");
}

#[test]
fn what_is_no_json_or_nested_too_deeply_is_nothing() {
    for odd in ["", "{", "nul", "[1,]", &"[".repeat(100_000), &format!("{}{}", "[".repeat(5_000), "]".repeat(5_000))] {
        assert_eq!(Json::parse(odd.as_bytes()), None, "{}", &odd[..odd.len().min(10)]);
    }
}
