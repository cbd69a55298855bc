use super::*;

#[test]
fn places_count_lines_and_characters_from_one() {
    let text = "a\näö x\r\nlast\n";
    let of = |needle: &str| line_and_column(text, text.find(needle).unwrap());
    assert_eq!(of("a"), (1, 1));
    assert_eq!(of("x"), (2, 4));
    assert_eq!(of("last"), (3, 1));
    assert_eq!(line_and_column(text, 999), (3, 5), "never behind the last line");
    assert_eq!(line_and_column("", 0), (1, 1));
}

#[test]
fn problems_come_in_the_order_of_the_file_and_once() {
    let file = Path::new("kennel.toml");
    let mut report = Report::new(file, "one\ntwo\n");
    report.problem(4, "b", "is wrong", Some("did you mean `c`?".to_owned()));
    report.problem(0, "a", "is wrong too", None);
    report.problem(0, "a", "is wrong too", None);
    let error = report.finish().unwrap_err();
    assert_eq!(error.to_string(), "kennel.toml:1:1: a: is wrong too\nkennel.toml:2:1: b: is wrong; did you mean `c`?");
}

#[test]
fn odd_keys_are_quoted() {
    assert_eq!(join(&join("servers", "my server"), "command"), "servers.\"my server\".command");
}
