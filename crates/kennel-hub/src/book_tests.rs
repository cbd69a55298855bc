use super::*;
use kennel_supervisor::Handshake;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).expect("JSON")
}

fn handshake(tools: &[&str]) -> Handshake {
    let tools = tools.iter().map(|page| raw(page)).collect();
    Handshake { era: Era::Legacy, version: "2025-11-25".to_owned(), result: raw(r#"{ "x": 1.0 }"#), tools }
}

#[test]
fn clients_are_of_a_kind_by_version_and_capabilities_not_by_name() {
    let kind = |params: &str| kind_of(Era::Legacy, &raw(params));
    let one = kind(r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"a"}}"#);
    assert_eq!(one, kind(r#"{"clientInfo":{"name":"b"},"capabilities":{"roots":{}},"protocolVersion":"2025-11-25"}"#));
    assert_ne!(one, kind(r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}"#));
    assert_ne!(one, kind(r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#));
    assert_ne!(kind("{}"), kind("[]"), "what cannot be read is a kind by its spelling");
    assert_ne!(kind("{}"), kind_of(Era::Modern, &raw("{}")));
}

#[test]
fn kinds_are_bounded() {
    let book = Book::open(None, usize::MAX);
    let held: Vec<_> = (0..MOST_KINDS).map(|kind| book.catalog(Era::Legacy, &raw(&kind.to_string()))).collect();
    for catalog in &held {
        catalog.opened(&handshake(&["{}"]));
    }
    for kind in 1000..1200 {
        book.catalog(Era::Legacy, &raw(&kind.to_string())).opened(&handshake(&["{}"]));
    }
    assert!(lock(&book.catalogs).len() <= MOST_KINDS + 1);
    assert_eq!(book.memory().kept.offers.len(), MOST_KINDS);
}

#[test]
fn a_server_that_was_tried_in_vain_is_known_to_have_been_until_something_is_known_of_it() {
    let place = CatalogPlace { store: Store::in_memory(), fingerprint: "f".to_owned() };
    let params = raw(r#"{"protocolVersion":"2025-11-25"}"#);
    let book = Book::open(Some(&place), usize::MAX);
    assert!(!book.was_in_vain(), "nobody has tried it");
    book.tried_in_vain();
    assert!(!book.was_in_vain(), "it was this one that tried it");
    let next = Book::open(Some(&place), usize::MAX);
    assert!(next.was_in_vain() && !next.is_written());
    next.catalog(Era::Legacy, &params).opened(&handshake(&["{}"]));
    assert!(!next.was_in_vain());
    next.tried_in_vain();
    let last = Book::open(Some(&place), usize::MAX);
    assert!(!last.was_in_vain() && last.is_written(), "what is known is not forgotten");
}

#[test]
fn a_book_is_read_as_it_was_written() {
    let place = CatalogPlace { store: Store::in_memory(), fingerprint: "f".to_owned() };
    let params = raw(r#"{"protocolVersion":"2025-11-25"}"#);
    let book = Book::open(Some(&place), usize::MAX);
    assert!(!book.is_written());
    let catalog = book.catalog(Era::Legacy, &params);
    catalog.opened(&handshake(&[r#"{ "tools" : [ ], "n": 1.0, "n": 12345678901234567890, "s": "\ud83d\u0041" }"#]));
    catalog.listed(List::Templates, &[raw("{ }")]);
    let modern = book.catalog(Era::Modern, &params);
    modern.opened(&Handshake { era: Era::Modern, ..handshake(&["{}"]) });
    book.spoke(Era::Modern);
    book.refused(Era::Legacy);
    let read = Book::open(Some(&place), usize::MAX);
    assert!(read.is_written());
    assert_eq!(*read.catalog(Era::Legacy, &params).offer(), *catalog.offer());
    assert_eq!(*read.catalog(Era::Modern, &params).offer(), *modern.offer());
    assert!(read.eras().is_spoken(Era::Modern) && read.eras().is_refused(Era::Legacy));
    let other = CatalogPlace { fingerprint: "g".to_owned(), ..place };
    assert!(!Book::open(Some(&other), usize::MAX).is_written());
}

#[test]
fn an_era_that_gave_no_sign_is_left_alone_but_not_for_ever() {
    let place = CatalogPlace { store: Store::in_memory(), fingerprint: "f".to_owned() };
    let book = Book::open(Some(&place), usize::MAX);
    book.shunned(Era::Modern);
    book.spoke(Era::Legacy);
    assert!(book.eras().is_refused(Era::Modern));
    let read = Book::open(Some(&place), usize::MAX);
    assert!(!read.eras().is_refused(Era::Modern) && read.eras().is_spoken(Era::Legacy));
    book.spoke(Era::Modern);
    assert!(book.eras().is_spoken(Era::Modern));
}

#[test]
fn what_cannot_be_read_is_left_out_and_the_rest_is_kept() {
    let offer = kennel_state::Offer {
        era: "legacy".to_owned(),
        version: "2025-11-25".to_owned(),
        introduction: "{}".into(),
        lists: BTreeMap::from([
            ("tools/list".to_owned(), vec!["{}".into(), "{".into()]),
            ("prompts/list".to_owned(), vec!["{}".into()]),
            ("songs/list".to_owned(), vec!["{}".into()]),
        ]),
    };
    let offers = BTreeMap::from([
        ("a".to_owned(), kennel_state::Offer { introduction: "{".into(), ..offer.clone() }),
        ("b".to_owned(), kennel_state::Offer { era: "stone".to_owned(), ..offer.clone() }),
        ("c".to_owned(), offer),
    ]);
    let eras = BTreeMap::from([("legacy", "doubted"), ("modern", "refused"), ("stone", "spoken")]);
    let eras = eras.into_iter().map(|(era, knowledge)| (era.to_owned(), knowledge.to_owned())).collect();
    let kept = Kept::from(kennel_state::Catalog { eras, offers });
    assert_eq!(kept.offers.keys().collect::<Vec<_>>(), ["c"]);
    // A list that lacks a page is none.
    assert_eq!(kept.offers["c"].lists, BTreeMap::from([(List::Prompts, vec![raw("{}")])]));
    assert_eq!(kept.eras, Eras { legacy: Knowledge::Unknown, modern: Knowledge::Refused });
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_as_good_as_an_empty_one() {
    let closed = Store::in_memory();
    closed.close().await.expect("it is closed");
    let place = CatalogPlace { store: closed, fingerprint: "f".to_owned() };
    let book = Book::open(Some(&place), usize::MAX);
    assert!(!book.is_written());
    book.catalog(Era::Legacy, &raw("{}")).opened(&handshake(&["{}"]));
    book.spoke(Era::Legacy);
    assert!(book.is_written() && book.eras().is_spoken(Era::Legacy));
}

#[test]
fn which_arguments_have_headers_is_known_from_what_was_kept() {
    let place = CatalogPlace { store: Store::in_memory(), fingerprint: "f".to_owned() };
    let schema = r#"{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Region"}}}"#;
    let page = format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}"#);
    Book::open(Some(&place), usize::MAX).catalog(Era::Legacy, &raw("{}")).opened(&handshake(&[&page]));
    let read = Book::open(Some(&place), usize::MAX);
    assert_eq!(read.mirrored("t").map(|headers| headers.len()), Some(1));
    assert!(read.mirrored("u").is_none());
}

#[test]
fn a_list_that_has_changed_is_shown_as_it_was_until_it_is_told_again() {
    let book = Book::open(None, usize::MAX);
    let params = raw(r#"{"protocolVersion":"2025-11-25"}"#);
    let catalog = book.catalog(Era::Legacy, &params);
    let introduction = Introduction { params, ..Introduction::plain() };
    let pages = |list| book.offer_to(&introduction).and_then(|offer| offer.lists.get(&list).cloned());
    assert_eq!(pages(List::Tools), None);
    catalog.opened(&handshake(&["[1]"]));
    catalog.listed(List::Prompts, &[raw("[2]")]);
    catalog.forget(List::Tools);
    catalog.forget(List::Prompts);
    assert_eq!(catalog.offer().lists.len(), 0, "who can ask the process does");
    assert_eq!((pages(List::Tools), pages(List::Prompts)), (Some(vec![raw("[1]")]), Some(vec![raw("[2]")])));
    catalog.listed(List::Tools, &[raw("[3]")]);
    assert_eq!((pages(List::Tools), pages(List::Prompts)), (Some(vec![raw("[3]")]), Some(vec![raw("[2]")])));
    catalog.listed(List::Prompts, &[]);
    assert_eq!(pages(List::Prompts), Some(Vec::new()), "it has none any more");
}

#[test]
fn who_is_of_no_known_kind_is_shown_the_most_that_anybody_is() {
    let book = Book::open(None, usize::MAX);
    let kind =
        |capabilities: &str| raw(&format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}"#));
    let to = |capabilities: &str| {
        let introduction = Introduction { params: kind(capabilities), ..Introduction::plain() };
        book.offer_to(&introduction).map(|offer| offer.lists[&List::Tools].clone())
    };
    book.catalog(Era::Legacy, &kind(r#"{"roots":{}}"#)).opened(&handshake(&["[1,2,3]"]));
    book.catalog(Era::Legacy, &kind("{}")).opened(&handshake(&["[1]"]));
    assert_eq!(to("{}"), Some(vec![raw("[1]")]));
    assert_eq!(to(r#"{"sampling":{}}"#), Some(vec![raw("[1,2,3]")]));
}
