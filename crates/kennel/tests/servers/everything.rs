//! What only a server with every feature can show: capabilities, questions to the client, progress, the Inspector, and
//! the missing network.

use crate::clients::{Answers, inspector, python};
use crate::scene::{Scene, Served, node_server};
use crate::support::gateway::Client;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;

#[track_caller]
fn served(scene: &Scene, flags: &[&str]) -> Served {
    scene.serve(flags, &node_server("KENNEL_TEST_SERVER_EVERYTHING"))
}

/// The tools that are listed for a client with these capabilities.
#[track_caller]
fn tools(served: &Served, capabilities: Value) -> BTreeSet<String> {
    let mut client = Client::open(served.address(), capabilities).expect("the session opens");
    let response = client.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).unwrap();
    let messages = response.messages();
    let answer = messages.iter().find(|message| message["id"] == 1).expect("the request is answered");
    let tools = answer["result"]["tools"].as_array().expect("tools are listed");
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_session_has_the_tools_that_its_capabilities_allow() {
    let scene = Scene::new();
    let served = served(&scene, &[]);
    let none = tools(&served, json!({}));
    let all = tools(
        &served,
        json!({
            "elicitation": { "form": {}, "url": {} }, "roots": { "listChanged": true }, "sampling": {},
            "tasks": { "requests": { "elicitation": { "create": {} }, "sampling": { "createMessage": {} } } },
        }),
    );
    assert_eq!((none.len(), all.len()), (13, 19), "{none:?} {all:?}");
    let further: Vec<_> = all.difference(&none).map(String::as_str).collect();
    let expected = [
        "get-roots-list",
        "trigger-elicitation-request",
        "trigger-elicitation-request-async",
        "trigger-sampling-request",
        "trigger-sampling-request-async",
        "trigger-url-elicitation",
    ];
    assert_eq!(further, expected);
    // One session's capabilities are not another's.
    assert_eq!(tools(&served, json!({})), none);
    served.stop();
    scene.ground.assert_clean();
}

#[test]
fn questions_of_the_server_are_answered_by_the_client() {
    let scene = Scene::new();
    let served = served(&scene, &[]);
    let seen = python(&served, Answers::All, "trigger-elicitation-request", &json!({}));
    let text = seen.fine();
    assert!(text.contains("- Name: Ada\n- Favorite Integer: 7"), "{text}");
    assert!(seen.asked.iter().any(|question| question["method"] == "elicitation/create"), "{:?}", seen.asked);
    let arguments = json!({ "prompt": "Say something.", "maxTokens": 11 });
    let seen = python(&served, Answers::All, "trigger-sampling-request", &arguments);
    let text = seen.fine();
    assert!(text.contains("a sampled sentence"), "{text}");
    let question = seen.asked.iter().find(|question| question["method"] == "sampling/createMessage");
    let question = question.expect("the client was asked to sample");
    assert!(question["text"].as_str().unwrap().ends_with("Say something."), "{question}");
    assert_eq!(question["maxTokens"], 11);
    let text = python(&served, Answers::All, "get-roots-list", &json!({})).fine();
    assert!(text.contains("file:///a/root/of/the/client"), "{text}");
    served.stop();
    scene.ground.assert_clean();
}

#[test]
fn progress_arrives_in_order() {
    let scene = Scene::new();
    let served = served(&scene, &[]);
    let arguments = json!({ "duration": 0.4, "steps": 4 });
    let seen = python(&served, Answers::Nothing, "trigger-long-running-operation", &arguments);
    assert!(seen.fine().contains("Steps: 4"), "{seen:?}");
    assert_eq!(seen.progress, [(1.0, 4.0), (2.0, 4.0), (3.0, 4.0), (4.0, 4.0)]);
    served.stop();
    scene.ground.assert_clean();
}

#[test]
fn the_inspector_lists_and_uses_what_there_is() {
    let scene = Scene::new();
    let served = served(&scene, &[]);
    let listed = inspector(&scene, &served, &["--method", "tools/list"]);
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert!(names.contains(&json!("echo")) && names.len() >= 13, "{names:?}");
    let words = ["--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=good day"];
    let called = inspector(&scene, &served, &words);
    assert_eq!(called["content"][0]["text"], "Echo: good day", "{called}");
    let uri = "demo://resource/static/document/features.md";
    let read = inspector(&scene, &served, &["--method", "resources/read", "--uri", uri]);
    assert_eq!(read["contents"][0]["uri"], uri, "{read}");
    let listed = inspector(&scene, &served, &["--method", "prompts/list"]);
    assert!(!listed["prompts"].as_array().unwrap().is_empty(), "{listed}");
    served.stop();
    scene.ground.assert_clean();
}

#[test]
fn the_network_is_reached_only_where_a_flag_says_so() {
    let scene = Scene::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let arguments = json!({ "name": "file.gz", "data": url, "outputType": "resource" });
    let offline = served(&scene, &[]);
    let seen = python(&offline, Answers::Nothing, "gzip-file-as-resource", &arguments);
    assert!(seen.failed() && seen.text().contains("fetch failed"), "{seen:?}");
    offline.stop();
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody came");
    // The same request gets through where it may, so that its failure meant something.
    listener.set_nonblocking(false).unwrap();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        assert!(stream.read(&mut request).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfile").unwrap();
    });
    let online = served(&scene, &["--network", "on"]);
    let seen = python(&online, Answers::Nothing, "gzip-file-as-resource", &arguments);
    assert!(!seen.failed(), "{seen:?}");
    answering.join().unwrap();
    online.stop();
    scene.ground.assert_clean();
}
