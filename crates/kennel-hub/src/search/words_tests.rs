use super::*;
use proptest::prelude::*;

/// The words of a text, each with its parts in brackets if it has any.
fn shown(text: &str) -> Vec<String> {
    let show = |Word { whole, parts }| if parts.is_empty() { whole } else { format!("{whole}[{}]", parts.join(" ")) };
    words(text).into_iter().map(show).collect()
}

#[test]
fn identifiers_of_every_style_are_cut_into_their_words() {
    assert_eq!(shown("list_messages"), ["list", "messages"]);
    assert_eq!(shown("list-messages"), ["list", "messages"]);
    assert_eq!(shown("server__list.messages/now"), ["server", "list", "messages", "now"]);
    assert_eq!(shown("listMessages"), ["listmessages[list messages]"]);
    assert_eq!(shown("NuGetPackageSearch"), ["nugetpackagesearch[nu get package search]"]);
    assert_eq!(shown("parseJSONFile"), ["parsejsonfile[parse json file]"]);
    assert_eq!(shown("HTTP URLs"), ["http", "urls"]);
    assert_eq!(shown("sha256"), ["sha256[sha]"]);
    assert_eq!(shown("k8s"), ["k8s"]);
}

#[test]
fn what_follows_an_apostrophe_is_left_out() {
    assert_eq!(shown("what's 'new' in someone’s inbox"), ["what", "new", "in", "someone", "inbox"]);
}

#[test]
fn pairs_that_mean_one_thing_become_one_word() {
    assert_eq!(shown("sign in page"), ["login", "page"]);
    assert_eq!(shown("look up users"), ["lookup", "users"]);
    assert_eq!(shown("sign_in_page"), ["login", "page"]);
    assert_eq!(shown("turn the lamp off"), ["disable", "the", "lamp"]);
    assert_eq!(shown("sign that page in"), ["sign", "that", "page", "in"]);
    assert_eq!(
        shown("turn the lamp in the house there off"),
        ["turn", "the", "lamp", "in", "the", "house", "there", "off"]
    );
}

#[test]
fn words_without_meaning_are_known() {
    for word in ["the", "what", "your", "a", "which", "with", "10", "2024"] {
        assert!(is_stop_word(word), "{word}");
    }
    for word in ["file", "get", "time"] {
        assert!(!is_stop_word(word), "{word}");
    }
}

proptest! {
    #[test]
    fn any_text_has_words_of_bounded_length_in_lower_case(text in "\\PC{0,200}") {
        for word in words(&text) {
            prop_assert!(!word.whole.is_empty());
            prop_assert!(word.whole.chars().count() <= LONGEST_WORD * 3);
            prop_assert!(word.parts.iter().all(|part| !part.is_empty()));
        }
    }
}
