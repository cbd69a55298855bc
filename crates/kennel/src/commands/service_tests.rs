use super::*;

#[test]
fn connections_leave_descriptors_for_everything_else() {
    for (files, connections) in [(128, 64), (256, 192), (1024, 768), (20_000, 15_904), (1 << 20, 20_000)] {
        assert_eq!(connections_within(files).ok(), Some(connections), "{files}");
    }
    let error = connections_within(127).map_err(|failure| failure.to_string()).unwrap_err();
    assert!(error.contains("127 files") && error.contains("ulimit -n"), "{error}");
}

#[test]
fn tokens_that_can_be_guessed_or_not_sent_are_refused() {
    let given = |text: &str| Bearer::given(&Secret::new(text)).map(|bearer| bearer.secret);
    assert_eq!(given("0123456789abcdef").as_deref(), Ok("0123456789abcdef"));
    assert!(given("0123456789abcde").is_err_and(|text| text.contains("at least 16")));
    assert!(given("").is_err());
    assert!(given("0123456789abcdef 0123456789abcdef").is_err_and(|text| text.contains("printable")));
}
