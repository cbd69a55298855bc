use super::*;

const INITIALIZE: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn answer(id: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}").into_bytes()
}

fn begun() -> Session {
    let mut session = Session::default();
    session.say(INITIALIZE);
    assert_eq!(session.hear(&answer("1")), Said::Forward);
    session.say(INITIALIZED);
    session
}

#[test]
fn the_first_connection_hears_only_the_client() {
    assert!(Session::default().handshake().is_empty());
}

#[test]
fn another_connection_hears_the_handshake_and_the_client_nothing_of_it() {
    let mut session = begun();
    assert!(session.give_up().is_empty());
    assert_eq!(session.handshake(), [INITIALIZE.to_vec(), INITIALIZED.to_vec()]);
    assert_eq!(session.hear(&answer("1")), Said::Nothing);
    // An id may be used again.
    session.say(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(session.hear(&answer("1")), Said::Forward);
    assert!(!session.is_waiting());
}

#[test]
fn what_was_asked_of_a_gateway_that_is_gone_is_answered_with_an_error() {
    let mut session = begun();
    session.say(br#"{"jsonrpc":"2.0","id":"a","method":"tools/call"}"#);
    session.say(br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    assert!(session.is_waiting());
    let given_up: Vec<String> =
        session.give_up().into_iter().map(|answer| String::from_utf8(answer).expect("text")).collect();
    assert_eq!(given_up.len(), 2);
    assert!(given_up[0].contains("\"id\":\"a\"") && given_up[1].contains("\"id\":2"), "{given_up:?}");
    assert!(!session.is_waiting());
}

#[test]
fn a_handshake_that_was_not_answered_is_answered_by_the_next_gateway() {
    let mut session = Session::default();
    session.say(INITIALIZE);
    assert!(session.give_up().is_empty() && session.is_waiting());
    assert_eq!(session.handshake(), [INITIALIZE.to_vec()]);
    assert_eq!(session.hear(&answer("1")), Said::Forward);
}

#[test]
fn requests_and_news_of_the_gateway_go_on() {
    let mut session = begun();
    assert_eq!(session.hear(br#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#), Said::Forward);
    assert_eq!(session.hear(br#"{"jsonrpc":"2.0","method":"notifications/message"}"#), Said::Forward);
    assert_eq!(session.hear(b"no JSON"), Said::Forward);
}
