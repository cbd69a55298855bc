use super::*;

fn diff(before: &str, after: &str) -> String {
    unified("file", [before, before], [after, after])
}

#[test]
fn a_change_is_shown_with_what_is_around_it() {
    let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n";
    let expected = "--- file\n+++ file\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+10\n";
    assert_eq!(diff(before, after), expected);
}

#[test]
fn changes_far_apart_are_shown_apart() {
    let before: String = (0..30).flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    let after = before.replace("\n5\n", "\nfive\n").replace("\n25\n", "\n");
    let shown = diff(&before, &after);
    assert!(shown.contains("@@ -3,7 +3,7 @@"), "{shown}");
    assert!(shown.contains("@@ -23,7 +23,6 @@"), "{shown}");
}

#[test]
fn a_new_file_is_all_new_and_the_same_is_nothing() {
    assert_eq!(diff("", "a\nb\n"), "--- file\n+++ file\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    assert_eq!(diff("a\n", "a\n"), "");
}

#[test]
fn lines_are_shown_as_they_may_be_seen() {
    let shown = unified("file", ["key = 1\n", "key = …\n"], ["key = 2\n", "key = …\n"]);
    assert_eq!(shown, "--- file\n+++ file\n@@ -1,1 +1,1 @@\n-key = …\n+key = …\n");
}

proptest::proptest! {
    #[test]
    fn the_steps_lead_from_one_text_to_the_other(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}") {
        let (old, new) = (lines(&old), lines(&new));
        let steps = steps(&old, &new);
        let kept: Vec<&str> = steps.iter().filter_map(|step| match step {
            Step::Keep(at, _) | Step::Drop(at, _) => Some(old[*at]),
            Step::Add(..) => None,
        }).collect();
        let made: Vec<&str> = steps.iter().filter_map(|step| match step {
            Step::Keep(_, at) | Step::Add(_, at) => Some(new[*at]),
            Step::Drop(..) => None,
        }).collect();
        proptest::prop_assert_eq!(kept, old);
        proptest::prop_assert_eq!(made, new);
    }
}
