use super::*;

fn upstream() -> Upstream {
    let upstream =
        Upstream::new("https://example.org/s/path-0123456789abcdef/mcp?key=from-query&x=1").expect("an address");
    upstream.header("Authorization", "Bearer from-header").expect("a header")
}

#[test]
fn nothing_secret_is_shown() {
    let shown = format!("{:?}", upstream());
    assert!(shown.contains("authorization") && shown.contains("https://example.org"), "{shown}");
    assert!(!shown.contains("from-") && !shown.contains("path"), "{shown}");
}

#[test]
fn secrets_are_known_whole_and_in_parts() {
    let secrets = upstream().secrets();
    for secret in ["Bearer from-header", "from-header", "key=from-query&x=1", "from-query", "path-0123456789abcdef"] {
        assert!(secrets.iter().any(|known| known == secret), "{secret}: {secrets:?}");
    }
    assert!(!secrets.iter().any(|known| known == "mcp"), "{secrets:?}");
}

#[test]
fn headers_of_the_protocol_and_broken_ones_are_refused() {
    let refused = |name: &str, value: &str| upstream().header(name, value).expect_err(name);
    assert!(matches!(refused("Mcp-Session-Id", "x"), UpstreamError::Reserved(_)));
    assert!(matches!(refused("HOST", "x"), UpstreamError::Reserved(_)));
    assert!(matches!(refused("a b", "x"), UpstreamError::HeaderName(_)));
    let error = refused("X-Key", "secret\nX-Other: 1");
    assert!(matches!(error, UpstreamError::HeaderValue(_)));
    assert!(!error.to_string().contains("secret"));
}
