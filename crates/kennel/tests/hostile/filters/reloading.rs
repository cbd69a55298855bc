//! Rules hold in sessions that are open, from the moment a reload is confirmed.

use crate::scene::{Door, Place};
use rustix::process::Signal;
use serde_json::json;

const VIEWS: &str = "[views.some]\nservers = [\"lax\"]\n";
const CHANGED: &str = "notifications/tools/list_changed";

type Clients = Vec<(String, &'static str, Box<dyn Door>)>;

fn clients(place: &Place, addresses: &[(&str, &'static str)]) -> Clients {
    let of = |(address, own): &(&str, &'static str)| {
        let clients = place.clients(address).into_iter();
        let address = (*address).to_owned();
        let own = *own;
        clients.map(move |(door, client)| (format!("{door} of {address}/"), own, client)).collect::<Vec<_>>()
    };
    addresses.iter().flat_map(of).collect()
}

/// Checks what all of them see and can call, and what those hear that are told things.
fn check(clients: &mut Clients, sees: bool, hears: bool) {
    for (name, own, client) in clients {
        assert_eq!(client.tools().contains(&"danger".to_owned()), sees, "{name}");
        let called = client.call(&format!("{own}danger"));
        assert_eq!(called.is_ok(), sees, "{name}: {called:?}");
        assert_eq!(client.call(&format!("{own}echo")).as_deref(), Ok("ran echo"), "{name}");
        if let Some(told) = client.told() {
            assert_eq!(told.iter().any(|method| method == CHANGED), hears, "{name}: {told:?}");
        }
    }
}

#[test]
fn the_first_denial_of_a_server_holds_in_open_sessions_everywhere() {
    let place = Place::start("", VIEWS);
    let mut open = clients(&place, &[("/servers/lax", ""), ("/views/some", "lax__"), ("", "lax__")]);
    // Lists of servers that become known are told as changes.
    for (_, _, client) in &mut open {
        client.tools();
        client.told();
    }
    check(&mut open, true, false);
    place.change("tools = { deny = [\"dan*\"] }", VIEWS);
    check(&mut open, false, true);
    // Another rule of the same kind, and none again.
    place.change("tools = { allow = [\"echo\", \"ran\"] }", VIEWS);
    check(&mut open, false, true);
    place.change("", VIEWS);
    check(&mut open, true, true);
    // With another process at the same time.
    place.change("env = { NEW = \"1\" }\ntools = { deny = [\"danger\"] }", VIEWS);
    check(&mut open, false, true);
    place.scene.end(Signal::INT);
}

#[test]
fn what_a_view_denies_holds_in_its_open_sessions_and_in_no_others() {
    let place = Place::start("", VIEWS);
    let (mut view, mut others) =
        (clients(&place, &[("/views/some", "lax__")]), clients(&place, &[("/servers/lax", ""), ("", "lax__")]));
    for (_, _, client) in view.iter_mut().chain(&mut others) {
        client.tools();
        client.told();
    }
    check(&mut view, true, false);
    place.change("", &format!("{VIEWS}tools = {{ deny = [\"danger\"] }}\n"));
    check(&mut view, false, true);
    check(&mut others, true, false);
    place.scene.end(Signal::INT);
}

#[test]
fn a_view_that_shows_otherwise_does_so_in_open_sessions() {
    let place = Place::start("", VIEWS);
    let mut open = clients(&place, &[("/views/some", "lax__")]);
    for (name, _, client) in &mut open {
        assert_eq!(client.call("lax__danger").as_deref(), Ok("ran danger"), "{name}");
    }
    place.change("", &format!("{VIEWS}surface = \"search\"\ntools = {{ deny = [\"danger\"] }}\n"));
    for (name, _, client) in &mut open {
        let tools = client.tools();
        assert!(tools.len() == 2 && !tools.contains(&"danger".to_owned()), "{name}: {tools:?}");
        assert!(client.call("lax__danger").is_err(), "{name}");
        let called = |client: &mut Box<dyn Door>, tool: &str| {
            let params = json!({ "name": "call_tool", "arguments": { "name": tool, "arguments": {} } });
            client.ask("tools/call", &params).to_string()
        };
        assert!(!called(client, "lax__danger").contains("ran danger"), "{name}");
        assert!(called(client, "lax__echo").contains("ran echo"), "{name}");
        let found = client.ask("tools/call", &json!({ "name": "search_tools", "arguments": { "query": "danger" } }));
        assert!(!found.to_string().contains("lax__danger"), "{name}: {found}");
    }
    place.scene.end(Signal::INT);
}

#[test]
fn a_view_or_server_that_is_gone_serves_nobody_any_more() {
    let other = "[servers.other]\ncommand = \"/bin/cat\"\n";
    let place = Place::start("", VIEWS);
    let mut open = clients(&place, &[("/views/some", "lax__")]);
    for (name, _, client) in &mut open {
        assert_eq!(client.call("lax__danger").as_deref(), Ok("ran danger"), "{name}");
    }
    let before = place.ran();
    place.change("", other);
    for (name, _, client) in &mut open {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "lax__danger" } });
        let answer = client.send(&request.to_string());
        assert!(!answer.clone().unwrap_or_default().to_string().contains("ran danger"), "{name}: {answer:?}");
    }
    assert_eq!(place.ran(), before);
    place.scene.end(Signal::INT);
}
