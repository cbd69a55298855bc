//! Requests of clients without sessions, as far as they are other than those of the others: what is answered without the
//! process, and what a process of the old era has to be told for them.

use crate::catalog::{Introduced, List, Offering};
use crate::client::Client;
use crate::dialect::{self, REQUEST_STATE, Subject};
use crate::exchange::{Exchange, Sharing, State};
use crate::fault::Fault;
use crate::level::Level;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pending::Purpose;
use crate::seal::Errand;
use crate::settings::ProcessModel;
use crate::tasks::without_tasks;
use kennel_wire::{Era, ErrorCode, Id, Message, ProtocolVersion, RawJson, Rewrite, meta, success_response};
use std::sync::Arc;

/// The methods that came to an end with the sessions.
const REMOVED: &[&str] = &[
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/list",
    "tasks/result",
];

impl Exchange {
    /// What the process is needed for, by a client without a session; nothing where the request is answered without it.
    pub(crate) fn modern_purpose(
        &self,
        client: &Arc<Client>,
        message: &Message,
        method: &str,
        id: &Id,
        mailbox: &Arc<Mailbox>,
    ) -> Result<Option<Purpose>, Fault> {
        if REMOVED.contains(&method) {
            let text = format!("there is no `{method}` in {} any more", ProtocolVersion::LATEST);
            return Err(Fault::refused(ErrorCode::METHOD_NOT_FOUND, text));
        }
        if Subject::of(method).may_ask() && message.has(&["params", REQUEST_STATE]) {
            if self.comes_back(client, message, id, mailbox) {
                return Ok(None);
            }
            if self.has_foreign_state(client, message) {
                let text = "this `requestState` was issued to somebody else";
                return Err(Fault::refused(ErrorCode::INVALID_PARAMS, text));
            }
        }
        match method {
            "server/discover" => {
                self.discover(client, id, mailbox);
                Ok(None)
            }
            "subscriptions/listen" => self.listen(client, message, id, mailbox).map(|()| None),
            "tasks/get" | "tasks/update" | "tasks/cancel"
                if self.sharing == Sharing::Shared && !client.introduction.takes_tasks =>
            {
                Err(Fault::undeclared("tasks", r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#))
            }
            "tools/call" | "tasks/get" | "tasks/update" | "tasks/cancel" => {
                let purpose = self.task_purpose(client, message, method);
                purpose.map(Some).map_err(|text| Fault::refused(ErrorCode::INVALID_PARAMS, text))
            }
            _ => Ok(self.common_purpose(client, message, method, id, mailbox)),
        }
    }

    /// Says what the server is, from memory if it can be.
    fn discover(&self, client: &Arc<Client>, id: &Id, mailbox: &Arc<Mailbox>) {
        if let Some(introduced) = &self.catalog.offer().introduction {
            self.wake();
            let message = self.offered(introduced.discovered(id));
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
            return;
        }
        let (exchange, client, id, mailbox) = (self.me.clone(), Arc::clone(client), id.clone(), Arc::clone(mailbox));
        if !client.admit(self.core.settings.limits.session_requests) {
            let limit = self.core.settings.limits.session_requests;
            let message = Fault::saturated("unanswered requests in this session", limit).response(&id);
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
            return;
        }
        self.core.tasks.spawn(async move {
            let Some(exchange) = exchange.upgrade() else { return };
            let message = match exchange.opened().await {
                Ok(handshake) => exchange.offered(Introduced::from(&*handshake).discovered(&id)),
                Err(fault) => fault.response(&id),
            };
            client.dismiss();
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        });
    }

    /// What a server offers as far as it can be kept: no tasks where each call has its own process.
    fn offered(&self, answer: bytes::Bytes) -> bytes::Bytes {
        const EXTENSIONS: &[&str] = &["result", "capabilities", "extensions"];
        if self.core.settings.model != ProcessModel::PerCall {
            return answer;
        }
        let Ok(message) = Message::parse(answer.clone()) else { return answer };
        let Some(others) = without_tasks(&message, EXTENSIONS) else { return answer };
        message.rewrite().replace(EXTENSIONS, &others).map_or(answer, Rewrite::finish)
    }

    /// Whether a request that brings a state may be made to a process of the old era, which knows nothing of states:
    /// only if Kennel has issued the state for a request that is made once more.
    pub(crate) fn may_repeat(&self, client: &Client, message: &Message) -> Result<(), String> {
        if !message.has(&["params", REQUEST_STATE]) {
            return Ok(());
        }
        let foreign = "this `requestState` was not issued here, or was changed, or is from before a restart of Kennel";
        let ticket = self.core.opened_ticket(message).ok_or(foreign)?;
        self.core.is_valid(&ticket, client, message)?;
        match ticket.errand {
            Errand::Repeat => Ok(()),
            Errand::Resume { .. } => Err("the server was restarted since this `requestState` was issued".to_owned()),
        }
    }

    /// Has a process of the old era log as much as this.
    pub(crate) fn have_logged(&self, state: &mut State, level: Level) {
        let logs = state.link.as_ref().is_some_and(|link| link.handshake.has_capability("logging"));
        if logs && state.level.is_none_or(|told| told > level) {
            self.tell_level(state, level);
        }
    }
}

impl Introduced {
    /// What is said of the server to a client without a session. Beside the versions, which are those of Kennel, it is
    /// what the server says; `listChanged` is always promised, because another process may offer something else.
    pub(crate) fn discovered(&self, id: &Id) -> bytes::Bytes {
        promising(success_response(id, &dialect::discovered(&self.result)))
    }

    /// What is said of the server to a client with a session.
    pub(crate) fn initialized(&self, name: &str) -> RawJson {
        match self.era {
            Era::Legacy => self.result.clone(),
            Era::Modern => dialect::initialized(&self.result, name),
        }
    }

    /// Who the server says it is.
    pub(crate) fn server(&self) -> Option<RawJson> {
        let member = |object: &RawJson, name: &str| {
            object.members().into_iter().find(|(member, _)| member == name).map(|(_, value)| value)
        };
        match self.era {
            Era::Legacy => member(&self.result, "serverInfo"),
            Era::Modern => member(&member(&self.result, "_meta")?, meta::SERVER_INFO),
        }
    }
}

/// The answer with `listChanged` promised for each list that the server has.
pub(crate) fn promising(answer: bytes::Bytes) -> bytes::Bytes {
    let Ok(message) = Message::parse(answer.clone()) else { return answer };
    let mut rewrite = message.rewrite();
    for offered in List::CAPABILITIES {
        let path = ["result", "capabilities", offered];
        if message.has(&path)
            && let Ok(changed) =
                rewrite.clone().set(&["result", "capabilities", offered, "listChanged"], &RawJson::boolean(true))
        {
            rewrite = changed;
        }
    }
    rewrite.finish()
}
