//! Two tools instead of all: one that finds the others by what they do, and one that calls them.

use crate::catalog::List;
use crate::client::Introduction;
use crate::dialect::{self, Subject};
use crate::fault::Fault;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::search::{
    CALL_TOOL, CALL_TOOL_DEFINITION, CallArguments, Document, Found, Index, SEARCH_TOOLS, SEARCH_TOOLS_DEFINITION,
    SearchArguments, render,
};
use crate::sync::lock;
use crate::union::member::Member;
use crate::union::shelf::Shelf;
use crate::union::{Core, Members, Union};
use kennel_wire::{Era, ErrorCode, Id, Message, RawJson, Rewrite, success_response};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const NAME: &[&str] = &["params", "name"];
const ARGUMENTS: &[&str] = &["params", "arguments"];

/// The index over the tools of all servers, brought up to date when it is asked.
#[derive(Debug, Default)]
pub(crate) struct Finder(Mutex<Indexed>);

#[derive(Debug, Default)]
struct Indexed {
    index: Index,
    /// What of each server is in it.
    parts: HashMap<Arc<str>, Arc<Shelf>>,
}

/// What a call of a union that shows two tools is.
pub(crate) enum Meant {
    /// A search.
    Search(SearchArguments),
    /// A call of the tool that was found, as if it had been made directly.
    Call(Box<Message>),
}

impl Union {
    /// What a call means; an error says what is wrong with it in a way that a model can mend.
    pub(crate) fn meant(request: &Message) -> Result<Meant, Fault> {
        let invalid = |text: String| Fault::refused(ErrorCode::INVALID_PARAMS, text);
        let arguments = request.field(ARGUMENTS).ok().flatten();
        match request.text_at(NAME).ok().flatten().as_deref() {
            Some(SEARCH_TOOLS) => {
                SearchArguments::read(arguments.as_ref()).map(Meant::Search).map_err(|error| invalid(error.to_string()))
            }
            Some(CALL_TOOL) => {
                let CallArguments { name, arguments } =
                    CallArguments::read(arguments.as_ref()).map_err(|error| invalid(error.to_string()))?;
                let call = request.rewrite().replace(NAME, &RawJson::string(&name));
                let call = call.and_then(|call| call.set(ARGUMENTS, &arguments)).map(Rewrite::finish);
                let call = call.map_err(|error| invalid(error.to_string()))?;
                Message::parse(call).map(|call| Meant::Call(Box::new(call))).map_err(|error| invalid(error.to_string()))
            }
            Some(name) => {
                let text = format!(
                    "there is no tool `{name}` here; find tools with {SEARCH_TOOLS} and call them with {CALL_TOOL}"
                );
                Err(invalid(text))
            }
            None => Err(invalid("`params.name` is missing or no text".to_owned())),
        }
    }

    /// Answers a search, when what there is to know is known.
    pub(crate) fn search(
        &self,
        era: Era,
        introduction: &Introduction,
        arguments: SearchArguments,
        id: Id,
        mailbox: &Arc<Mailbox>,
    ) {
        let members = self.members();
        let is_listed = |member: &Arc<Member>| member.is_listed(introduction, List::Tools);
        let unknown: Vec<_> = members.values().filter(|member| !is_listed(member)).cloned().collect();
        let (core, mailbox, introduction) = (Arc::clone(&self.0), Arc::clone(mailbox), introduction.clone());
        self.0.runtime.spawn(async move {
            if !unknown.is_empty() {
                core.get_to_know(&unknown, &introduction, List::Tools).await;
            }
            // Where many tools are new, indexing them takes a while.
            let found = tokio::task::spawn_blocking(move || core.found(&introduction, &arguments));
            let message = match found.await {
                Ok(result) => success_response(&id, &result),
                Err(_) => Fault::refused(ErrorCode::INTERNAL_ERROR, "the search has failed").response(&id),
            };
            let modern = Message::parse(message.clone()).ok().filter(|_| era == Era::Modern);
            let modern = modern.and_then(|message| dialect::new_answer(&message, &id, Subject::Call, None).ok());
            mailbox.post(Outgoing { message: modern.unwrap_or(message), kind: OutgoingKind::Response });
        });
    }
}

impl Core {
    /// The result of a search.
    fn found(&self, introduction: &Introduction, arguments: &SearchArguments) -> RawJson {
        let mut held = lock(&self.finder.0);
        // What they are by now: the rules may have changed since the search was asked for.
        let members = Arc::clone(&lock(&self.members));
        held.update(&members, introduction);
        let Indexed { index, parts } = &*held;
        let is_wanted = |server: &str, _: &str| arguments.server.as_deref().is_none_or(|wanted| wanted == server);
        let hits = index.search_where(&arguments.query, arguments.limit, is_wanted);
        let tools = hits.iter().filter_map(|hit| {
            let (_, name, tool) = parts.get(hit.server)?.shown_tools().find(|(shown, ..)| *shown == hit.name)?;
            Some(Found { name, server: hit.server, tool })
        });
        render(&tools.collect::<Vec<_>>(), arguments.detail).result()
    }
}

impl Indexed {
    /// Brings it up to date with what servers offer.
    fn update(&mut self, members: &Members, introduction: &Introduction) {
        let gone: Vec<_> = self.parts.keys().filter(|server| !members.contains_key(*server)).cloned().collect();
        for server in gone {
            self.parts.remove(&server);
            self.index.remove(&server);
        }
        for (server, member) in members {
            let Some(current) = member.shelf(introduction) else { continue };
            if self.parts.get(server).is_some_and(|known| Arc::ptr_eq(known, &current)) {
                continue;
            }
            let documents = current.shown_tools().filter_map(|(name, _, tool)| {
                let document = Document::read(server, tool)?;
                Some(Document { name: name.into(), ..document })
            });
            self.index.replace(server, documents);
            self.parts.insert(Arc::clone(server), current);
        }
    }
}

/// The list of tools of a union that shows two.
pub(crate) fn listed() -> RawJson {
    let list = format!("{{\"tools\":[{SEARCH_TOOLS_DEFINITION},{CALL_TOOL_DEFINITION}]}}");
    RawJson::parse(list).unwrap_or_else(|_| RawJson::empty_object())
}
