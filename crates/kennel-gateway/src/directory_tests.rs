use super::Address;

#[test]
fn paths_are_taken_apart() {
    for (path, expected) in [
        ("/mcp", Some((Address::All, "", "mcp"))),
        ("/servers/a.b-c/mcp", Some((Address::Server("a.b-c"), "/servers/a.b-c", "mcp"))),
        ("/views/small/ws", Some((Address::View("small"), "/views/small", "ws"))),
        ("/servers/x/", Some((Address::Server("x"), "/servers/x", ""))),
        ("/", Some((Address::All, "", ""))),
        ("", None),
        ("/servers//mcp", None),
        ("/servers/mcp", None),
        ("/boxes/x/mcp", None),
        ("mcp", None),
    ] {
        assert_eq!(Address::split(path), expected, "{path}");
    }
    // No name has a slash, so this leads to nothing.
    assert_eq!(Address::split("/servers/a/b/mcp"), Some((Address::Server("a/b"), "/servers/a/b", "mcp")));
}
