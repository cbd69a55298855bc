//! What is changed in the messages of one server among many on their way to clients: the addresses of its resources.

use crate::catalog::List;
use crate::mailbox::{Lens, Outgoing, OutgoingKind};
use crate::union::member::{Member, Naming};
use bytes::Bytes;
use kennel_wire::{Message, RESOURCE_URI, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

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
        let (path, is_listed) = match self.answer {
            Answer::Plain => return None,
            // Most have no addresses, and can be large.
            Answer::Tool | Answer::Prompt if memchr::memmem::find(response, b"\"resource").is_none() => return None,
            Answer::Tool => (["result", "content"], false),
            Answer::Prompt => (["result", "messages"], false),
            Answer::Contents => (["result", "contents"], true),
        };
        let message = Message::parse(response.clone()).ok()?;
        let items = message.field(&path).ok()??;
        let items: Vec<&RawValue> = serde_json::from_slice(items.as_bytes()).ok()?;
        let changed = items.iter().map(|item| {
            let item = RawJson::parse(item.get().to_owned()).ok()?;
            Some(match self.answer {
                Answer::Prompt => within(&item, "content", |block| self.block(block)),
                _ if is_listed => within(&item, "uri", |address| self.address(address)),
                _ => self.block(&item),
            })
        });
        let changed: Vec<RawJson> = changed.collect::<Option<_>>()?;
        let mut array = vec![b'['];
        for item in &changed {
            if array.len() > 1 {
                array.push(b',');
            }
            array.extend_from_slice(item.as_bytes());
        }
        array.push(b']');
        let array = RawJson::parse(array).ok()?;
        message.rewrite().replace(&path, &array).ok().map(kennel_wire::Rewrite::finish)
    }

    /// A block of content.
    fn block(&self, block: &RawJson) -> RawJson {
        #[derive(Deserialize)]
        struct Block {
            r#type: String,
        }
        match serde_json::from_slice::<Block>(block.as_bytes()) {
            Ok(Block { r#type }) if r#type == "resource_link" => within(block, "uri", |address| self.address(address)),
            Ok(Block { r#type }) if r#type == "resource" => {
                within(block, "resource", |resource| within(resource, "uri", |address| self.address(address)))
            }
            Ok(_) | Err(_) => block.clone(),
        }
    }

    fn address(&self, own: &RawJson) -> RawJson {
        match serde_json::from_slice::<String>(own.as_bytes()) {
            Ok(own) => RawJson::string(&self.member.address_of(&own)),
            Err(_) => own.clone(),
        }
    }
}

/// An object with one of its members changed, if it has it.
fn within(object: &RawJson, name: &str, change: impl Fn(&RawJson) -> RawJson) -> RawJson {
    let mut members = object.members();
    let Some((_, value)) = members.iter_mut().find(|(member, _)| member == name) else { return object.clone() };
    *value = change(value);
    RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value)))
}

/// The address that a request names.
pub(crate) fn named_address(request: &Message) -> Option<String> {
    request.text_at(RESOURCE_URI).ok().flatten().map(std::borrow::Cow::into_owned)
}
