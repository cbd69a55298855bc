use super::*;
use proptest::prelude::*;

fn alias_of(server: &str) -> String {
    aliases([server])[server].clone()
}

#[test]
fn servers_get_aliases_by_the_rules() {
    for (server, alias) in [
        ("filesystem", "filesystem"),
        ("File System", "file_system"),
        ("a.b-c/d", "a_b_c_d"),
        ("1password", "_1password"),
        ("class", "class_"),
        ("Import", "import_"),
        ("match", "match"),
        ("type", "type"),
        ("", "server"),
        ("日本", "server"),
        ("___", "server"),
        ("Café", "caf_"),
        ("İstanbul", "i_stanbul"),
        ("mcp", "mcp_"),
        ("runtime", "runtime_"),
        ("servers", "servers_"),
    ] {
        assert_eq!(alias_of(server), alias, "{server}");
    }
}

#[test]
fn aliases_that_would_be_the_same_are_numbered_in_the_order_of_the_names() {
    let wanted = [("my server", "my_server"), ("my-server", "my_server_2"), ("my_server", "my_server_3")];
    let wanted: BTreeMap<&str, String> = wanted.into_iter().map(|(name, alias)| (name, alias.to_owned())).collect();
    assert_eq!(aliases(["my server", "my-server", "my_server"]), wanted);
    assert_eq!(aliases(["my_server", "my-server", "my server", "my-server"]), wanted);
}

#[test]
fn a_number_that_somebody_has_as_a_name_is_left_out() {
    let named = aliases(["A", "a", "a_2"]);
    assert_eq!((&*named["A"], &*named["a"], &*named["a_2"]), ("a", "a_2", "a_2_2"));
}

#[test]
fn tools_keep_their_case_and_their_names_if_they_can() {
    let named = tools(["read-file", "readFile", "read_file", "from", "__init__", "", "2fa"].into_iter());
    assert_eq!(named, ["read_file_2", "readFile", "read_file", "from_", "tool__init__", "tool", "_2fa"]);
}

#[test]
fn arguments_keep_their_names_if_they_can() {
    let named = arguments(["from", "from_", "x-y", "match", "$filter", "@"].into_iter());
    assert_eq!(named, ["from__2", "from_", "x_y", "match", "_filter", "argument"]);
}

proptest! {
    #[test]
    fn any_names_become_different_names_of_python(names in proptest::collection::vec("\\PC{0,5}|[ab_1]{0,3}|class|from|[A-z]{0,90}", 0..12)) {
        let named: Vec<String> = aliases(names.iter().map(String::as_str)).into_values().collect();
        for named in [named, tools(names.iter().map(String::as_str)), arguments(names.iter().map(String::as_str))] {
            prop_assert!(named.iter().all(|name| is_name(name)), "{named:?}");
            prop_assert_eq!(named.iter().collect::<HashSet<_>>().len(), named.len());
        }
    }
}
