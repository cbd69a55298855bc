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
    let book = Book::open(None);
    let held: Vec<_> = (0..MOST_KINDS).map(|kind| book.catalog(Era::Legacy, &raw(&kind.to_string()))).collect();
    for catalog in &held {
        catalog.opened(&handshake(&["{}"]));
    }
    for kind in 1000..1200 {
        book.catalog(Era::Legacy, &raw(&kind.to_string())).opened(&handshake(&["{}"]));
    }
    assert!(lock(&book.catalogs).len() <= MOST_KINDS + 1);
    assert_eq!(lock(&book.kept).offers.len(), MOST_KINDS);
}

#[tokio::test]
async fn a_book_is_read_as_it_was_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = CatalogPlace { directory: directory.path().join("deep/er"), fingerprint: "f".to_owned() };
    let params = raw(r#"{"protocolVersion":"2025-11-25"}"#);
    let closing = CancellationToken::new();
    let book = Book::open(Some(&place));
    assert!(!book.is_written());
    let catalog = book.catalog(Era::Legacy, &params);
    catalog.opened(&handshake(&[r#"{ "tools" : [ ], "n": 1.0, "n": 12345678901234567890, "s": "\ud83d\u0041" }"#]));
    catalog.listed(List::Templates, &[raw("{ }")]);
    let modern = book.catalog(Era::Modern, &params);
    modern.opened(&Handshake { era: Era::Modern, ..handshake(&["{}"]) });
    book.spoke(Era::Modern);
    book.refused(Era::Legacy);
    // Closed before it was ever written: what is new is written all the same.
    closing.cancel();
    book.keep(closing).await;
    let read = Book::open(Some(&place));
    assert!(read.is_written());
    assert_eq!(*read.catalog(Era::Legacy, &params).offer(), *catalog.offer());
    assert_eq!(*read.catalog(Era::Modern, &params).offer(), *modern.offer());
    assert!(read.eras().is_spoken(Era::Modern) && read.eras().is_refused(Era::Legacy));
    let other = CatalogPlace { fingerprint: "g".to_owned(), ..place };
    assert!(!Book::open(Some(&other)).is_written());
}

#[tokio::test]
async fn an_era_that_gave_no_sign_is_left_alone_but_not_for_ever() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = CatalogPlace { directory: directory.path().to_owned(), fingerprint: "f".to_owned() };
    let book = Book::open(Some(&place));
    book.shunned(Era::Modern);
    book.spoke(Era::Legacy);
    assert!(book.eras().is_refused(Era::Modern));
    let closing = CancellationToken::new();
    closing.cancel();
    book.keep(closing).await;
    let read = Book::open(Some(&place));
    assert!(!read.eras().is_refused(Era::Modern) && read.eras().is_spoken(Era::Legacy));
    book.spoke(Era::Modern);
    assert!(book.eras().is_spoken(Era::Modern));
}
