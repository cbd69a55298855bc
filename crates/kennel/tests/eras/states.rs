//! `requestState` through the door: what does not count is refused with the reason, and harms nobody.

use crate::clients::{Modern, accepted, expected, only_question};
use crate::support::gateway::Gateway;
use crate::support::programs::fixture;
use serde_json::{Value, json};
use std::ffi::OsStr;

fn gateway(options: &[&str]) -> Gateway {
    let mut command = vec![fixture().as_os_str()];
    command.extend(options.iter().map(OsStr::new));
    Gateway::start(&[], &command)
}

#[track_caller]
fn refused(answer: &Value, why: &str) {
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32602)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains(why), "not `{why}`: {answer}");
}

/// The state with its first letter changed, and with its last.
fn tampered(state: &Value) -> [Value; 2] {
    let letters: Vec<char> = state.as_str().unwrap().chars().collect();
    [0, letters.len() - 1].map(|at| {
        let mut letters = letters.clone();
        letters[at] = if letters[at] == 'A' { 'Q' } else { 'A' };
        json!(letters.into_iter().collect::<String>())
    })
}

#[test]
fn a_state_that_was_changed_or_used_is_refused_and_the_request_goes_on() {
    let gateway = gateway(&[]);
    let mut client = Modern::new(&gateway.address, "one");
    let asked = client.ask("first");
    let (name, state) = (only_question(&asked).0, &asked["requestState"]);
    let answers = json!({ name: accepted("first") });
    for tampered in tampered(state) {
        refused(&client.come_back("first", &tampered, &answers), "was not issued here, or was changed");
    }
    let further = json!({ "requestState": state, "inputResponses": answers });
    refused(&client.call("echo", &json!({ "message": "hi" }), &further), "another request");
    let answer = client.come_back("first", state, &answers);
    assert_eq!(answer["result"]["content"][0]["text"], expected("first").as_str(), "{answer}");
    refused(&client.come_back("first", state, &answers), "used already");
    assert!(gateway.stop().0.success());
}

#[test]
fn the_state_of_an_earlier_round_is_refused_while_a_later_one_is_asked() {
    const TOOL: &str = "test_input_required_result_multi_round";
    let gateway = gateway(&[]);
    let mut client = Modern::new(&gateway.address, "one");
    let mut come = |further: &Value| client.call(TOOL, &json!({}), further);
    let back = |asked: &Value, field: &str, text: &str| {
        let answer = json!({ "action": "accept", "content": { field: text } });
        let result = &asked["result"];
        json!({ "requestState": result["requestState"], "inputResponses": { only_question(result).0: answer } })
    };
    let first = come(&json!({}));
    let first = back(&first, "name", "Ada");
    let second = come(&first);
    refused(&come(&first), "used already");
    let answer = come(&back(&second, "color", "green"));
    assert_eq!(answer["result"]["content"][0]["text"], "Ada likes green", "{answer}");
    assert!(gateway.stop().0.success());
}

#[test]
fn a_state_of_a_process_that_was_killed_is_refused_and_others_are_not() {
    let gateway = gateway(&[]);
    let (mut one, mut other) = (Modern::new(&gateway.address, "one"), Modern::new(&gateway.address, "other"));
    let (asked, kept) = (one.ask("lost"), other.ask("kept"));
    let died = one.call("die", &json!({ "signal": 9 }), &json!({}));
    assert!(died["error"].is_object(), "{died}");
    let lost = json!({ only_question(&asked).0: accepted("lost") });
    refused(&one.come_back("lost", &asked["requestState"], &lost), "restarted");
    // The other client has a process of its own, and this one a new process.
    let answers = json!({ only_question(&kept).0: accepted("kept") });
    let answer = other.come_back("kept", &kept["requestState"], &answers);
    assert_eq!(answer["result"]["content"][0]["text"], expected("kept").as_str(), "{answer}");
    let again = one.ask("again");
    refused(&one.come_back("lost", &asked["requestState"], &lost), "restarted");
    let answers = json!({ only_question(&again).0: accepted("again") });
    let answer = one.come_back("again", &again["requestState"], &answers);
    assert_eq!(answer["result"]["content"][0]["text"], expected("again").as_str(), "{answer}");
    assert!(gateway.stop().0.success());
}

#[test]
fn a_state_of_the_server_itself_is_the_servers_affair() {
    let gateway = gateway(&["--era", "modern"]);
    let mut client = Modern::new(&gateway.address, "one");
    let asked = client.ask("first");
    let (name, state) = (only_question(&asked).0, &asked["requestState"]);
    assert!(state.as_str().unwrap().starts_with("fixture “state” "), "as the server made it: {state}");
    let answers = json!({ name: accepted("first") });
    for tampered in tampered(state) {
        refused(&client.come_back("first", &tampered, &answers), "not one of this server");
    }
    refused(&client.come_back("second", state, &answers), "not one of this server");
    // It outlives the process, which has all in the state.
    let died = client.call("die", &json!({ "signal": 9 }), &json!({}));
    assert!(died["error"].is_object(), "{died}");
    for _ in 0..2 {
        let answer = client.come_back("first", state, &answers);
        assert_eq!(answer["result"]["content"][0]["text"], expected("first").as_str(), "{answer}");
    }
    assert!(gateway.stop().0.success());
}
