use super::*;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).expect("JSON")
}

fn request(params: &str) -> Message {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#);
    Message::parse(text.into()).expect("a message")
}

fn handshake(tools: &[&str]) -> Handshake {
    let tools = tools.iter().map(|page| raw(page)).collect();
    Handshake { era: Era::Legacy, version: "2025-11-25".to_owned(), result: raw(r#"{ "x": 1.0 }"#), tools }
}

fn paged() -> Offer {
    let pages =
        [r#"{"tools":[],"nextCursor":"b"}"#, r#"{"tools":[],"nextCursor":"ü"}"#, r#"{"tools":[],"nextCursor":""}"#];
    Offer { introduction: None, lists: BTreeMap::from([(List::Tools, pages.iter().map(|page| raw(page)).collect())]) }
}

#[test]
fn a_page_follows_the_cursor_of_the_one_before() {
    let offer = paged();
    for (params, page) in [("{}", 0), (r#"{"cursor":"b"}"#, 1), (r#"{"cursor":"ü"}"#, 2)] {
        assert_eq!(offer.page(List::Tools, &request(params)).as_ref(), offer.lists[&List::Tools].get(page), "{params}");
    }
    for params in [r#"{"cursor":"x"}"#, r#"{"cursor":null}"#, r#"{"cursor":1}"#] {
        assert_eq!(offer.page(List::Tools, &request(params)), None, "only the server knows: {params}");
    }
    assert_eq!(offer.page(List::Prompts, &request("{}")), None);
}

#[test]
fn the_last_page_has_no_cursor_or_one_that_says_nothing() {
    for last in ["{}", r#"{"nextCursor":null}"#, r#"{"nextCursor":""}"#, "[]", "1"] {
        assert_eq!(next_cursor(&raw(last)), None, "{last}");
    }
    assert_eq!(next_cursor(&raw(r#"{"nextCursor": "\u0031" }"#)), Some(raw(r#""\u0031""#)), "as it is spelled");
}

#[test]
fn tools_are_repeatable_only_if_they_say_so() {
    let page = r#"{"tools":[
        {"name":"a","annotations":{"readOnlyHint":true}},
        {"name":"b","annotations":{"idempotentHint":true,"destructiveHint":true,"unknown":[1]}},
        {"name":"c","annotations":{"readOnlyHint":false}},
        {"name":"d","annotations":null},
        {"name":"e"}
    ]}"#;
    let pages = vec![raw("{}"), raw(page), raw(r#"{"tools":[{"name":"f","annotations":{"readOnlyHint":"yes"}}]}"#)];
    let offer = Offer { introduction: None, lists: BTreeMap::from([(List::Tools, pages)]) };
    let mut names: Vec<_> = offer.repeatable_tools().into_iter().collect();
    names.sort();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn what_changes_is_told_from_what_is_new() {
    let catalog = Book::open(None, usize::MAX).catalog(Era::Legacy, &raw(r#"{"protocolVersion":"2025-11-25"}"#));
    assert!(!catalog.opened(&handshake(&["{}"])), "the first look is no change");
    assert!(!catalog.opened(&handshake(&["{}"])));
    assert!(catalog.opened(&handshake(&[r#"{"tools":[]}"#])));
    assert!(!catalog.listed(List::Prompts, &[raw("1")]));
    assert!(!catalog.listed(List::Prompts, &[raw("1")]));
    assert!(catalog.listed(List::Prompts, &[raw("1"), raw("2")]));
    catalog.forget(List::Prompts);
    assert!(!catalog.listed(List::Prompts, &[raw("3")]), "clients were told when it was forgotten");
}
