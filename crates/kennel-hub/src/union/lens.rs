//! What is changed in the messages of one server among many on their way to clients: the addresses of its resources.

use crate::catalog::List;
use crate::mailbox::{Lens, Outgoing, OutgoingKind};
use crate::results::NEXT;
use crate::union::member::{Member, Naming};
use bytes::Bytes;
use kennel_wire::{Message, RESOURCE_URI, RawJson, is_lookalike};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Where an error says which address it is about.
const REFUSED_ADDRESS: &[&str] = &["error", "data", "uri"];

/// Which addresses the answer to a request may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// None.
    Plain,
    /// Those in the content of a tool's result.
    Tool,
    /// Those in the messages of a prompt.
    Prompt,
    /// Those of what was read.
    Contents,
}

/// Looks at the messages of one server.
#[derive(Debug)]
pub(crate) struct ServerLens {
    pub(crate) member: Arc<Member>,
    pub(crate) answer: Answer,
}

impl Lens for ServerLens {
    fn through(&self, outgoing: Outgoing) -> Option<Outgoing> {
        match outgoing.kind {
            OutgoingKind::Response if self.member.naming == Naming::Joined => {
                let message = self.response(&outgoing.message).unwrap_or(outgoing.message);
                Some(Outgoing { message, kind: OutgoingKind::Response })
            }
            OutgoingKind::Notification => self.notification(outgoing),
            OutgoingKind::Response | OutgoingKind::Request | OutgoingKind::Withdrawn => Some(outgoing),
        }
    }
}

impl ServerLens {
    /// A notification as clients get it. That a list has changed is told by whoever has all lists.
    fn notification(&self, outgoing: Outgoing) -> Option<Outgoing> {
        let Ok(message) = Message::parse(outgoing.message.clone()) else { return Some(outgoing) };
        let method = message.method().unwrap_or_default();
        if List::ALL.iter().any(|list| list.changed() == method) {
            return None;
        }
        if method == "notifications/resources/updated"
            && let Ok(Some(own)) = message.resource_uri()
            && let Ok(told) = message.rewrite().resource_uri(&self.member.address_of(&own))
        {
            return Some(Outgoing { message: told.finish(), kind: outgoing.kind });
        }
        Some(outgoing)
    }

    /// An answer with the addresses that clients know; `None` where there are none to change.
    fn response(&self, response: &Bytes) -> Option<Bytes> {
        let path = match self.answer {
            Answer::Plain => return None,
            // Most have no addresses, and can be large.
            Answer::Tool | Answer::Prompt if memchr::memmem::find(response, b"\"resource").is_none() => return None,
            Answer::Tool => ["result", "content"],
            Answer::Prompt => ["result", "messages"],
            Answer::Contents => ["result", "contents"],
        };
        let message = Message::parse(response.clone()).ok()?;
        if self.answer == Answer::Contents
            && let Ok(Some(own)) = message.text_at(REFUSED_ADDRESS)
        {
            let told = RawJson::string(&self.member.address_of(&own));
            return message.rewrite().replace(REFUSED_ADDRESS, &told).ok().map(kennel_wire::Rewrite::finish);
        }
        let items = message.field(&path).ok()??;
        let items: Vec<&RawValue> = serde_json::from_slice(items.as_bytes()).ok()?;
        let mut is_changed = false;
        let mut array = vec![b'['];
        for item in items {
            if array.len() > 1 {
                array.push(b',');
            }
            let item = RawJson::parse(item.get().to_owned()).ok()?;
            let changed = match self.answer {
                Answer::Prompt => within(&item, "content", |block| self.block(block)),
                Answer::Contents => self.contents(&item),
                Answer::Tool | Answer::Plain => self.block(&item),
            };
            is_changed |= changed.is_some();
            array.extend_from_slice(changed.unwrap_or(item).as_bytes());
        }
        array.push(b']');
        let array = RawJson::parse(array).ok().filter(|_| is_changed)?;
        message.rewrite().replace(&path, &array).ok().map(kennel_wire::Rewrite::finish)
    }

    /// A block of content, where it has an address.
    fn block(&self, block: &RawJson) -> Option<RawJson> {
        #[derive(Deserialize)]
        struct Block {
            r#type: String,
        }
        let Block { r#type } = serde_json::from_slice(block.as_bytes()).ok()?;
        match r#type.as_str() {
            "resource_link" => within(block, "uri", |address| self.address(address)),
            "resource" => {
                within(block, "resource", |resource| within(resource, "uri", |address| self.address(address)))
            }
            _ => None,
        }
    }

    /// A part of what was read, which may say where the next one is.
    fn contents(&self, contents: &RawJson) -> Option<RawJson> {
        let addressed = within(contents, "uri", |address| self.address(address))?;
        let next = within(&addressed, "_meta", |about| within(about, NEXT, |address| self.address(address)));
        Some(next.unwrap_or(addressed))
    }

    fn address(&self, own: &RawJson) -> Option<RawJson> {
        let own: String = serde_json::from_slice(own.as_bytes()).ok()?;
        Some(RawJson::string(&self.member.address_of(&own)))
    }
}

/// An object with one of its members changed; `None` where there is nothing to change.
fn within(object: &RawJson, name: &str, change: impl Fn(&RawJson) -> Option<RawJson>) -> Option<RawJson> {
    let mut members = object.members();
    let at = members.iter().position(|(member, _)| member == name)?;
    members[at].1 = change(&members[at].1)?;
    // Others that readers could take for it would have what it had.
    let mut index = 0;
    members.retain(|(member, _)| {
        index += 1;
        index == at + 1 || member != name && !is_lookalike(member, name)
    });
    Some(RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value))))
}

/// The address that a request names.
pub(crate) fn named_address(request: &Message) -> Option<String> {
    request.text_at(RESOURCE_URI).ok().flatten().map(std::borrow::Cow::into_owned)
}
