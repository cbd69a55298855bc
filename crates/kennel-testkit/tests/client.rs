//! What `StdioClient` promises, with ordinary programs as servers.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use std::process::Command;
use std::time::Duration;

use kennel_testkit::{ClientError, StdioClient, program};
use serde_json::json;

fn shell(script: &str) -> StdioClient {
    StdioClient::spawn(Command::new("sh").args(["-c", script])).unwrap()
}

#[test]
fn it_reads_while_it_writes() {
    // Far more than a pipe holds: `cat` stops reading until somebody reads from it.
    let mut client = StdioClient::spawn(&mut Command::new("cat")).unwrap();
    let message = json!("x".repeat(4 << 20));
    client.send(&message).unwrap();
    assert!(client.next_message().unwrap() == message);
}

#[test]
fn what_was_not_waited_for_stays_unread_in_order() {
    let mut client = shell(r#"printf '{"n":1}\n{"n":2}\n{"id":7,"result":{}}\n{"n":3}\n'"#);
    client.response(&json!(7)).unwrap();
    for number in 1..=3 {
        assert_eq!(client.next_message().unwrap(), json!({"n": number}));
    }
}

#[test]
fn a_request_of_the_server_is_not_taken_for_a_response() {
    let mut client = shell(r#"printf '{"id":7,"method":"ping"}\n{"id":7,"result":{}}\n'"#);
    assert!(client.response(&json!(7)).unwrap().get("result").is_some());
}

#[test]
fn the_last_line_needs_no_end() {
    let mut client = shell("printf '1\n22'");
    assert_eq!(client.next_line().unwrap(), b"1");
    assert_eq!(client.next_line().unwrap(), b"22");
    assert!(matches!(client.next_line(), Err(ClientError::Ended { .. })));
}

#[test]
fn a_silent_server_is_given_up_with_its_stderr_in_the_error() {
    let mut client = shell("echo the reason >&2; exec sleep 600").with_patience(Duration::from_millis(300));
    let error = client.request("ping", &json!({})).unwrap_err();
    assert!(matches!(error, ClientError::Deadline { .. }), "{error}");
    assert!(error.to_string().contains("the reason") && error.to_string().contains("response to 1"), "{error}");
}

#[test]
fn a_server_that_has_gone_is_noticed_at_once() {
    let mut client = shell("echo the reason >&2; exit 3");
    let error = client.next_message().unwrap_err();
    assert!(matches!(error, ClientError::Ended { .. }) && error.to_string().contains("the reason"), "{error}");
    assert_eq!(client.wait().unwrap().code(), Some(3));
}

#[test]
fn a_line_that_is_no_json_is_shown() {
    let error = shell("echo junk").next_message().unwrap_err();
    assert!(matches!(&error, ClientError::NoMessage { line } if line == "junk"), "{error}");
}

#[test]
fn dropping_it_ends_the_process() {
    let client = shell("exec sleep 600");
    let process = format!("/proc/{}", client.process_id());
    assert!(std::fs::exists(&process).unwrap());
    drop(client);
    assert!(!std::fs::exists(&process).unwrap());
}

#[test]
fn programs_of_this_crate_are_found_and_unknown_ones_refused() {
    assert_eq!(program("kennel-fixture").unwrap().as_os_str(), env!("CARGO_BIN_EXE_kennel-fixture"));
    assert!(program("no-such-program").is_err());
}
