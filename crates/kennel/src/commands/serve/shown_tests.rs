use super::Shown;
use kennel_config::{Pattern, ToolFilter, ToolRules};
use kennel_hub::{Presentation, Presented};

fn patterns(patterns: &[&str]) -> Vec<Pattern> {
    patterns.iter().map(|pattern| Pattern::new(*pattern)).collect()
}

#[test]
fn a_tool_is_shown_as_both_the_server_and_the_view_say() {
    let rules = ToolRules {
        filter: ToolFilter { allow: Vec::new(), deny: patterns(&["drop_*"]) },
        rename: [("get".to_owned(), "fetch".to_owned())].into(),
        descriptions: [("get".to_owned(), "Gets it.".to_owned())].into(),
    };
    let filter =
        ToolFilter { allow: patterns(&["fetch", "db__list*", "drop_table"]), deny: patterns(&["list_secrets"]) };
    let shown = Shown { server: "db".to_owned(), rules, filter };
    let fetch = Presented { name: "fetch".to_owned(), description: Some("Gets it.".to_owned()) };
    assert_eq!(shown.tool("get"), Some(fetch));
    assert_eq!(shown.original("fetch").as_deref(), Some("get"));
    assert_eq!(shown.original("get"), None, "it has another name");
    assert_eq!(shown.tool("list_all").map(|tool| tool.name).as_deref(), Some("list_all"));
    assert_eq!(shown.original("list_all").as_deref(), Some("list_all"));
    for hidden in ["drop_table", "list_secrets", "other"] {
        assert_eq!((shown.tool(hidden), shown.original(hidden)), (None, None), "{hidden}");
    }
}

#[test]
fn another_spelling_of_a_hidden_tool_is_hidden_too() {
    let rules = ToolRules {
        filter: ToolFilter { allow: Vec::new(), deny: patterns(&["delete_*", "danger"]) },
        rename: [("get".to_owned(), "fetch".to_owned())].into(),
        ..ToolRules::default()
    };
    let filter = ToolFilter { allow: Vec::new(), deny: patterns(&["db__stop", "Leave"]) };
    let shown = Shown { server: "db".to_owned(), rules, filter };
    for hidden in
        ["Danger", "DANGER", "dan_ger", "danger ", "danger\u{200b}", "Delete_All", "deleteall", "STOP", "leave", "Get"]
    {
        assert_eq!(shown.original(hidden), None, "{hidden:?}");
    }
    for other in ["dangers", "undelete_all", "stops", "fetcher"] {
        assert_eq!(shown.original(other).as_deref(), Some(other));
    }
}
