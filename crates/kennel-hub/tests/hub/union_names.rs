//! Many servers as one: the names under which clients see tools, and how their owner wants them shown.

use crate::support::{Profile, Scene, settle, tools};
use crate::union_support::{House, called, list, presented, rich, scene_of, tool_names, with_tools};
use kennel_hub::{Naming, OutgoingKind, Presentation, Presented, ProcessModel, Union, UnionSettings};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn names_are_such_as_all_clients_take_and_all_can_be_called() {
    let long = "x".repeat(100);
    let longer = format!("{long}y");
    let of_a = ["plain", "b__c", "_b", "b/c", "b.c", "b c", "ö", long.as_str(), longer.as_str()];
    let house = || {
        let scene = |names: &[&str]| scene_of(ProcessModel::Shared, with_tools(names));
        House::new(vec![("a", scene(&of_a)), ("a__b", scene(&["c"])), ("a_", scene(&["b"])), ("o.k", scene(&["c"]))])
    };
    let (first, again) = (house(), house());
    let client = first.client().await;
    let names = tool_names(&client).await;
    assert_eq!(names.len(), 12);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 12, "{names:?}");
    for name in &names {
        let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        assert!(name.len() <= 64 && name.bytes().all(is_taken), "{name}");
    }
    assert_eq!(names, tool_names(&again.client().await).await, "they are the same every time");
    let own = of_a.iter().map(|name| ("a", *name)).chain([("a_", "b"), ("a__b", "c"), ("o.k", "c")]);
    let mut processes = Vec::new();
    for server in ["a", "a_", "a__b", "o.k"] {
        processes.push((server, first.process(server).await));
    }
    for (name, (server, own)) in names.iter().zip(own) {
        let stream = client.call(1, name);
        let process = processes.iter_mut().find(|(other, _)| *other == server).map(|(_, process)| process).unwrap();
        let request = process.expect("tools/call").await;
        assert_eq!(request["params"]["name"], own, "{name}");
        process.answer(&request, json!({})).await;
        stream.response().await;
    }
    first.end().await;
    again.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_name_stays_whatever_else_comes() {
    let scene = |names: &[&str]| scene_of(ProcessModel::Shared, with_tools(names));
    let many = House::new(vec![("a", scene(&["z", "b/c", "b.c"])), ("b", scene(&["b/c"]))]);
    let alone = House::new(vec![("a", scene(&["b/c"]))]);
    let name = tool_names(&alone.client().await).await.remove(0);
    assert_eq!(tool_names(&many.client().await).await[1], name);
    many.end().await;
    alone.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_listed_twice_is_shown_once() {
    let profile = Profile {
        tools: vec![tools(&["x", "y", "x"])],
        lists: vec![("prompts/list", json!({ "prompts": [{ "name": "p" }, { "name": "p" }] }))],
        capabilities: json!({ "tools": {}, "prompts": {} }),
        ..Profile::default()
    };
    let house = House::new(vec![("a", scene_of(ProcessModel::Shared, profile))]);
    let client = house.client().await;
    assert_eq!(tool_names(&client).await, ["a__x", "a__y"]);
    assert_eq!(called(&list(&client, "prompts/list").await, "prompts", "name"), ["a__p"]);
    house.end().await;
}

/// Hides `secret`, shows `old` as `new` with another description, and `also` as `x`.
#[derive(Debug)]
struct Chosen;

impl Presentation for Chosen {
    fn tool(&self, name: &str) -> Option<Presented> {
        let shown = |name: &str| Some(Presented { name: name.to_owned(), description: None });
        match name {
            "secret" => None,
            "old" => Some(Presented { name: "new".to_owned(), description: Some("a \"new\" one".to_owned()) }),
            "also" => shown("x"),
            _ => shown(name),
        }
    }

    fn original(&self, shown: &str) -> Option<String> {
        match shown {
            "secret" | "old" | "also" => None,
            "new" => Some("old".to_owned()),
            _ => Some(shown.to_owned()),
        }
    }
}

fn chosen(naming: Naming) -> House {
    let tool = |name: &str| json!({ "name": name, "description": format!("does {name}"), "n": 1.50 });
    let page = json!({ "tools": [tool("x"), tool("secret"), tool("old"), tool("also")] });
    let scene: Scene = scene_of(ProcessModel::Shared, Profile { tools: vec![page], ..rich("x") });
    let settings = UnionSettings { naming, ..UnionSettings::default() };
    let union = Union::new(settings, vec![presented("a", &scene, Arc::new(Chosen))]);
    House::of(union, vec![("a", scene)])
}

#[tokio::test(start_paused = true)]
async fn tools_are_hidden_renamed_and_described_as_their_owner_wants() {
    let house = chosen(Naming::Joined);
    let client = house.client().await;
    // Also before anything is known.
    for hidden in ["a__secret", "a__old", "a__also"] {
        client.call(1, hidden).error(-32602).await;
    }
    house.starts_nothing().await;
    let spelled = client.request(1, "tools/list", json!({})).spelled(OutgoingKind::Response).await;
    assert!(!spelled.contains("does old"), "it has one description: {spelled}");
    let listed = list(&client, "tools/list").await;
    let names = called(&listed, "tools", "name");
    assert_eq!(&names[..2], ["a__x", "a__new"]);
    assert!(names[2].starts_with("a__also_") && names.len() == 3, "the name that it would have is taken: {names:?}");
    assert_eq!(listed["tools"][0], json!({ "name": "a__x", "description": "does x", "n": 1.50 }));
    assert_eq!(listed["tools"][1], json!({ "name": "a__new", "n": 1.50, "description": "a \"new\" one" }));
    let mut process = house.process("a").await;
    for (name, own) in [("a__new", "old"), ("a__x", "x"), (names[2], "also")] {
        let stream = client.call(1, name);
        let request = process.expect("tools/call").await;
        assert_eq!(request["params"]["name"], own);
        process.answer(&request, json!({})).await;
        stream.response().await;
    }
    for hidden in ["a__secret", "a__old", "a__also"] {
        let refused = client.call(1, hidden).error(-32602).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains(hidden), "{refused}");
    }
    settle().await;
    process.hears_nothing().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_alone_may_keep_its_names() {
    let house = chosen(Naming::Own);
    let client = house.client().await;
    let listed = list(&client, "tools/list").await;
    assert_eq!(called(&listed, "tools", "name"), ["x", "new"]);
    assert_eq!(called(&list(&client, "prompts/list").await, "prompts", "name"), ["greet"]);
    assert_eq!(called(&list(&client, "resources/list").await, "resources", "uri"), ["file:///x"]);
    let templates = list(&client, "resources/templates/list").await;
    assert_eq!(called(&templates, "resourceTemplates", "uriTemplate"), ["db://{id}/row"]);
    let mut process = house.process("a").await;
    let link = json!({ "content": [{ "type": "resource_link", "uri": "file:///x", "name": "x" }] });
    for (method, params, own) in [
        ("tools/call", json!({ "name": "new" }), json!({ "name": "old" })),
        ("tools/call", json!({ "name": "not__listed" }), json!({ "name": "not__listed" })),
        ("prompts/get", json!({ "name": "greet" }), json!({ "name": "greet" })),
        ("resources/read", json!({ "uri": "file:///x" }), json!({ "uri": "file:///x" })),
    ] {
        let stream = client.request(1, method, params);
        let request = process.expect(method).await;
        assert_eq!(request["params"], own);
        process.answer(&request, link.clone()).await;
        assert_eq!(stream.response().await["result"], link);
    }
    // Where no address has to be changed, nothing is.
    let stream = client.call(1, "x");
    let request = process.expect("tools/call").await;
    let result = r#"{ "content":[ {"uri" : "file:///x","type":"resource_link"} ]}"#;
    process.say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"])).await;
    assert!(stream.spelled(OutgoingKind::Response).await.contains(result));
    // Who knows it is told who the server is, as at its own address.
    assert_eq!(house.client().await.introduction["result"]["serverInfo"]["name"], "fake");
    client.call(1, "secret").error(-32602).await;
    client.call(1, "old").error(-32602).await;
    process.hears_nothing().await;
    house.end().await;
}
