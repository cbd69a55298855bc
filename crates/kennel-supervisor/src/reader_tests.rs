use super::*;

/// What was heard, as text.
fn tell(heard: &[Heard]) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let tell = |heard: &Heard| match heard {
        Heard::Message(message) => format!("message {}", text(message.bytes())),
        Heard::Own(message) => format!("own {}", text(message.bytes())),
        Heard::Noise(Noise::NotAMessage { head, .. }) => format!("noise {}", text(head)),
        Heard::Noise(Noise::TooLong { head, tail, length }) => {
            format!("too long {} … {} ({length})", text(head), text(tail))
        }
    };
    heard.iter().map(tell).collect()
}

fn hear(line: &'static str) -> Vec<String> {
    tell(&Reader::new(1024).stdout(Bytes::from(format!("{line}\n"))))
}

#[test]
fn only_answers_to_own_requests_are_kept() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":"kennel:1","result":{}}"#, "own"),
        (r#"{"jsonrpc":"2.0","id":"kennel:1","error":{"code":1,"message":""}}"#, "own"),
        (r#"{"jsonrpc":"2.0","id":"kennel:1","method":"roots/list"}"#, "message"),
        (r#"{"jsonrpc":"2.0","id":"kennels","result":{}}"#, "message"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "message"),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#, "message"),
        (r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#, "message"),
    ];
    for (line, kind) in cases {
        assert_eq!(hear(line), [format!("{kind} {line}")]);
    }
}

#[test]
fn a_batch_is_heard_message_by_message() {
    let heard = hear(r#"[{"jsonrpc":"2.0","method":"a"},7,{"jsonrpc":"2.0","id":"kennel:2","result":1}]"#);
    assert_eq!(heard[0], r#"message {"jsonrpc":"2.0","method":"a"}"#);
    assert!(heard[1].starts_with("noise ["));
    assert_eq!(heard[2], r#"own {"jsonrpc":"2.0","id":"kennel:2","result":1}"#);
}

#[test]
fn lines_that_are_no_messages_are_noise_and_empty_ones_are_nothing() {
    assert_eq!(hear("Listening on stdio"), ["noise Listening on stdio"]);
    assert_eq!(hear("{}"), ["noise {}"]);
    assert_eq!(hear(" \t"), Vec::<String>::new());
    assert_eq!(hear(""), Vec::<String>::new());
}

#[test]
fn a_line_over_the_limit_is_skipped_and_the_next_is_heard() {
    let mut reader = Reader::new(10);
    let heard = reader.stdout(Bytes::from_static(b"0123456789abc\n[1]\n"));
    assert_eq!(tell(&heard), ["too long 0123456789abc … 0123456789abc (13)", "noise [1]"]);
}

#[test]
fn the_last_line_needs_no_line_end() {
    let mut reader = Reader::new(1024);
    assert!(reader.stdout(Bytes::from_static(br#"{"jsonrpc":"2.0","#)).is_empty());
    assert!(reader.stdout(Bytes::from_static(br#""method":"a"}"#)).is_empty());
    assert_eq!(tell(&reader.last()), [r#"message {"jsonrpc":"2.0","method":"a"}"#]);
    assert!(reader.stderr(Bytes::from_static(b"bye")).is_empty());
    assert_eq!(reader.last_diagnostic().as_deref(), Some(&b"bye"[..]));
}
