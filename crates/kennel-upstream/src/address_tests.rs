use super::*;

fn address(text: &str) -> Address {
    Address::parse(text).expect(text)
}

#[test]
fn only_the_origin_is_shown() {
    let secret = address("https://example.org:8443/s/key/mcp?token=key");
    assert_eq!(secret.to_string(), "https://example.org:8443");
    assert!(!format!("{secret:?}").contains("key"));
}

#[test]
fn addresses_of_no_server_are_refused() {
    assert!(matches!(Address::parse("ftp://example.org/"), Err(UpstreamError::Scheme)));
    assert!(matches!(Address::parse("/mcp"), Err(UpstreamError::NoAddress)));
    assert!(matches!(Address::parse("not an address"), Err(UpstreamError::NoAddress)));
    let error = Address::parse("https://user:password@example.org/").expect_err("credentials");
    assert!(matches!(error, UpstreamError::Credentials));
    assert!(!error.to_string().contains("password"));
}

#[test]
fn what_a_server_names_is_found_within_its_origin() {
    let base = address("http://Example.org/a/sse?x=1");
    for (reference, expected) in [
        ("/messages?id=1", "/messages?id=1"),
        ("messages", "/a/messages"),
        ("?id=2", "/a/sse?id=2"),
        ("http://example.ORG:80/other", "/other"),
        ("//example.org/other", "/other"),
        ("/m?to=http://x/", "/m?to=http://x/"),
        ("", "/a/sse?x=1"),
        ("/m#part", "/m"),
    ] {
        let found = base.within_origin(reference).expect(reference);
        assert_eq!(found.uri().path_and_query().expect("a path").as_str(), expected, "{reference}");
    }
}

#[test]
fn what_belongs_to_others_is_told_apart() {
    let base = address("https://example.org/sse");
    for other in [
        "https://evil.example/messages",
        "//evil.example/messages",
        "http://example.org/messages",
        "https://example.org:444/",
        "https://example.org.evil.example/",
    ] {
        assert!(matches!(base.within_origin(other), Err(Elsewhere::Other(_))), "{other}");
    }
    for none in ["https://user@example.org/", "javascript:alert(1)", "https:///x"] {
        assert_eq!(base.within_origin(none), Err(Elsewhere::Unreadable), "{none}");
    }
}
