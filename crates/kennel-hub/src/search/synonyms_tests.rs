use super::*;

#[test]
fn words_of_a_group_stand_for_one_another() {
    assert!(of(&stem("fetch")).contains(&stem("retrieve")));
    assert!(of(&stem("folders")).contains(&stem("directory")));
    assert!(!of(&stem("fetch")).contains(&stem("fetch")));
    assert!(of("unheard").is_empty());
}

#[test]
fn pairs_are_in_the_order_that_looking_up_needs() {
    assert!(PHRASES.is_sorted_by(|one, other| (one.0, one.1) < (other.0, other.1)));
    assert_eq!(phrase("turn", "on"), Some("enable"));
    assert_eq!(phrase("back", "up"), Some("backup"));
    assert_eq!(phrase("turn", "up"), None);
}

#[test]
fn what_is_done_is_told_from_what_it_is_done_to() {
    assert!(is_action(&stem("fetching")) && is_action(&stem("delete")));
    assert!(!is_action(&stem("folder")) && !is_action("order") && !is_action("unheard"));
}

#[test]
fn groups_are_small() {
    assert!(ACTIONS.iter().chain(THINGS).all(|group| (2..=12).contains(&group.len())));
    assert!(LazyLock::new(others).values().all(|others| others.len() <= 40));
}
