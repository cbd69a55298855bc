//! Owns the cells of requests and their answers: whether they arrive whole, and can be called off.

use crate::client::{Client, Looked};
use crate::place::Place;
use crate::seen::Seen;
use crate::wire::{Door, Era};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A call that is called off ends in the server, and is not answered.
pub(crate) fn cancel(client: &mut Client, place: &Place) -> Looked<Seen> {
    let mark = Place::mark();
    let id = client.start("tools/call", json!({"name": "hold", "arguments": {"mark": mark}}));
    place.runs(&mark)?;
    client.call_off(&id);
    if client.door == Door::Rpc && client.era == Era::Legacy {
        // Whoever goes away has not called off anything, and there is nobody to whom it could be said.
        client.call("test_simple_text", &json!({}))?;
        return if place.has_ended(&mark) { Err("the call has ended".to_owned()) } else { Ok(Seen::NoWay) };
    }
    place.ends(&mark)?;
    client.call("test_simple_text", &json!({}))?;
    match client.unread().iter().find(|heard| heard.answers(&id)) {
        Some(answer) => Err(format!("what was called off is answered: {}", answer.text)),
        None => Ok(Seen::Carried),
    }
}

/// What the server proposes from the context of an argument.
pub(crate) fn completion(client: &mut Client, _: &Place) -> Looked<Seen> {
    let mark = Place::mark();
    let params = json!({
        "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
        "argument": {"name": "arg1", "value": "a"},
        "context": {"arguments": {"arg2": mark}}
    });
    let answer = client.request("completion/complete", params)?;
    if answer.json["result"]["completion"]["values"] == json!([mark]) {
        return Ok(Seen::Carried);
    }
    Seen::refusal(&answer).ok_or(answer.text)
}

/// Page after page, by cursors that only the server understands.
pub(crate) fn pagination(client: &mut Client, _: &Place) -> Looked<Seen> {
    let pages = pages(client)?;
    let names: Vec<&str> = pages.iter().flat_map(|page| &page.tools).filter_map(|tool| tool["name"].as_str()).collect();
    let different: BTreeSet<&str> = names.iter().copied().collect();
    let are_whole = names.len() == different.len()
        && ["echo", "measure", "slow_compute"].iter().all(|name| different.contains(name));
    let are_short = pages.iter().all(|page| page.tools.len() <= 10);
    if pages.len() > 2 && are_whole && are_short {
        Ok(Seen::Carried)
    } else {
        Err(format!("{} pages: {names:?}", pages.len()))
    }
}

/// A structured result as the server spelled it, and the schema that promises it.
pub(crate) fn structured_output(client: &mut Client, _: &Place) -> Looked<Seen> {
    const SPELLED: &str =
        r#""structuredContent":{"count":1.0,"large":12345678901234567890123,"nothing":null,"text":"\u00e4 \/ "}"#;
    const SCHEMA: &str = r#""outputSchema":{"type":"object","properties":{"count":{"type":"number"},"large":{"type":"integer"},"nothing":{"type":"null"},"text":{"type":"string"}},"required":["count","large"]}"#;
    if !pages(client)?.iter().any(|page| page.text.contains(SCHEMA)) {
        return Err("no page of the tools has the schema as it was spelled".to_owned());
    }
    let answer = client.call("measure", &json!({}))?;
    if answer.text.contains(SPELLED) { Ok(Seen::Carried) } else { Err(answer.text) }
}

struct Page {
    text: String,
    tools: Vec<Value>,
}

fn pages(client: &mut Client) -> Looked<Vec<Page>> {
    let (mut pages, mut params) = (Vec::new(), json!({}));
    loop {
        let page = client.request("tools/list", params)?;
        let tools = page.json["result"]["tools"].as_array().cloned().ok_or_else(|| page.text.clone())?;
        let next = page.json["result"].get("nextCursor").cloned();
        pages.push(Page { text: page.text, tools });
        match next {
            Some(cursor) if pages.len() < 100 => params = json!({ "cursor": cursor }),
            Some(_) => return Err("pages without end".to_owned()),
            None => return Ok(pages),
        }
    }
}
