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
    Handshake { era: kennel_wire::Era::Legacy, version: "2025-11-25".to_owned(), result: raw(r#"{ "x": 1.0 }"#), tools }
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
    for params in [r#"{"cursor":"x"}"#, r#"{"cursor":null}"#, r#"{"cursor":1}"#, r#"{"cursor":"b","cursor":"b"}"#] {
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
    let catalog = Book::open(None).catalog(&raw(r#"{"protocolVersion":"2025-11-25"}"#));
    assert!(!catalog.opened(&handshake(&["{}"])), "the first look is no change");
    assert!(!catalog.opened(&handshake(&["{}"])));
    assert!(catalog.opened(&handshake(&[r#"{"tools":[]}"#])));
    assert!(!catalog.listed(List::Prompts, &[raw("1")]));
    assert!(!catalog.listed(List::Prompts, &[raw("1")]));
    assert!(catalog.listed(List::Prompts, &[raw("1"), raw("2")]));
    catalog.forget(List::Prompts);
    assert!(!catalog.listed(List::Prompts, &[raw("3")]), "clients were told when it was forgotten");
}

#[test]
fn clients_are_of_a_kind_by_version_and_capabilities_not_by_name() {
    let kind = |params: &str| kind_of(&raw(params));
    let one = kind(r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"a"}}"#);
    assert_eq!(one, kind(r#"{"clientInfo":{"name":"b"},"capabilities":{"roots":{}},"protocolVersion":"2025-11-25"}"#));
    assert_ne!(one, kind(r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}"#));
    assert_ne!(one, kind(r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#));
    assert_ne!(kind("{}"), kind("[]"), "what cannot be read is a kind by its spelling");
}

#[test]
fn kinds_are_bounded() {
    let book = Book::open(None);
    let held: Vec<_> = (0..MOST_KINDS).map(|kind| book.catalog(&raw(&kind.to_string()))).collect();
    for catalog in &held {
        catalog.opened(&handshake(&["{}"]));
    }
    for kind in 1000..1200 {
        book.catalog(&raw(&kind.to_string())).opened(&handshake(&["{}"]));
    }
    assert!(lock(&book.catalogs).len() <= MOST_KINDS + 1);
    assert_eq!(lock(&book.kept).len(), MOST_KINDS);
}

#[tokio::test]
async fn a_book_is_read_as_it_was_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = CatalogPlace { directory: directory.path().join("deep/er"), fingerprint: "f".to_owned() };
    let params = raw(r#"{"protocolVersion":"2025-11-25"}"#);
    let closing = CancellationToken::new();
    let book = Book::open(Some(&place));
    assert!(!book.is_written());
    let catalog = book.catalog(&params);
    catalog.opened(&handshake(&[r#"{ "tools" : [ ], "n": 1.0, "n": 12345678901234567890, "s": "\ud83d\u0041" }"#]));
    catalog.listed(List::Templates, &[raw("{ }")]);
    // Closed before it was ever written: what is new is written all the same.
    closing.cancel();
    book.keep(closing).await;
    let read = Book::open(Some(&place));
    assert!(read.is_written());
    assert_eq!(*read.catalog(&params).offer(), *catalog.offer());
    let other = CatalogPlace { fingerprint: "g".to_owned(), ..place };
    assert!(!Book::open(Some(&other)).is_written());
}
