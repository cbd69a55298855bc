use super::*;
use proptest::prelude::*;

#[test]
fn names_fit_into_urls() {
    for name in ["a", "github", "My-Server_2", "io.github.me", "7zip"] {
        assert!(name.parse::<ServerName>().is_ok(), "{name}");
    }
    for name in ["", "a b", "a/b", ".", "..", "-a", "_a", "ä", "a%20b", &"a".repeat(65)] {
        assert!(name.parse::<ServerName>().is_err(), "{name}");
    }
}

#[test]
fn other_names_become_the_nearest_name() {
    let cases = [("My Server", "My-Server"), ("@scope/pkg", "scope-pkg"), ("  x!? ", "x"), ("天气", "server")];
    for (text, name) in cases {
        assert_eq!(name_like(text), name, "{text}");
    }
}

#[test]
fn a_name_that_is_one_keeps_it_wherever_it_stands() {
    assert_eq!(names_for(&["a b", "a-b", "a/b", "天", "气"]), ["a-b-2", "a-b", "a-b-3", "server", "server-2"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn different_texts_get_different_names(texts in proptest::collection::btree_set(".{0,80}", 0..12)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let names = names_for(&texts);
        let distinct: BTreeSet<&String> = names.iter().collect();
        prop_assert_eq!(distinct.len(), texts.len());
        for name in names {
            prop_assert!(name.parse::<ServerName>().is_ok(), "{}", name);
        }
    }
}
