//! What a request of a client needs the process for, and the answers to those that need none.

use crate::catalog::List;
use crate::client::Client;
use crate::dialect::{self, Subject};
use crate::exchange::{Exchange, Sharing};
use crate::fault::Fault;
use crate::level::Level;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pending::Purpose;
use crate::results::Results;
use bytes::Bytes;
use kennel_wire::{Era, ErrorCode, Id, Message, RawJson, success_response};
use std::sync::Arc;

impl Exchange {
    /// What the process is needed for, by a client with a session; nothing where the request is answered without it.
    pub(crate) fn legacy_purpose(
        &self,
        client: &Arc<Client>,
        message: &Message,
        method: &str,
        id: &Id,
        mailbox: &Arc<Mailbox>,
    ) -> Result<Option<Purpose>, Fault> {
        let done = || {
            let message = success_response(id, &RawJson::empty_object());
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
            Ok(None)
        };
        let refused = |text: &str| Fault::refused(ErrorCode::INVALID_PARAMS, text);
        let uri = || message.resource_uri().ok().flatten();
        Ok(Some(match method {
            "ping" => return done(),
            "initialize" => {
                return Err(Fault::refused(ErrorCode::INVALID_REQUEST, "this session has been initialized"));
            }
            "tools/call" | "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/list" => {
                self.task_purpose(client, message, method).map_err(refused)?
            }
            "logging/setLevel" => match Level::of(message) {
                Some(level) if self.has_level(client, level) => return done(),
                Some(wanted) => {
                    let others = Self::level_of_others(&self.state(), client);
                    Purpose::SetLevel { wanted, told: others.map_or(wanted, |others| others.min(wanted)) }
                }
                None => Purpose::Other,
            },
            "resources/subscribe" | "resources/unsubscribe" if self.sharing == Sharing::OneCall => {
                let text = "each call has its own process here, so there is nothing to subscribe to";
                return Err(refused(text));
            }
            "resources/subscribe" => match uri() {
                Some(uri) if let Some(fault) = client.refuses_subscription(&uri, &self.core.settings.limits) => {
                    return Err(fault);
                }
                Some(uri) if self.is_subscribed_by_another(client, &uri) => {
                    client.subscribe(&uri);
                    return done();
                }
                Some(uri) => Purpose::Subscribe(uri.into_owned()),
                None => Purpose::Other,
            },
            "resources/unsubscribe" => match uri() {
                Some(uri) if self.is_wanted_by_another(client, &uri) => {
                    client.unsubscribe(&uri);
                    return done();
                }
                Some(uri) => Purpose::Unsubscribe(uri.into_owned()),
                None => Purpose::Other,
            },
            _ => return Ok(self.common_purpose(client, message, method, id, mailbox)),
        }))
    }

    /// What the process is needed for by any client; nothing where the request is answered without it.
    pub(crate) fn common_purpose(
        &self,
        client: &Arc<Client>,
        message: &Message,
        method: &str,
        id: &Id,
        mailbox: &Arc<Mailbox>,
    ) -> Option<Purpose> {
        if method == "resources/read"
            && let Ok(Some(uri)) = message.resource_uri()
            && Results::is_ours(&uri)
        {
            self.read_kept(client, uri.into_owned(), id.clone(), mailbox);
            return None;
        }
        let page = List::of_method(method).and_then(|list| self.page_while_away(client, list, message, id));
        let Some(message) = page else { return Some(Purpose::Other) };
        // So that the process is there when the client goes on.
        self.wake();
        mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        None
    }

    /// The answer to a request for a page, from the catalog, while there is no process to ask.
    fn page_while_away(&self, client: &Client, list: List, request: &Message, id: &Id) -> Option<Bytes> {
        if self.state().link.is_some() {
            return None;
        }
        let offer = self.catalog.offer();
        let page = offer.page(list, request)?;
        let introduced = offer.introduction.as_ref()?;
        if introduced.era == Era::Modern && !is_for_all(&page) {
            return None;
        }
        let answer = success_response(id, &page);
        match (client.introduction.era, introduced.era) {
            (Era::Modern, Era::Legacy) => {
                let answer = Message::parse(answer).ok()?;
                dialect::new_answer(&answer, id, Subject::List, introduced.server().as_ref()).ok()
            }
            _ => Some(answer),
        }
    }

    fn read_kept(&self, client: &Arc<Client>, uri: String, id: Id, mailbox: &Arc<Mailbox>) {
        let (core, client, mailbox) = (Arc::clone(&self.core), Arc::clone(client), Arc::clone(mailbox));
        self.core.tasks.spawn(async move {
            let mut message = core.results.read(&client, &uri, &id).await;
            if client.is_modern()
                && let Ok(answer) = Message::parse(message.clone())
                && let Ok(answer) = dialect::new_answer(&answer, &id, Subject::Read, None)
            {
                message = answer;
            }
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        });
    }
}

/// Whether a page is the same for everybody, as its server says.
fn is_for_all(page: &RawJson) -> bool {
    page.members().iter().any(|(name, value)| name == "cacheScope" && value.as_bytes() == b"\"public\"")
}
