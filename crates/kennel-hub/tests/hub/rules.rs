//! Rules for the tools of a server hold at its own address and in views from the moment they are made, also in sessions
//! that are open, and whatever spelling is tried.

use crate::callers::{answer, request, with};
use crate::support::{Guest, Profile, Scene, calm, introduce, parse, settle, tools};
use crate::union_support::{House, called, hear_out, list, member, presented, scene_of, tool_names, with_tools};
use kennel_hub::{
    Caller, Endpoint, Mailbox, MailboxLimits, Naming, Presentation, Presented, Principal, ProcessModel, Surface, Union,
    UnionSettings,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

const CHANGED: &str = "notifications/tools/list_changed";

/// Shows all tools but one, and `echo` as `say`.
#[derive(Debug)]
struct Without(&'static str);

impl Presentation for Without {
    fn tool(&self, name: &str) -> Option<Presented> {
        let shown = if name == "echo" { "say" } else { name };
        (name != self.0).then(|| Presented { name: shown.to_owned(), description: None })
    }

    fn original(&self, shown: &str) -> Option<String> {
        let own = if shown == "say" { "echo" } else { shown };
        (own != self.0 && shown != "echo").then(|| own.to_owned())
    }
}

fn rules(scene: &Scene, hidden: &'static str) -> Union {
    let settings = UnionSettings { naming: Naming::Own, ..UnionSettings::default() };
    Union::new(settings, vec![presented("weather", scene, Arc::new(Without(hidden)))])
}

fn server(model: ProcessModel) -> Scene {
    let names = &["echo", "danger"];
    scene_of(model, Profile { lists: vec![("tools/list", tools(names))], ..with_tools(names) })
}

/// Calls a tool and returns what the process was asked for, if it was.
async fn asked_for(scene: &Scene, client: &Guest, tool: &str) -> Result<Value, Value> {
    let stream = client.call(5, tool);
    settle().await;
    if let Some(answered) = stream.mailbox.try_next() {
        return Err(serde_json::from_slice(&answered.message).unwrap());
    }
    let (process, request) = scene.process_that_hears("tools/call").await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    Ok(request["params"]["name"].clone())
}

#[tokio::test(start_paused = true)]
async fn the_first_rule_of_a_server_holds_in_sessions_that_are_open() {
    for model in [ProcessModel::PerCall, ProcessModel::PerSession] {
        let scene = server(model);
        let client = scene.client().await;
        assert_eq!(tool_names(&client).await, ["echo", "danger"], "{model:?}");
        hear_out(&client).await;
        let union = rules(&scene, "danger");
        scene.hub.show_through(Some(&union));
        scene.hub.tools_changed();
        assert_eq!(client.unsolicited.notification().await["method"], CHANGED);
        client.unsolicited.is_quiet().await;
        assert_eq!(tool_names(&client).await, ["say"], "{model:?}");
        for hidden in ["danger", "echo"] {
            client.call(5, hidden).error(-32602).await;
        }
        assert_eq!(asked_for(&scene, &client, "say").await, Ok(json!("echo")), "{model:?}");
        // What the protocol does not have could lead anywhere.
        client.request(6, "acme/call", json!({ "name": "danger" })).error(-32601).await;
        assert_eq!(client.request(7, "ping", json!({})).response().await["result"], json!({}));
        // Without rules everything is there again.
        scene.hub.show_through(None);
        scene.hub.tools_changed();
        assert_eq!(client.unsolicited.notification().await["method"], CHANGED);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn rules_hold_for_those_without_sessions() {
    let scene = server(ProcessModel::Shared);
    let endpoint = Endpoint::Server(scene.hub.clone());
    let union = rules(&scene, "danger");
    scene.hub.show_through(Some(&union));
    let caller = Caller::new(Principal::new("ann"));
    let mailbox = || Mailbox::new(MailboxLimits::default());
    for tool in ["danger", "echo"] {
        let (modern, legacy) = (mailbox(), mailbox());
        let _asked =
            endpoint.ask(&caller, with(request(1, "tools/call", &json!({})), &json!({ "name": tool })), &modern);
        assert_eq!(answer(&modern).await["error"]["code"], -32602, "{tool}");
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool } });
        endpoint.call(&caller, parse(&call.to_string()), &legacy);
        assert_eq!(answer(&legacy).await["error"]["code"], -32602, "{tool}");
    }
    let listed = mailbox();
    let _asked = endpoint.ask(&caller, request(1, "tools/list", &json!({})), &listed);
    let listed = answer(&listed).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1, "{listed}");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn rules_stay_when_another_hub_takes_the_place() {
    let (scene, next) = (server(ProcessModel::PerSession), server(ProcessModel::PerSession));
    let client = scene.client().await;
    tool_names(&client).await;
    let union = rules(&scene, "danger");
    scene.hub.show_through(Some(&union));
    scene.hub.hand_over(&next.hub);
    client.call(5, "danger").error(-32602).await;
    // The rules of the one hold for the sessions of the other.
    let other = rules(&next, "other");
    next.hub.show_through(Some(&other));
    assert_eq!(asked_for(&next, &client, "danger").await, Ok(json!("danger")));
    // Rules that are gone without a word let nothing through.
    drop(other);
    client.call(6, "danger").error(-32603).await;
    scene.end().await;
    next.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_was_waited_for_shows_what_is_shown_by_then() {
    let scene = scene_of(ProcessModel::Shared, Profile { held: true, ..with_tools(&["echo", "danger"]) });
    let house = House::of(Union::new(UnionSettings::default(), vec![member("a", &scene)]), vec![("a", scene)]);
    let client = house.client().await;
    let listed = client.request(1, "tools/list", json!({}));
    settle().await;
    house.union.replace(vec![presented("a", house.scene("a"), Arc::new(Without("danger")))]);
    house.process("a").await.open().await;
    let listed = listed.response().await;
    assert_eq!(listed["result"]["tools"][0]["name"], "a__say", "{listed}");
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1, "{listed}");
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_union_can_show_less_in_sessions_that_are_open() {
    let house = House::new(vec![("a", server(ProcessModel::Shared))]);
    let client = house.client().await;
    assert_eq!(tool_names(&client).await, ["a__echo", "a__danger"]);
    house.union.show(Surface::Search);
    assert_eq!(tool_names(&client).await, ["search_tools", "call_tool"]);
    client.call(1, "a__danger").error(-32602).await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_taken_out_of_a_union_is_heard_no_more() {
    let house = House::pair(ProcessModel::PerSession);
    let client = house.guest(json!({ "sampling": {} })).await;
    tool_names(&client).await;
    let stream = client.call(1, "a__x");
    let (process, call) = house.scene("a").process_that_hears("tools/call").await;
    process.answer(&call, json!({})).await;
    stream.response().await;
    hear_out(&client).await;
    house.union.replace(vec![member("b", house.scene("b"))]);
    hear_out(&client).await;
    process.notify("notifications/message", json!({ "level": "error", "data": "still here" })).await;
    process.ask(json!(1), "sampling/createMessage", json!({})).await;
    sleep(Duration::from_secs(1)).await;
    client.unsolicited.is_quiet().await;
    process.ended().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_can_take_the_name_of_another_servers() {
    let tools = r#"{"name":"good"},{"name":"x","Name":"b__y"},{"name":"x","name\u0000":"b__y"}"#;
    let prompts = r#"{"name":"good"},{"name":"x","name":"b__y"},{"name":"x","NAME":"b__y"}"#;
    // Written by hand, for what is read cannot have a name twice.
    let script = move |mut child: kennel_testkit::fake::Child| async move {
        while let Some(line) = child.line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let result = match message["method"].as_str() {
                Some("initialize") => {
                    let capabilities = r#"{"tools":{},"prompts":{}}"#;
                    let server = r#"{"name":"f","version":"1"}"#;
                    format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"serverInfo":{server}}}"#)
                }
                Some("tools/list") => format!("{{\"tools\":[{tools}]}}"),
                Some("prompts/list") => format!("{{\"prompts\":[{prompts}]}}"),
                _ => continue,
            };
            child.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, message["id"])).await;
        }
        kennel_testkit::fake::Child::exit(0)
    };
    let house = House::new(vec![("a", Scene::scripted(calm(ProcessModel::Shared), script))]);
    let client = house.client().await;
    assert_eq!(tool_names(&client).await, ["a__good"]);
    let listed = list(&client, "prompts/list").await;
    assert_eq!(called(&listed, "prompts", "name"), ["a__good"]);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn names_that_readers_take_for_different_things_are_refused() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let client = introduce(&Endpoint::Server(scene.hub.clone()), "local", "2025-11-25", json!({})).await.unwrap();
    let mut process = scene.process().await;
    settle().await;
    while process.try_line().is_some() {}
    for name in [r#"["danger"]"#, "7", r#""danger\ud800""#, r#""danger\u0000x""#] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name}}}}}"#);
        client.ask(&call).error(-32602).await;
    }
    process.hears_nothing().await;
    scene.end().await;
}
