use super::*;

fn views(text: &str) -> Vec<String> {
    View::all(text).iter().map(|view| String::from_utf8_lossy(&view.bytes).into_owned()).collect()
}

#[test]
fn escapes_are_undone_one_in_the_other() {
    assert_eq!(views("plain"), ["plain"]);
    assert_eq!(
        views(r#"a\n\"\/\u00e9\ud83d\ude00\x41\u{42}"#),
        [r#"a\n\"\/\u00e9\ud83d\ude00\x41\u{42}"#, "a\n\"/é😀AB"]
    );
    assert_eq!(views("a%2Fb%2f%zz"), ["a%2Fb%2f%zz", "a/b/%zz"]);
    assert!(views(r#"\\\"a\\\""#).contains(&"\"a\"".to_owned()), "JSON in JSON");
    assert!(views(r"a%252Fb\u0025").contains(&"a/b%".to_owned()) || views("a%252Fb").contains(&"a/b".to_owned()));
}

#[test]
fn an_escape_that_was_cut_belongs_to_what_stands_before() {
    for text in [r"ab\", r"ab\u", r"ab\u00", r"ab\u00e", r"ab\ud83d\u", "ab%", "ab%2"] {
        for text in [text.to_owned(), format!("{text}…")] {
            let views = View::all(&text);
            let view = views.last().unwrap();
            assert!(view.bytes.starts_with(b"ab") && !view.bytes.contains(&b'u'), "{text}: {:?}", view.bytes);
            assert_eq!(view.span(1, 2), (1, text.trim_end_matches('…').len()), "{text}");
        }
    }
}

#[test]
fn every_byte_knows_where_it_came_from() {
    let views = View::all(r"x\u0041y");
    assert_eq!(views[1].span(1, 2), (1, 7));
    assert_eq!(views[1].span(2, 3), (7, 8));
}
