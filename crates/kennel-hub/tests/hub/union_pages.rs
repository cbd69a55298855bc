//! Many servers as one: lists that are too long for one page.

use crate::support::{Guest, Profile, tools};
use crate::union_support::{House, called, list, member, scene_of, with_tools};
use kennel_hub::ProcessModel;
use serde_json::{Value, json};

/// A server with so many tools, on two pages of its own.
fn large(count: usize) -> Profile {
    let names: Vec<_> = (0..count).map(|number| format!("t{number:04}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut first = tools(&names[..count / 2]);
    first["nextCursor"] = json!("1");
    Profile { tools: vec![first, tools(&names[count / 2..])], ..Profile::default() }
}

fn house() -> House {
    let scene = |profile| scene_of(ProcessModel::Shared, profile);
    House::new(vec![("a", scene(large(1500))), ("b", scene(large(1500))), ("c", scene(with_tools(&["x", "y"])))])
}

async fn page(client: &Guest, cursor: &Value) -> Value {
    client.request(1, "tools/list", json!({ "cursor": cursor })).response().await["result"].clone()
}

#[tokio::test(start_paused = true)]
async fn pages_join_to_the_whole_list() {
    let house = house();
    let client = house.client().await;
    let first = list(&client, "tools/list").await;
    let mut names: Vec<String> = called(&first, "tools", "name").into_iter().map(str::to_owned).collect();
    assert!(names.len() < 3002, "it is not one page");
    let mut cursor = first["nextCursor"].clone();
    while !cursor.is_null() {
        let next = page(&client, &cursor).await;
        let more = called(&next, "tools", "name");
        assert!(!more.is_empty());
        names.extend(more.into_iter().map(str::to_owned));
        cursor = next["nextCursor"].clone();
    }
    let of = |server: &str| (0..1500).map(|number| format!("{server}__t{number:04}")).collect::<Vec<_>>();
    assert_eq!(names, [of("a"), of("b"), vec!["c__x".to_owned(), "c__y".to_owned()]].concat());
    // Clients that cannot leave a member out write `null`.
    assert_eq!(page(&client, &json!(null)).await, first);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_has_gone_is_passed_over() {
    let house = house();
    let client = house.client().await;
    let cursor = list(&client, "tools/list").await["nextCursor"].clone();
    assert!(cursor.as_str().unwrap().ends_with('b'), "the page ends within its tools: {cursor}");
    house.union.replace(vec![member("a", house.scene("a")), member("c", house.scene("c"))]);
    let rest = page(&client, &cursor).await;
    assert_eq!(called(&rest, "tools", "name"), ["c__x", "c__y"]);
    assert_eq!(rest.get("nextCursor"), None);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_foreign_cursor_is_refused() {
    let house = House::pair(ProcessModel::Shared);
    let client = house.client().await;
    for cursor in [json!("b"), json!(""), json!("x:b"), json!("-1:b"), json!(7), json!({})] {
        let refused = client.request(1, "tools/list", json!({ "cursor": cursor })).error(-32602).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("cursor"), "{refused}");
    }
    house.starts_nothing().await;
    // One beyond the end is at the end.
    let response = client.request(1, "tools/list", json!({ "cursor": "7:b" })).response().await;
    assert_eq!(response["result"], json!({ "tools": [] }));
    house.end().await;
}
