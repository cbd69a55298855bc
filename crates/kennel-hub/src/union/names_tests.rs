use super::{LONGEST, joined, joined_address, split, split_address};
use proptest::prelude::*;

#[test]
fn names_are_joined_and_split() {
    for (server, name, expected) in
        [("files", "read", "files__read"), ("a", "_b", "a___b"), ("a", "b__c", "a__b__c"), ("a-b", "c-d", "a-b__c-d")]
    {
        assert_eq!(joined(server, name), expected);
        assert_eq!(split(expected), Some((server, name)));
    }
}

#[test]
fn what_could_mean_something_else_ends_in_a_digest() {
    for (server, name) in [("a__b", "c"), ("a_", "b"), ("a.b", "c"), ("a", "b/c"), ("a", "ö"), ("a", ""), ("a", "b c")]
    {
        let joined = joined(server, name);
        assert!(joined.len() <= LONGEST && joined.bytes().all(super::is_taken), "{joined}");
        assert_ne!(joined, format!("{server}__{name}"));
        assert_eq!(joined, super::joined(server, name), "it stays the same");
    }
    assert_ne!(joined("a__b", "c"), joined("a", "b__c"));
    assert_ne!(joined("a_", "b"), joined("a", "_b"));
    assert_ne!(joined("a", "b.c"), joined("a", "b/c"));
    let long = "x".repeat(100);
    assert_eq!(joined("a", &long).len(), LONGEST);
    assert_ne!(joined("a", &long), joined("a", &format!("{long}y")));
}

proptest! {
    #[test]
    fn two_things_never_have_one_name(
        one in ("[a-c_.-]{1,4}", "[a-c_.-]{1,4}"),
        other in ("[a-c_.-]{1,4}", "[a-c_.-]{1,4}"),
    ) {
        prop_assert_eq!(joined(&one.0, &one.1) == joined(&other.0, &other.1), one == other);
    }

    #[test]
    fn addresses_come_back(server in "[a-zA-Z0-9._-]{1,8}", address in ".{0,20}") {
        let joined = joined_address(&server, &address);
        prop_assert_eq!(split_address(&joined), Some((server.as_str(), address.as_str())));
    }
}
