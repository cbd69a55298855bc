use super::*;

fn console() -> Console {
    Console::new("time", &Arc::new(Output::new(Format::People, Naming::Each)))
}

#[test]
fn secrets_are_in_no_log_and_no_event() {
    let console = console();
    console.hide(["say \"friend\"", "say \"friend\" and enter", "short"]);
    console.diagnostics("shared", b"I say \"friend\" and enter, and say \"friend\" again, short");
    console.say("test", "say \"friend\"", json!({ "list": [{ "deep": "say \"friend\"" }] }));
    let lines = console.log_after(0).entries;
    assert_eq!(
        lines[0].text, "I [redacted], and [redacted] again, short",
        "the longer one first, and nothing that is everywhere"
    );
    let events = console.output.events().after(0).entries;
    assert_eq!(events[0]["text"], "[redacted]");
    assert_eq!(events[0]["list"][0]["deep"], "[redacted]", "also where JSON would spell it otherwise");
}

#[test]
fn what_servers_print_is_in_their_log_and_not_among_the_events() {
    let console = console();
    console.diagnostics("shared", b"hello \x1b[31mworld");
    assert_eq!(console.log_after(0).entries[0].text, "hello \u{fffd}[31mworld");
    assert_eq!(console.output.events().after(0).entries.len(), 0);
}
