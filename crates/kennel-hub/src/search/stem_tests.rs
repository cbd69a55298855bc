use super::{IRREGULAR, stem};
use proptest::prelude::*;

#[test]
fn forms_of_a_word_meet() {
    for forms in [
        &["query", "queries"][..],
        &["create", "creates", "created", "creating", "creation"],
        &["delete", "deleted", "deleting", "deletion"],
        &["run", "running", "ran", "runs"],
        &["address", "addresses"],
        &["box", "boxes"],
        &["search", "searches", "searching", "searched"],
        &["deploy", "deployment", "deployments", "deploying"],
        &["configure", "configuration", "configured", "configurations"],
        &["describe", "description", "describes"],
        &["subscribe", "subscription", "subscriptions"],
        &["vulnerable", "vulnerability", "vulnerabilities"],
        &["notify", "notification", "notifies", "notified"],
        &["detect", "detection", "detector"],
        &["mine", "miner", "miners"],
        &["play", "player"],
        &["name", "named", "naming", "names"],
        &["search", "searchable"],
        &["read", "reader", "readable"],
        &["connect", "connection", "connector", "connecting"],
        &["execute", "execution", "executing"],
        &["analyze", "analysis", "analyzing", "analyses"],
        &["secure", "security"],
        &["document", "documentation", "documents"],
        &["file", "files", "filed"],
        &["month", "monthly", "months"],
        &["log", "logs", "logging", "logged"],
        &["pay", "paid", "payment", "payments"],
        &["person", "people"],
        &["send", "sent", "sending"],
        &["add", "added", "adding", "adds"],
    ] {
        let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
        assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?} become {stems:?}");
    }
}

#[test]
fn different_words_stay_different() {
    for (one, other) in [
        ("setting", "set"),
        ("rune", "run"),
        ("note", "not"),
        ("table", "tab"),
        ("customer", "custom"),
        ("status", "stat"),
        ("document", "dock"),
        ("comment", "come"),
        ("string", "stroke"),
        ("policy", "police"),
        ("address", "add"),
        ("segment", "seg"),
        ("speed", "spe"),
        ("session", "section"),
    ] {
        assert_ne!(stem(one), stem(other), "{one} and {other}");
    }
}

#[test]
fn irregular_forms_are_in_the_order_that_looking_up_needs() {
    assert!(IRREGULAR.is_sorted());
}

#[test]
fn short_words_and_words_with_other_signs_stay_as_they_are() {
    for word in ["id", "url", "aws", "dns", "sha256", "größe", "日本", ""] {
        assert_eq!(stem(word), word);
    }
}

proptest! {
    #[test]
    fn any_word_has_a_stem_no_longer_than_itself_by_more_than_a_letter(word in "\\PC{0,40}") {
        let stem = stem(&word);
        prop_assert!(stem.len() <= word.len() + 2);
        prop_assert!(word.is_empty() || !stem.is_empty());
    }
}
