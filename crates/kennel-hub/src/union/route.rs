//! Which server a request is for, and the request in that server's words.

use crate::client::Introduction;
use crate::fault::Fault;
use crate::mailbox::Mailbox;
use crate::union::lens::{Answer, named_address};
use crate::union::member::{Member, Naming};
use crate::union::{Union, names};
use kennel_wire::{ErrorCode, Message, RawJson};
use std::sync::Arc;

/// A request on its way to a server.
pub(crate) struct Routed {
    pub(crate) member: Arc<Member>,
    /// In the server's words.
    pub(crate) request: Message,
    /// Where answers are changed into the words of the client.
    pub(crate) mailbox: Arc<Mailbox>,
}

/// What a request is about.
struct Target {
    member: Arc<Member>,
    /// Where the request names it.
    path: &'static [&'static str],
    /// How the server calls it.
    own: String,
    answer: Answer,
}

const NAME: &[&str] = &["params", "name"];
const ADDRESS: &[&str] = &["params", "uri"];

impl Union {
    /// Finds the server that a request is for.
    pub(crate) fn route(
        &self,
        introduction: &Introduction,
        request: &Message,
        method: &str,
        mailbox: &Arc<Mailbox>,
    ) -> Result<Routed, Fault> {
        let Target { member, path, own, answer } = match method {
            "tools/call" => {
                let name = text(request, NAME)?;
                let (member, own) = self.tool(&name, introduction).ok_or_else(|| unknown("tool", &name))?;
                Target { member, path: NAME, own, answer: Answer::Tool }
            }
            "prompts/get" => {
                let name = text(request, NAME)?;
                let (member, own) = self.prompt(&name, introduction).ok_or_else(|| unknown("prompt", &name))?;
                Target { member, path: NAME, own, answer: Answer::Prompt }
            }
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                let address = named_address(request).ok_or_else(|| missing(ADDRESS))?;
                let found = self.listed_resource(&address, introduction).or_else(|| self.resource(&address));
                let (member, own) = found.ok_or_else(|| no_resource(&address))?;
                let answer = if method == "resources/read" { Answer::Contents } else { Answer::Plain };
                Target { member, path: ADDRESS, own, answer }
            }
            "completion/complete" => self.completed(introduction, request)?,
            _ => {
                let text = format!("there is no `{method}` where several servers are one; ask the server itself");
                return Err(Fault::refused(ErrorCode::METHOD_NOT_FOUND, text));
            }
        };
        let rewritten = request.rewrite().replace(path, &RawJson::string(&own)).map(kennel_wire::Rewrite::finish);
        let rewritten = rewritten.map_err(|error| Fault::refused(ErrorCode::INVALID_PARAMS, error.to_string()))?;
        let request = Message::parse(rewritten).map_err(|error| {
            Fault::refused(ErrorCode::INTERNAL_ERROR, format!("the request cannot be passed on: {error}"))
        })?;
        let mailbox = Mailbox::onward(mailbox, member.lens(answer));
        Ok(Routed { member, request, mailbox })
    }

    /// The server of a tool, and its own name for it.
    pub(crate) fn tool(&self, name: &str, introduction: &Introduction) -> Option<(Arc<Member>, String)> {
        let found = self.named(name, introduction, |member, introduction| {
            member.shelf(introduction)?.tool(name).map(str::to_owned)
        });
        // A tool that is not listed may be there all the same: the server knows, or none of it is known yet.
        found.or_else(|| {
            let (member, shown) = self.split(name)?;
            let own = member.presentation.original(&shown)?;
            Some((member, own))
        })
    }

    fn prompt(&self, name: &str, introduction: &Introduction) -> Option<(Arc<Member>, String)> {
        let found = self.named(name, introduction, |member, introduction| {
            member.shelf(introduction)?.prompt(name).map(str::to_owned)
        });
        found.or_else(|| self.split(name))
    }

    /// The server of a resource, and its own address for it.
    pub(crate) fn resource(&self, address: &str) -> Option<(Arc<Member>, String)> {
        let members = self.members();
        if self.0.settings.naming == Naming::Own {
            return members.values().next().map(|member| (Arc::clone(member), address.to_owned()));
        }
        let (server, own) = names::split_address(address)?;
        Some((Arc::clone(members.get(server)?), own.to_owned()))
    }

    /// The server that lists a resource, or a template for it: under the address that clients see, or where only one has
    /// it, under the server's own, which texts may name.
    fn listed_resource(&self, address: &str, introduction: &Introduction) -> Option<(Arc<Member>, String)> {
        let offers = |member: &Member, own: &str| {
            member.shelf(introduction).is_some_and(|shelf| shelf.has_address(own, &member.address_of("")))
        };
        if let Some((member, own)) = self.resource(address).filter(|(member, own)| offers(member, own)) {
            return Some((member, own));
        }
        let members = self.members();
        let mut offering = members.values().filter(|member| offers(member, address));
        let only = offering.next().filter(|_| offering.next().is_none())?;
        Some((Arc::clone(only), address.to_owned()))
    }

    /// The server that lists something under this name: the one that the name begins with, or where that cannot be told,
    /// whichever it is.
    fn named(
        &self,
        name: &str,
        introduction: &Introduction,
        own: impl Fn(&Member, &Introduction) -> Option<String>,
    ) -> Option<(Arc<Member>, String)> {
        let members = self.members();
        let likely = names::split(name).and_then(|(server, _)| members.get(server));
        let found = |member: &Arc<Member>| own(member, introduction).map(|own| (Arc::clone(member), own));
        likely.and_then(found).or_else(|| members.values().find_map(found))
    }

    /// The server that a name begins with, and the rest of the name.
    fn split(&self, name: &str) -> Option<(Arc<Member>, String)> {
        let members = self.members();
        if self.0.settings.naming == Naming::Own {
            return members.values().next().map(|member| (Arc::clone(member), name.to_owned()));
        }
        let (server, own) = names::split(name)?;
        Some((Arc::clone(members.get(server)?), own.to_owned()))
    }

    /// What a completion is about.
    fn completed(&self, introduction: &Introduction, request: &Message) -> Result<Target, Fault> {
        const PROMPT: &[&str] = &["params", "ref", "name"];
        const TEMPLATE: &[&str] = &["params", "ref", "uri"];
        if let Ok(Some(name)) = request.text_at(PROMPT) {
            let (member, own) = self.prompt(&name, introduction).ok_or_else(|| unknown("prompt", &name))?;
            return Ok(Target { member, path: PROMPT, own, answer: Answer::Plain });
        }
        let address = text(request, TEMPLATE)?;
        let (member, own) = self.resource(&address).ok_or_else(|| no_resource(&address))?;
        Ok(Target { member, path: TEMPLATE, own, answer: Answer::Plain })
    }
}

fn text(request: &Message, path: &[&str]) -> Result<String, Fault> {
    let text = request.text_at(path).ok().flatten();
    text.map(std::borrow::Cow::into_owned).ok_or_else(|| missing(path))
}

fn missing(path: &[&str]) -> Fault {
    Fault::refused(ErrorCode::INVALID_PARAMS, format!("`{}` is missing or no text", path.join(".")))
}

fn unknown(what: &str, name: &str) -> Fault {
    Fault::refused(
        ErrorCode::INVALID_PARAMS,
        format!("there is no {what} `{name}` here; `{what}s/list` says which there are"),
    )
}

fn no_resource(address: &str) -> Fault {
    Fault::refused(ErrorCode::INVALID_PARAMS, format!("there is no resource `{address}` here"))
}
