//! Owns the cells of what a server asks its client while it works on a call.

use crate::client::{Client, Looked, Told};
use crate::place::Place;
use crate::seen::Seen;
use crate::wire::{Door, Era};
use serde_json::{Value, json};

/// The user is shown a form, and what is filled in reaches the tool.
pub(crate) fn form(client: &mut Client, _: &Place) -> Looked<Seen> {
    let mark = Place::mark();
    let filled = json!({"username": mark, "email": "a@example.com"});
    let answer = |_: &str, _: &Value| json!({"action": "accept", "content": filled});
    let told = client.converse("test_elicitation", &json!({"message": mark}), &json!({}), answer)?;
    seen(&told, &["elicitation/create"], |told| {
        let asked = &told.asked[0].1;
        asked["message"] == mark
            && asked["requestedSchema"]["required"] == json!(["username", "email"])
            && told.text() == format!("User response: action=accept, content={filled}")
    })
}

/// The user is sent to an address; who has a session hears also that all is done there.
pub(crate) fn url(client: &mut Client, _: &Place) -> Looked<Seen> {
    let url = format!("https://example.com/{}", Place::mark());
    let answer = |_: &str, _: &Value| json!({"action": "accept"});
    let told = client.converse("elicit_url", &json!({ "url": url }), &json!({}), answer)?;
    let outcome = seen(&told, &["elicitation/create"], |told| {
        let asked = &told.asked[0].1;
        asked["mode"] == "url" && asked["url"] == url && told.text() == r#"{"action":"accept"}"#
    })?;
    let id = told.asked.first().map(|(_, params)| params["elicitationId"].clone()).unwrap_or_default();
    let done = "notifications/elicitation/complete";
    if outcome == Seen::Carried && client.era == Era::Legacy && client.door != Door::Rpc && !id.is_null() {
        let is_done = |json: &Value| json["method"] == done && json["params"]["elicitationId"] == id;
        if !told.notes.iter().any(|note| is_done(&note.json)) {
            client.expect(done, |heard| is_done(&heard.json))?;
        }
    }
    if client.era == Era::Modern && told.notes.iter().any(|note| note.is(done)) {
        return Err("a modern client is never told that an elicitation is complete".to_owned());
    }
    Ok(outcome)
}

/// The model uses a tool of the server, and goes on with what that says.
pub(crate) fn sampling(client: &mut Client, _: &Place) -> Looked<Seen> {
    let mark = Place::mark();
    let used = json!({"type": "tool_use", "id": mark, "name": "weather", "input": {"city": mark}});
    let mut rounds = 0;
    let answer = |_: &str, params: &Value| {
        rounds += 1;
        if rounds == 1 {
            return json!({"role": "assistant", "model": "m", "content": used, "stopReason": "toolUse"});
        }
        let said = params["messages"][2]["content"][0]["content"][0]["text"].as_str().unwrap_or_default();
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": said}, "stopReason": "endTurn"})
    };
    let told = client.converse("sample_with_tools", &json!({}), &json!({}), answer)?;
    seen(&told, &["sampling/createMessage"; 2], |told| {
        let (first, second) = (&told.asked[0].1, &told.asked[1].1);
        first["tools"][0]["name"] == "weather"
            && first["toolChoice"]["mode"] == "auto"
            && second["messages"][1]["content"] == used
            && second["messages"][2]["content"][0]["toolUseId"] == mark
            && told.text() == format!("It rains in {mark}")
    })
}

/// The client says where its roots are.
pub(crate) fn roots(client: &mut Client, _: &Place) -> Looked<Seen> {
    let roots = json!({"roots": [{"uri": format!("file:///{}", Place::mark())}]});
    let answer = |_: &str, _: &Value| roots.clone();
    let told = client.converse("test_input_required_result_list_roots", &json!({}), &json!({}), answer)?;
    seen(&told, &["roots/list"], |told| told.text() == format!("Roots: {roots}"))
}

/// What became of a call that asks, and whether all is right if it was asked just this.
fn seen(told: &Told, methods: &[&str], is_right: impl Fn(&Told) -> bool) -> Looked<Seen> {
    if told.asked.is_empty()
        && let Some(seen) = Seen::of_questions(told)
    {
        return Ok(seen);
    }
    let asked = told.asked.iter().map(|(method, _)| method.as_str());
    if asked.eq(methods.iter().copied()) && is_right(told) {
        return Ok(Seen::Carried);
    }
    Err(format!("asked {:?}, answered {}", told.asked, told.answer.text))
}
