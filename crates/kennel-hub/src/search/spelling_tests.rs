use super::is_one_slip;
use proptest::prelude::*;

#[test]
fn one_slip_is_told_from_none_and_two() {
    for (one, other) in
        [("databse", "database"), ("datbaase", "databaase"), ("form", "from"), ("serach", "search"), ("cat", "cut")]
    {
        assert!(is_one_slip(one, other) && is_one_slip(other, one), "{one} {other}");
    }
    for (one, other) in [("same", "same"), ("abcd", "badc"), ("list", "lists1"), ("", ""), ("file", "fuel")] {
        assert!(!is_one_slip(one, other), "{one} {other}");
    }
}

proptest! {
    #[test]
    fn any_two_words_can_be_held_together(one in "\\PC{0,20}", other in "\\PC{0,20}") {
        prop_assert_eq!(is_one_slip(&one, &other), is_one_slip(&other, &one));
    }

    #[test]
    fn a_letter_left_out_is_one_slip(word in "[a-z]{5,20}", place in 0_usize..5) {
        let mut without = word.clone();
        without.remove(place);
        prop_assert!(is_one_slip(&word, &without));
    }
}
