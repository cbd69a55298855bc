use super::{Address, AddressError};

#[test]
fn every_url_of_a_gateway_leads_to_its_door() {
    for (url, shown) in [
        ("http://127.0.0.1:7330", "http://127.0.0.1:7330/rpc"),
        ("http://127.0.0.1:7330/", "http://127.0.0.1:7330/rpc"),
        ("http://127.0.0.1:7330/mcp", "http://127.0.0.1:7330/rpc"),
        ("http://127.0.0.1:7330/mcp/", "http://127.0.0.1:7330/rpc"),
        ("http://127.0.0.1:7330/rpc", "http://127.0.0.1:7330/rpc"),
        ("HTTP://box.example/pre/fix/mcp", "http://box.example:80/pre/fix/rpc"),
        ("localhost:7331", "http://localhost:7331/rpc"),
        ("http://[::1]:7330/mcp", "http://[::1]:7330/rpc"),
        ("http://[::1]", "http://[::1]:80/rpc"),
    ] {
        assert_eq!(Address::read(url).map(|address| address.to_string()).as_deref(), Ok(shown), "{url}");
    }
    assert_eq!(Address::read("http://[::1]:7330").map(|address| address.host).as_deref(), Ok("::1"));
}

#[test]
fn other_urls_are_refused_with_the_reason() {
    let own = |url: &str| url.to_owned();
    for (url, error) in [
        ("https://a:1/mcp", AddressError::Tls(own("https://a:1/mcp"))),
        ("ws://a:1/ws", AddressError::Scheme(own("ws://a:1/ws"))),
        ("http://user:secret@a:1", AddressError::Secret),
        ("http://a:1/mcp?token=x", AddressError::Extra(own("http://a:1/mcp?token=x"))),
        ("http://", AddressError::Host(own("http://"))),
        ("http://:7330", AddressError::Host(own("http://:7330"))),
        ("http://a b:1", AddressError::Host(own("http://a b:1"))),
        ("http://a\r\nX: y", AddressError::Host(own("http://a\r\nX: y"))),
        ("http://a:1/x\r\ny", AddressError::Host(own("http://a:1/x\r\ny"))),
        ("http://[::1", AddressError::Host(own("http://[::1"))),
        ("http://a:0", AddressError::Port(own("http://a:0"), own("0"))),
        ("http://a:", AddressError::Port(own("http://a:"), own(""))),
        ("http://a:99999", AddressError::Port(own("http://a:99999"), own("99999"))),
        ("http://[::1]7330", AddressError::Port(own("http://[::1]7330"), own("7330"))),
    ] {
        assert_eq!(Address::read(url), Err(error), "{url}");
    }
}

#[test]
fn a_secret_is_not_repeated() {
    let error = Address::read("http://user:secret@a:1").map_err(|error| error.to_string());
    assert!(error.is_err_and(|text| !text.contains("secret@") && text.contains("KENNEL_TOKEN")));
}
