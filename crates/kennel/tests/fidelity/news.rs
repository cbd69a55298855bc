//! Owns the cells of what a server says of its own accord: progress, log lines, and changes.

use crate::client::{Client, Looked};
use crate::place::Place;
use crate::seen::Seen;
use crate::wire::{Door, Era, Heard};
use serde_json::{Value, json};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const WATCHED: &str = "test://watched-resource";

fn no_question(method: &str, _: &Value) -> Value {
    json!({"unexpected": method})
}

/// Three reports under the client's token, in order and before the answer.
pub(crate) fn progress(client: &mut Client, _: &Place) -> Looked<Seen> {
    let token = Place::mark();
    let arguments = json!({"ms": 30, "progress_every_ms": 10});
    let told = client.converse("sleep", &arguments, &json!({"progressToken": token}), no_question)?;
    if told.text() != "slept 30 ms" {
        return Seen::refusal(&told.answer).ok_or_else(|| told.answer.text.clone());
    }
    let reports: Vec<&Value> =
        told.notes.iter().filter(|note| note.is("notifications/progress")).map(|note| &note.json["params"]).collect();
    if client.door == Door::Rpc && reports.is_empty() {
        return Ok(Seen::AnswerOnly);
    }
    let report = |done: u64| json!({"progressToken": token, "progress": done, "total": 30});
    let expected = [report(10), report(20), report(30)];
    if reports.iter().copied().eq(expected.iter()) { Ok(Seen::Carried) } else { Err(format!("reports {reports:?}")) }
}

/// A line of the level that the client wants arrives, and one of a lower level does not.
pub(crate) fn logging(client: &mut Client, _: &Place) -> Looked<Seen> {
    let (low, high) = (Place::mark(), Place::mark());
    let mut meta = json!({});
    match client.era {
        Era::Legacy => {
            let answer = client.request("logging/setLevel", json!({"level": "warning"}))?;
            if let Some(refused) = Seen::refusal(&answer) {
                return Ok(refused);
            }
        }
        Era::Modern => meta = json!({"io.modelcontextprotocol/logLevel": "warning"}),
    }
    let mut notes = client.unread();
    for (level, text) in [("info", &low), ("error", &high)] {
        let told = client.converse("log", &json!({"level": level, "text": text}), &meta, no_question)?;
        if let Some(refused) = Seen::refusal(&told.answer) {
            return Ok(refused);
        }
        notes.extend(told.notes);
    }
    if client.era == Era::Modern {
        // Who does not say what is wanted, wants nothing.
        let told = client.converse("log", &json!({"level": "emergency", "text": low}), &json!({}), no_question)?;
        notes.extend(told.notes);
    }
    let is_line =
        |note: &Heard, text: &String| note.is("notifications/message") && note.json["params"]["data"] == *text;
    if client.era == Era::Legacy && client.door != Door::Rpc && !notes.iter().any(|note| is_line(note, &high)) {
        // It may come where changes come; what follows it there shows that it has come by then.
        client.call("trigger_list_changed", &json!({"what": "resources"}))?;
        client.expect("a change behind the log line", |heard| heard.is("notifications/resources/list_changed"))?;
        notes.extend(client.unread());
    }
    if notes.iter().any(|note| is_line(note, &low)) {
        return Err("a line of a level that is not wanted".to_owned());
    }
    let lines: Vec<_> = notes.iter().filter(|note| is_line(note, &high)).collect();
    match lines.as_slice() {
        [line] if line.json["params"]["level"] == "error" => Ok(Seen::Carried),
        [] if client.door == Door::Rpc => Ok(Seen::AnswerOnly),
        [] => Ok(Seen::Withheld),
        _ => Err(format!("lines {lines:?}")),
    }
}

/// That a list has changed is heard by who has a session, and by who listens for it.
pub(crate) fn list_changed(client: &mut Client, _: &Place) -> Looked<Seen> {
    let changed = |heard: &Heard| heard.is("notifications/prompts/list_changed");
    client.unread();
    if client.era == Era::Modern {
        let filter = json!({"promptsListChanged": true});
        let trigger = ("trigger_list_changed", json!({"what": "prompts"}));
        return listen(client, &filter, &trigger, changed);
    }
    let answer = client.call("trigger_list_changed", &json!({"what": "prompts"}))?;
    if client.door == Door::Rpc {
        return Ok(Seen::refusal(&answer).unwrap_or(Seen::AnswerOnly));
    }
    client.expect("notifications/prompts/list_changed", changed).map(|_| Seen::Carried)
}

/// That a resource has changed is heard by who has subscribed to it.
pub(crate) fn resource_updates(client: &mut Client, _: &Place) -> Looked<Seen> {
    let updated = |heard: &Heard| heard.is("notifications/resources/updated") && heard.json["params"]["uri"] == WATCHED;
    let trigger = ("trigger_resource_updated", json!({"uri": WATCHED}));
    client.unread();
    if client.era == Era::Modern {
        return listen(client, &json!({"resourceSubscriptions": [WATCHED]}), &trigger, updated);
    }
    let answer = client.request("resources/subscribe", json!({"uri": WATCHED}))?;
    if let Some(refused) = Seen::refusal(&answer) {
        return Ok(refused);
    }
    let answer = client.call(trigger.0, &trigger.1)?;
    if client.door == Door::Rpc {
        return Ok(Seen::refusal(&answer).unwrap_or(Seen::AnswerOnly));
    }
    client.expect("notifications/resources/updated", updated)?;
    let answer = client.request("resources/unsubscribe", json!({"uri": WATCHED}))?;
    Seen::refusal(&answer).map_or(Ok(Seen::Carried), |refused| Err(format!("{refused:?}")))
}

/// Whether a message belongs to a stream.
pub(crate) fn of_stream(heard: &Heard, stream: &Value) -> bool {
    heard.json["params"]["_meta"][SUBSCRIPTION] == *stream
}

/// Listens for something, has it happen, and hears it on the stream it listens on.
fn listen(
    client: &mut Client,
    filter: &Value,
    (tool, arguments): &(&str, Value),
    news: impl Fn(&Heard) -> bool,
) -> Looked<Seen> {
    let id = client.start("subscriptions/listen", json!({ "notifications": filter }));
    let first = client.expect("the acknowledgement", |heard| of_stream(heard, &id) || heard.answers(&id))?;
    if let Some(refused) = Seen::refusal(&first) {
        return Ok(refused);
    }
    if first.is("notifications/subscriptions/acknowledged") && first.json["params"]["notifications"] == json!({}) {
        client.call_off(&id);
        return Ok(Seen::NotOffered);
    }
    if !first.is("notifications/subscriptions/acknowledged") || first.json["params"]["notifications"] != *filter {
        return Err(format!("the stream begins with {}", first.text));
    }
    let answer = client.call(tool, arguments)?;
    if let Some(refused) = Seen::refusal(&answer) {
        return Ok(refused);
    }
    client.expect("news on the stream", |heard| news(heard) && of_stream(heard, &id))?;
    client.call_off(&id);
    Ok(Seen::Carried)
}
