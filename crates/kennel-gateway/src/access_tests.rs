use super::*;
use crate::settings::Token;
use http::header::HeaderValue;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in pairs {
        map.append(*name, HeaderValue::from_str(value).expect("a header value"));
    }
    map
}

fn check(access: &Access, pairs: &[(&'static str, &str)]) -> Result<Principal, Denied> {
    access.check(Peer::Own, &Uri::from_static("/mcp"), &headers(pairs)).cloned()
}

fn loopback(settings: &AccessSettings) -> Access {
    Access::new(settings, "127.0.0.1:8808".parse().expect("an address"))
}

#[test]
fn a_loopback_gateway_takes_loopback_names_and_nothing_else() {
    let access = loopback(&AccessSettings::default());
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8808", "127.9.9.9", "[::1]", "[::1]:8808"] {
        assert_eq!(check(&access, &[("host", host)]), Ok(Principal::local()), "{host}");
    }
    for host in ["evil.example.com", "localhost.evil.example.com", "192.168.1.7", "127.0.0.1.evil.example.com", "[::2]"]
    {
        assert!(matches!(check(&access, &[("host", host)]), Err(Denied::Host(_))), "{host}");
    }
    assert_eq!(check(&access, &[]), Err(Denied::NoHost));
    assert_eq!(check(&access, &[("host", "localhost"), ("host", "localhost")]), Err(Denied::NoHost));
}

#[test]
fn an_address_in_the_request_line_counts_more_than_the_host_header() {
    let access = loopback(&AccessSettings::default());
    let uri = Uri::from_static("http://evil.example.com/mcp");
    let evil = access.check(Peer::Own, &uri, &headers(&[("host", "localhost")]));
    assert!(matches!(evil, Err(Denied::Host(_))));
}

#[test]
fn configured_hosts_are_taken_and_a_star_takes_all() {
    let named = loopback(&AccessSettings { hosts: vec!["kennel.example".into()], ..AccessSettings::default() });
    assert!(check(&named, &[("host", "Kennel.Example:443"), ("origin", "https://kennel.example")]).is_ok());
    assert!(check(&named, &[("host", "other.example")]).is_err());
    let all = loopback(&AccessSettings { hosts: vec!["*".into()], ..AccessSettings::default() });
    assert!(check(&all, &[("host", "other.example")]).is_ok());
    assert!(check(&all, &[("host", "other.example"), ("origin", "https://third.example")]).is_err());
}

#[test]
fn a_gateway_for_the_network_takes_addresses_but_no_foreign_names() {
    let access = Access::new(&AccessSettings::default(), "0.0.0.0:80".parse().expect("an address"));
    assert!(check(&access, &[("host", "10.1.2.3")]).is_ok());
    assert!(check(&access, &[("host", "10.1.2.3:80"), ("origin", "http://10.1.2.3:80")]).is_ok());
    assert!(check(&access, &[("host", "10.1.2.3:80"), ("origin", "http://203.0.113.9")]).is_err());
    assert!(check(&access, &[("host", "evil.example.com")]).is_err());
}

#[test]
fn origins_are_refused_unless_own_or_listed() {
    let access =
        loopback(&AccessSettings { origins: vec!["https://app.example/".into()], ..AccessSettings::default() });
    for origin in [
        "http://localhost:8808",
        "http://127.0.0.1:8808",
        "http://[::1]:8808",
        "https://app.example",
        "https://APP.example",
    ] {
        assert!(check(&access, &[("host", "localhost:8808"), ("origin", origin)]).is_ok(), "{origin}");
    }
    for origin in [
        "null",
        "",
        "localhost",
        "http://evil.example.com",
        "http://app.example",
        "https://app.example.evil",
        // Pages of other programs on this machine.
        "http://localhost:6274",
        "http://127.0.0.1",
        "https://localhost",
        "http://[::1]:1",
        "http://localhost:8808.evil.example",
        "http://localhost:8808@evil.example",
    ] {
        let denied = check(&access, &[("host", "localhost:8808"), ("origin", origin)]);
        assert!(matches!(denied, Err(Denied::Origin(_))), "{origin}: {denied:?}");
    }
}

#[test]
fn a_token_tells_who_is_calling() {
    let token = |secret: &str, who| Token { secret: secret.into(), principal: Principal::new(who) };
    let tokens = vec![token("first secret", "alice"), token("second", "bob")];
    let access = loopback(&AccessSettings { tokens, ..AccessSettings::default() });
    let with = |value: &str| check(&access, &[("host", "localhost"), ("authorization", value)]);
    assert_eq!(with("Bearer first secret"), Ok(Principal::new("alice")));
    assert_eq!(with("bearer  second "), Ok(Principal::new("bob")));
    assert_eq!(with("Bearer secon"), Err(Denied::Token));
    assert_eq!(with("Bearer second2"), Err(Denied::Token));
    assert_eq!(with("Bearer "), Err(Denied::Token));
    assert_eq!(with("Basic second"), Err(Denied::NoToken));
    assert_eq!(check(&access, &[("host", "localhost")]), Err(Denied::NoToken));
    assert!(!format!("{:?}", token("first secret", "alice")).contains("secret:"));
}

#[test]
fn without_a_token_only_the_own_user_and_root_are_let_in() {
    let access = loopback(&AccessSettings::default());
    let with = |peer| access.check(peer, &Uri::from_static("/mcp"), &headers(&[("host", "localhost")])).cloned();
    assert_eq!(with(Peer::Own), Ok(Principal::local()));
    assert_eq!(with(Peer::Other(1001)), Err(Denied::User(1001)));
    assert_eq!(with(Peer::Unknown), Err(Denied::UnknownUser));
    let text = Denied::User(1001).to_string();
    assert!(text.contains("user 1001") && text.contains("--token-env"), "{text}");
}
