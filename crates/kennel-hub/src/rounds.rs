//! Questions of a process of the old era to a client that cannot be asked: the request they belong to is answered with
//! them, the process waits, and the client comes back with the answers.

use crate::backward::{Question, refusal};
use crate::client::Client;
use crate::dialect::{INPUT_RESPONSES, REQUEST_STATE};
use crate::exchange::{Exchange, State, line};
use crate::fault::Fault;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pending::{Asker, Number, Pending, Stage};
use crate::pool::{Core, next_question};
use crate::seal::{Errand, Mark, Ticket};
use crate::withdraw::cancellation;
use bytes::Bytes;
use kennel_supervisor::{Generation, Instance};
use kennel_wire::{ErrorCode, Id, Message, RawJson, ValueKind, meta, success_response};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long further questions are waited for after the first, so that those asked at once are answered at once.
const GRACE: Duration = Duration::from_millis(3);

/// The rounds of one request.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// What the client has not answered yet, by the names under which it is told.
    questions: BTreeMap<String, Posed>,
    /// What the client has brought before it was asked, by the names under which it would be.
    brought: BTreeMap<String, RawJson>,
    /// The answer of the process, where it came while nobody waited for it.
    held: Option<Message>,
    /// When the client has to be back.
    expires: Option<Instant>,
    /// How often the request was answered with questions.
    round: u64,
}

/// A question as the client is told.
#[derive(Debug)]
struct Posed {
    /// Under which number it is noted.
    number: i64,
    request: RawJson,
}

impl Rounds {
    /// Those of a request that brings answers before anything was asked; none where it brings none.
    pub(crate) fn of(request: &Message) -> Option<Box<Self>> {
        let brought = request.field(&["params", INPUT_RESPONSES]).ok()??.members();
        let brought: BTreeMap<_, _> = brought.into_iter().filter(is_answer).collect();
        (!brought.is_empty()).then(|| Box::new(Self { brought, ..Self::default() }))
    }

    /// The numbers of the questions.
    pub(crate) fn questions(&self) -> impl Iterator<Item = i64> {
        self.questions.values().map(|posed| posed.number)
    }

    pub(crate) fn is_overdue(&self, now: Instant) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    pub(crate) fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Whether the process has done its part.
    pub(crate) fn has_answer(&self) -> bool {
        self.held.is_some()
    }

    fn forget(&mut self, number: i64) {
        self.questions.retain(|_, posed| posed.number != number);
    }
}

/// Why a request cannot go on where it was left.
type Refusal = &'static str;
/// What a process is told whose question nobody answers.
const NO_ANSWER: &str = "the client did not come back with an answer";
const RESTARTED: Refusal = "the server was restarted since this `requestState` was issued; make the request anew";

impl Exchange {
    /// Notes a question of the process, to be answered with the request of the client that carries it.
    pub(crate) fn pose(
        &self,
        state: &mut State,
        generation: Generation,
        client: &Arc<Client>,
        message: &Message,
        id: &Id,
    ) -> Result<(), (ErrorCode, String)> {
        let Some(carrier) = state.pending.carrier(client.key, generation) else {
            let text = "the client has no request that could be answered with a question";
            return Err((ErrorCode::INTERNAL_ERROR, text.to_owned()));
        };
        let Some(pending) = state.pending.get_mut(carrier) else { return Ok(()) };
        let rounds = pending.rounds.get_or_insert_default();
        let number = next_question();
        // Under the name that the process gives it, where that is one.
        let named = id.as_str().filter(|name| !rounds.questions.contains_key(&**name));
        let name = named.map_or_else(|| format!("kennel-{number}"), std::borrow::Cow::into_owned);
        if let Some(answer) = rounds.brought.remove(&name) {
            Self::tell(state, &success_response(id, &answer));
            return Ok(());
        }
        let method = message.method().unwrap_or_default();
        let mut request = vec![("method", RawJson::string(&method))];
        request.extend(message.params().map(|params| ("params", params)));
        let request = RawJson::object(request.iter().map(|(name, value)| (*name, value)));
        let is_first = rounds.questions.is_empty();
        rounds.questions.insert(name, Posed { number, request });
        let question = Question {
            generation,
            id: id.clone(),
            token: None,
            client: client.key,
            mailbox: None,
            carrier: Some(carrier),
            bytes: message.bytes().len() + id.spelling().len(),
        };
        if is_first && matches!(pending.stage, Stage::Sent(_)) {
            let exchange = self.me.clone();
            self.core.tasks.spawn(async move {
                sleep(GRACE).await;
                if let Some(exchange) = exchange.upgrade() {
                    exchange.end_round(carrier);
                }
            });
        }
        state.backward.note(number, question);
        Ok(())
    }

    /// A question was taken back by the process, or cannot be answered any more.
    pub(crate) fn unpose(state: &mut State, carrier: Number, number: i64) {
        if let Some(rounds) = state.pending.get_mut(carrier).and_then(|pending| pending.rounds.as_mut()) {
            rounds.forget(number);
        }
    }

    /// Answers a request with the questions that there are for its client.
    fn end_round(&self, number: Number) {
        let mut state = self.state();
        let server = state.server.clone();
        let Some(pending) = state.pending.get_mut(number) else { return };
        if let Some((mailbox, outgoing)) = self.round(pending, number, server.as_ref()) {
            drop(state);
            mailbox.post(outgoing);
        }
    }

    /// Parks a request that somebody waits for and that has questions, and returns what is said instead of an answer.
    fn round(
        &self,
        pending: &mut Pending,
        number: Number,
        server: Option<&RawJson>,
    ) -> Option<(Arc<Mailbox>, Outgoing)> {
        let Stage::Sent(generation) = pending.stage else { return None };
        let rounds = pending.rounds.as_mut().filter(|rounds| !rounds.questions.is_empty())?;
        let Asker::Client { client, mailbox, id, .. } = &pending.asker else { return None };
        let patience = self.core.settings.timeouts.round;
        rounds.round += 1;
        let errand = Errand::Resume { exchange: self.key, generation, number, round: rounds.round };
        let origin = pending.origin.as_ref().map(|origin| request_mark(&origin.message));
        let state = self.core.ticket(errand, client, origin?, patience)?;
        let asked = RawJson::object(rounds.questions.iter().map(|(name, posed)| (name.as_str(), &posed.request)));
        rounds.expires = Some(Instant::now() + patience);
        pending.stage = Stage::Parked(generation);
        let message = input_required(id, &asked, &state, server);
        Some((Arc::clone(mailbox), Outgoing { message, kind: OutgoingKind::Response }))
    }

    /// Keeps the answer to a request that nobody waits for just now; gives it back where that is not so.
    pub(crate) fn hold(&self, generation: Generation, number: Number, message: &Message) -> bool {
        let mut state = self.state();
        let Some(pending) = state.pending.get_mut(number) else { return false };
        match (&pending.stage, &mut pending.rounds) {
            (Stage::Parked(parked), Some(rounds)) if *parked == generation && rounds.held.is_none() => {
                rounds.held = Some(message.clone());
                let limit = self.core.settings.limits.in_flight_bytes;
                if !state.pending.grow(number, message.bytes().len(), limit) {
                    // The client is told so when it comes back.
                    let fault = Fault::saturated("bytes of requests in flight and of their answers", limit);
                    let told = Message::parse(fault.response(&Id::number(number))).ok();
                    if let Some(rounds) = state.pending.get_mut(number).and_then(|pending| pending.rounds.as_mut()) {
                        rounds.held = told;
                    }
                }
                state.pending.displace(number);
                drop(state);
                self.with_instance(Instance::work_ended);
                self.go_on();
                true
            }
            _ => false,
        }
    }

    /// Takes a request that comes back with what it was asked for, if that is what it is.
    pub(crate) fn comes_back(&self, client: &Arc<Client>, message: &Message, id: &Id, mailbox: &Arc<Mailbox>) -> bool {
        let Some(ticket) = self.core.opened_ticket(message) else { return false };
        let Errand::Resume { exchange, generation, number, round } = ticket.errand else { return false };
        let is_here = if exchange == self.key { Ok(()) } else { Err(RESTARTED) };
        let resumed = self
            .core
            .is_valid(&ticket, client, message)
            .and(is_here)
            .and_then(|()| self.resume(client, message, id, mailbox, (generation, number, round)));
        if let Err(text) = resumed {
            let message = Fault::refused(ErrorCode::INVALID_PARAMS, text).response(id);
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        }
        true
    }

    fn resume(
        &self,
        client: &Arc<Client>,
        message: &Message,
        id: &Id,
        mailbox: &Arc<Mailbox>,
        (generation, number, round): (Generation, Number, u64),
    ) -> Result<(), Refusal> {
        let answers = message.field(&["params", INPUT_RESPONSES]).ok().flatten();
        let answers = answers.map(|answers| answers.members()).unwrap_or_default();
        let token = message.progress_token().map_err(|_| "the progress token is neither text nor a number")?;
        let mut state = self.state();
        let link = state.link.clone().filter(|link| link.generation == generation);
        let link = link.ok_or(RESTARTED)?;
        let server = state.server.clone();
        let used = "this `requestState` was used already, or its request has ended; make the request anew";
        let pending = state.pending.get_mut(number).filter(|pending| {
            let is_round = pending.rounds.as_ref().is_some_and(|rounds| rounds.round == round);
            matches!(pending.stage, Stage::Parked(parked) if parked == generation) && is_round
        });
        let pending = pending.ok_or(used)?;
        let (asker, rounds) = (&mut pending.asker, pending.rounds.as_mut().ok_or(used)?);
        *asker = Asker::Client { client: Arc::clone(client), mailbox: Arc::clone(mailbox), id: id.clone(), token };
        pending.stage = Stage::Sent(generation);
        (pending.began, pending.heard) = (Instant::now(), Instant::now());
        rounds.expires = None;
        let mut answered = Vec::new();
        for (name, answer) in answers.into_iter().filter(is_answer) {
            answered.extend(rounds.questions.remove(&name).map(|posed| (posed.number, answer)));
        }
        let held = rounds.held.take();
        let again = if held.is_none() { self.round(pending, number, server.as_ref()) } else { None };
        let answered = answered.into_iter().filter_map(|(question, answer)| {
            state.backward.answered(question, client.key).map(|question| success_response(&question.id, &answer))
        });
        let lines: Vec<Bytes> = answered.map(|answer| line(&answer)).collect();
        drop(state);
        for line in lines {
            let _ = link.input.send(line);
        }
        if let Some((mailbox, outgoing)) = again {
            mailbox.post(outgoing);
        }
        if let Some(held) = held {
            self.with_instance(Instance::work_began);
            let exchange = self.me.clone();
            self.core.tasks.spawn(async move {
                if let Some(exchange) = exchange.upgrade() {
                    exchange.answered(generation, number, &held).await;
                }
            });
        }
        self.core.watch();
        Ok(())
    }

    /// What the process is told of requests whose clients have not come back: that their questions get no answer, and
    /// that the requests are no longer wanted.
    pub(crate) fn given_up(state: &mut State, number: Number, pending: &Pending) -> Vec<Bytes> {
        let mut told = Self::unanswered(state, pending);
        if pending.rounds.as_ref().is_some_and(|rounds| rounds.held.is_none()) {
            told.push(line(&cancellation(number, NO_ANSWER)));
        }
        told
    }

    /// What the process is told of questions that are for the client of a request which is no longer there.
    pub(crate) fn unanswered(state: &mut State, pending: &Pending) -> Vec<Bytes> {
        let questions = pending.rounds.iter().flat_map(|rounds| rounds.questions());
        let questions = questions.filter_map(|question| state.backward.take(question));
        questions.map(|question| line(&refusal(&question.id, ErrorCode::INTERNAL_ERROR, NO_ANSWER))).collect()
    }
}

impl Core {
    /// A sealed state.
    pub(crate) fn ticket(&self, errand: Errand, client: &Client, request: Mark, life: Duration) -> Option<String> {
        let expires = self.milliseconds().saturating_add(u64::try_from(life.as_millis()).unwrap_or(u64::MAX));
        let ticket = Ticket { errand, expires, holder: Mark::of_principal(&client.principal), request };
        Some(self.sealer.as_ref()?.seal(&ticket))
    }

    /// What the state of a request stands for, if Kennel has issued it.
    pub(crate) fn opened_ticket(&self, message: &Message) -> Option<Ticket> {
        let state = message.text_at(&["params", REQUEST_STATE]).ok()??;
        self.sealer.as_ref()?.open(&state)
    }

    /// Whether a state holds for this client, this request and this time.
    pub(crate) fn is_valid(&self, ticket: &Ticket, client: &Client, message: &Message) -> Result<(), Refusal> {
        if ticket.holder != Mark::of_principal(&client.principal) {
            return Err("this `requestState` was issued to somebody else");
        }
        if ticket.request != request_mark(message) {
            return Err("this `requestState` was issued for another request");
        }
        if ticket.expires < self.milliseconds() {
            return Err("this `requestState` has expired; make the request anew");
        }
        Ok(())
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Whether something brought can be an answer at all; otherwise it is asked for again.
fn is_answer((_, answer): &(String, RawJson)) -> bool {
    answer.kind() == ValueKind::Object
}

/// The mark of a request, the same for all its rounds.
pub(crate) fn request_mark(message: &Message) -> Mark {
    let name = |name: &str| message.text_at(&["params", name]).ok().flatten();
    let name = name("name").or_else(|| name("uri")).unwrap_or_default();
    Mark::of_request(&message.method().unwrap_or_default(), &name)
}

/// A result that asks for more.
pub(crate) fn input_required(id: &Id, asked: &RawJson, state: &str, server: Option<&RawJson>) -> Bytes {
    let (kind, state) = (RawJson::string("input_required"), RawJson::string(state));
    let about = server.map(|server| RawJson::object([(meta::SERVER_INFO, server)]));
    let mut members = vec![("resultType", &kind), ("inputRequests", asked), ("requestState", &state)];
    members.extend(about.as_ref().map(|about| ("_meta", about)));
    success_response(id, &RawJson::object(members))
}
