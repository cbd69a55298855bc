//! The hub of one server: opens sessions and finds for each the process that serves it.

use crate::callers::Caller;
use crate::catalog::Introduced;
use crate::client::{Client, ClientKey, ClientKind, Introduction};
use crate::exchange::{Exchange, Sharing};
use crate::fault::Fault;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::modern::promising;
use crate::observer::Observer;
use crate::pool::{Core, unique_number};
use crate::principal::{Principal, SessionId};
use crate::session::Session;
use crate::settings::{ProcessModel, ServerSettings};
use crate::status::{EraName, InstanceStatus, Metric, MetricKind, Readiness, Status, readiness};
use crate::sync::lock;
use bytes::Bytes;
use kennel_supervisor::{Handshake, Launcher, Stage};
use kennel_wire::{Era, ErrorCode, Id, Message, ProtocolVersion, RawJson, success_response};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a client that was turned away should wait before it tries again.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Routes messages between client sessions and the processes of one server. Cheap to clone.
#[derive(Clone)]
pub struct Hub(pub(crate) Arc<Core>);

/// Why a session was not opened.
#[derive(Debug, Clone)]
pub struct Refused {
    /// The error that answers the client's request.
    pub response: Bytes,
    /// What kind of refusal it is.
    pub reason: RefusedReason,
}

/// What kind of refusal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedReason {
    /// There are too many already.
    Saturated {
        /// When it is worth trying again.
        retry_after: Duration,
    },
    /// The server cannot be started.
    Unavailable,
    /// The request is not a proper `initialize`.
    Invalid,
}

impl Hub {
    /// A hub for one server. Nothing is started before it is wanted. Must be called within a tokio runtime.
    #[must_use]
    pub fn new(
        settings: ServerSettings,
        supervision: kennel_supervisor::Settings,
        launcher: Arc<dyn Launcher>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self::staged(settings, supervision, launcher, observer, Stage::default())
    }

    /// The same, with the turns for starting processes shared with others.
    #[must_use]
    pub fn staged(
        settings: ServerSettings,
        supervision: kennel_supervisor::Settings,
        launcher: Arc<dyn Launcher>,
        observer: Arc<dyn Observer>,
        stage: Stage,
    ) -> Self {
        Self(Core::new(settings, supervision, launcher, observer, stage))
    }

    /// Opens a session with a client's `initialize` and returns the answer to it.
    ///
    /// Takes as long as the server needs to start, unless what it will say is remembered.
    pub async fn initialize(
        &self,
        principal: &Principal,
        request: Message,
        unsolicited: Arc<Mailbox>,
    ) -> Result<(Session, Bytes), Refused> {
        if let Some(successor) = self.successor() {
            return Box::pin(successor.initialize(principal, request, unsolicited)).await;
        }
        let id = request.id().cloned().unwrap_or_else(|| Id::number(0));
        let refused = |fault: &Fault, reason| Refused { response: fault.response(&id), reason };
        let introduction = Introduction::read(&request).map_err(|text| {
            let text = format!("this initialize request is not valid: {text}");
            refused(&Fault::refused(ErrorCode::INVALID_PARAMS, text), RefusedReason::Invalid)
        })?;
        let opened = self.begin(principal, introduction, unsolicited);
        let session = opened.map_err(|fault| refused(&fault, reason(&fault)))?;
        let introduced = self.introduced(&session).await;
        let introduced = introduced.map_err(|fault| refused(&fault, reason(&fault)))?;
        let response = self.introduction(&session, &introduced, &id);
        Ok((session, response))
    }

    /// Serves one request of a caller that opens no session and says nothing about itself; the answer arrives in the
    /// mailbox.
    pub fn call(&self, caller: &Caller, request: Message, mailbox: &Arc<Mailbox>) {
        if let Some(successor) = self.successor() {
            return successor.call(caller, request, mailbox);
        }
        let Some(id) = request.id().cloned() else { return };
        let answer = |message| {
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        };
        if request.method().as_deref() == Some("initialize") {
            let (hub, caller, mailbox) = (self.clone(), caller.clone(), Arc::clone(mailbox));
            self.0.tasks.spawn(async move {
                let message = match hub.caller(&caller, &ClientKind::PLAIN, Introduction::plain) {
                    Ok(session) => match hub.introduced(&session).await {
                        Ok(introduced) => hub.introduction(&session, &introduced, &id),
                        Err(fault) => fault.response(&id),
                    },
                    Err(fault) => fault.response(&id),
                };
                mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
            });
            return;
        }
        match self.caller(caller, &ClientKind::PLAIN, Introduction::plain) {
            Ok(session) => session.receive(request, mailbox),
            Err(fault) => answer(fault.response(&id)),
        }
    }

    /// How the server and what serves it are.
    #[must_use]
    pub fn status(&self) -> Status {
        let (sessions, exchanges) = {
            let pool = lock(&self.0.pool);
            (pool.sessions, pool.exchanges.values().cloned().collect::<Vec<_>>())
        };
        let instance = |exchange: &Arc<Exchange>| {
            let era = exchange.era().map(EraName::from);
            exchange.status().map(|status| InstanceStatus { name: exchange.name.clone(), era, status })
        };
        let mut instances: Vec<_> = exchanges.iter().filter_map(instance).collect();
        instances.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let readiness = match lock(&self.0.trial_failure).clone() {
            _ if self.0.closing.is_cancelled() => Readiness::Closing,
            // The process that would say it is not there any more.
            Some(cause) if instances.is_empty() => Readiness::Failed { cause },
            Some(_) | None => readiness(&instances),
        };
        let (server, model) = (self.0.settings.name.clone(), self.0.settings.model);
        let held = lock(&self.0.held).clone();
        Status { server, model, eras: self.eras(), sessions, instances, readiness, held }
    }

    /// The eras that the server speaks, as far as is known.
    fn eras(&self) -> Vec<EraName> {
        let known = self.0.book.eras();
        let is_spoken = |era: &Era| self.0.settings.era.map_or_else(|| known.is_spoken(*era), |fixed| fixed == *era);
        [Era::Legacy, Era::Modern].into_iter().filter(is_spoken).map(EraName::from).collect()
    }

    /// What there is to count.
    #[must_use]
    pub fn metrics(&self) -> Vec<Metric> {
        let status = self.status();
        let gauge = |name, help, value: usize| Metric {
            name,
            help,
            kind: MetricKind::Gauge,
            labels: Vec::new(),
            value: value as u64,
        };
        let in_flight = status.instances.iter().map(|instance| instance.status.calls_in_flight).sum();
        let mut metrics = vec![
            gauge("sessions", "Sessions that are open.", status.sessions),
            gauge("instances", "Instances of the server, asleep ones included.", status.instances.len()),
            gauge("requests_in_flight", "Requests that are not answered yet.", in_flight),
        ];
        metrics.extend(self.0.counters.metrics());
        for metric in &mut metrics {
            metric.labels.push(("server", status.server.clone()));
        }
        metrics
    }

    /// Starts a process ahead of the first client, where one can serve any of them.
    pub fn warm(&self) {
        if self.0.settings.model == ProcessModel::Shared
            && let Ok(exchange) = self.0.exchange("shared".to_owned(), Sharing::Shared, &Introduction::of_kennel())
        {
            exchange.wake();
        }
    }

    /// Whether what the server offers is remembered, to any kind of client.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.0.book.is_written()
    }

    /// Finds out whether the server can be started and what it says: with the process that clients will share, or with
    /// one for this alone.
    pub async fn try_out(&self) -> Result<Arc<Handshake>, String> {
        let exchange = match self.0.settings.model {
            ProcessModel::Shared => self.0.exchange("shared".to_owned(), Sharing::Shared, &Introduction::of_kennel()),
            ProcessModel::PerSession | ProcessModel::PerUser | ProcessModel::PerCall => {
                self.0.exchange("trial".to_owned(), Sharing::OneCall, &Introduction::plain())
            }
        };
        let exchange = exchange.map_err(|fault| fault.text().to_owned())?;
        let outcome = exchange.opened().await.map_err(|fault| fault.text().to_owned());
        self.0.tried_out(outcome.as_ref().err());
        if exchange.sharing == Sharing::OneCall {
            self.0.retire(&exchange.name);
        }
        outcome
    }

    /// Ends all sessions and processes and returns when nothing is left.
    pub async fn shutdown(&self) {
        self.0.closing.cancel();
        let callers = lock(&self.0.pool).callers.clear();
        drop(callers);
        loop {
            let exchanges = std::mem::take(&mut lock(&self.0.pool).exchanges);
            if exchanges.is_empty() {
                break;
            }
            let mut ends = tokio::task::JoinSet::new();
            for exchange in exchanges.into_values() {
                ends.spawn(async move { exchange.end().await });
            }
            while ends.join_next().await.is_some() {}
        }
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// Whether what is asked of this hub is served by the other.
    pub(crate) fn leads_to(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.successor().is_some_and(|successor| successor.leads_to(other))
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.0
    }

    /// Opens a session.
    pub(crate) fn begin(
        &self,
        principal: &Principal,
        introduction: Introduction,
        unsolicited: Arc<Mailbox>,
    ) -> Result<Session, Fault> {
        self.open(principal, SessionId::random()?, introduction, unsolicited)
    }

    /// Opens a session of this name.
    pub(crate) fn open(
        &self,
        principal: &Principal,
        id: SessionId,
        introduction: Introduction,
        unsolicited: Arc<Mailbox>,
    ) -> Result<Session, Fault> {
        let core = &self.0;
        let (length, limit) = (introduction.bytes(), core.settings.limits.introduction_bytes);
        if length > limit {
            let text = format!("the client says {length} bytes about itself; at most {limit} pass");
            return Err(Fault::refused(ErrorCode::TOO_LARGE, text));
        }
        {
            let mut pool = lock(&core.pool);
            if pool.sessions >= core.settings.limits.sessions {
                return Err(Fault::saturated("sessions", core.settings.limits.sessions));
            }
            pool.sessions += 1;
        }
        let key = ClientKey(unique_number());
        let client = Arc::new(Client::new(key, id, principal.clone(), introduction.detached(), unsolicited));
        let exchange = core.assigned(&client);
        let exchange = exchange.inspect_err(|_| core.session_ended())?;
        Ok(Session::new(Arc::clone(core), client, exchange))
    }

    /// What the server says about itself, from memory if it can be.
    async fn introduced(&self, session: &Session) -> Result<Introduced, Fault> {
        let exchange = &session.exchange();
        if let Some(introduced) = &exchange.catalog.offer().introduction {
            exchange.wake();
            return Ok(introduced.clone());
        }
        Ok(Introduced::from(&*exchange.opened().await?))
    }

    /// The answer to a client's `initialize`. Beside the id, these are changed: the version, where several clients
    /// share the process and each has asked for its own; and `listChanged`, which is always promised for what there
    /// is, because another process may offer something else. A modern server is said in the words of the old era.
    fn introduction(&self, session: &Session, introduced: &Introduced, id: &Id) -> Bytes {
        let chosen = match introduced.era {
            Era::Legacy => introduced.version.parse().unwrap_or(ProtocolVersion::LATEST_LEGACY),
            Era::Modern => ProtocolVersion::LATEST_LEGACY,
        };
        let is_chosen_by_each = introduced.era == Era::Modern
            || matches!(self.0.settings.model, ProcessModel::Shared | ProcessModel::PerUser);
        let agreed = match session.client().introduction.version {
            Some(asked) if is_chosen_by_each && asked < chosen => asked,
            Some(_) | None => chosen,
        };
        // Set once: a session has one answer to its `initialize`.
        let _ = session.client().version.set(agreed);
        let response = promising(success_response(id, &introduced.initialized(&self.0.settings.name)));
        if agreed == chosen {
            return response;
        }
        let Ok(message) = Message::parse(response.clone()) else { return response };
        let version = RawJson::string(agreed.as_str());
        match message.rewrite().replace(&["result", "protocolVersion"], &version) {
            Ok(rewrite) => rewrite.finish(),
            Err(_) => response,
        }
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Hub").field(&self.0.settings.name).finish()
    }
}

fn reason(fault: &Fault) -> RefusedReason {
    if fault.is_saturation() {
        RefusedReason::Saturated { retry_after: RETRY_AFTER }
    } else {
        RefusedReason::Unavailable
    }
}
