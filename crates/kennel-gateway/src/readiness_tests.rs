use super::*;

fn server(name: &str, state: State) -> Server {
    let reason = (state == State::Failed).then(|| "it exited with 3".to_owned());
    Server { name: name.to_owned(), state, reason }
}

#[test]
fn one_server_that_can_be_used_is_enough_and_none_is_fine() {
    for (states, ready) in [
        (&[][..], true),
        (&[State::Ready], true),
        (&[State::Failed, State::Ready], true),
        (&[State::Failed], false),
        (&[State::Failed, State::Failed], false),
        (&[State::Starting], false),
        (&[State::Starting, State::Failed], false),
        (&[State::Closing], false),
    ] {
        let servers: Vec<_> = states.iter().map(|state| server("x", *state)).collect();
        assert_eq!(is_ready(&servers), ready, "{states:?}");
        assert_eq!(body(&servers, true)["ready"], ready);
    }
}

#[test]
fn reasons_are_told_only_to_those_who_may_use_the_gateway() {
    let servers = [server("one", State::Failed), server("two", State::Ready)];
    let told = body(&servers, true);
    assert_eq!(told["not_ready"], json!([{ "server": "one", "state": "failed", "reason": "it exited with 3" }]));
    let counted = json!({ "ready": true, "servers": { "ready": 1, "starting": 0, "failed": 1, "closing": 0 } });
    assert_eq!(body(&servers, false), counted);
}
