use super::*;
use proptest::prelude::*;

#[test]
fn stars_and_question_marks_stand_for_letters() {
    let cases = [
        ("*", "", true),
        ("*", "anything", true),
        ("get_*", "get_issue", true),
        ("get_*", "forget_issue", false),
        ("*_issue", "get_issue", true),
        ("*_issue", "get_issues", false),
        ("a*b*c", "aXbYbZc", true),
        ("a*b*c", "aXcYb", false),
        ("?", "", false),
        ("?", "x", true),
        ("?", "ä", true),
        ("?x", "äx", true),
        ("search", "search", true),
        ("search", "Search", false),
        ("", "", true),
        ("", "x", false),
        ("**", "x", true),
    ];
    for (pattern, name, fits) in cases {
        assert_eq!(Pattern::new(pattern).matches(name), fits, "{pattern} {name}");
    }
}

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::new(*text)).collect()
}

#[test]
fn what_is_denied_is_not_shown_also_if_it_is_allowed() {
    let filter = ToolFilter { allow: patterns(&["get_*", "github__search"]), deny: patterns(&["*_secret"]) };
    assert!(filter.shows(&["get_issue", "github__get_issue"]));
    assert!(filter.shows(&["search", "github__search"]));
    assert!(!filter.shows(&["search", "jira__search"]));
    assert!(!filter.shows(&["get_secret", "github__get_secret"]));
    assert!(ToolFilter::default().shows(&["anything"]));
}

#[test]
fn tools_are_found_again_by_their_other_names() {
    let rename = [("a", "b"), ("c", "a")].map(|(from, to)| (from.to_owned(), to.to_owned()));
    let rules = ToolRules {
        filter: ToolFilter { allow: Vec::new(), deny: patterns(&["d"]) },
        rename: BTreeMap::from(rename),
        descriptions: BTreeMap::new(),
    };
    for (tool, shown) in [("a", Some("b")), ("c", Some("a")), ("b", None), ("d", None), ("e", Some("e"))] {
        assert_eq!(rules.shown(tool), shown, "{tool}");
    }
    for (shown, tool) in [("b", Some("a")), ("a", Some("c")), ("c", None), ("d", None), ("e", Some("e"))] {
        assert_eq!(rules.original(shown), tool, "{shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_name_is_a_pattern_for_itself(name in "[a-z_ä]{0,20}", star in 0_usize..20) {
        prop_assert!(Pattern::new(name.clone()).matches(&name));
        let mut letters: Vec<char> = name.chars().collect();
        letters.insert(star.min(letters.len()), '*');
        prop_assert!(Pattern::new(letters.into_iter().collect::<String>()).matches(&name));
    }
}
