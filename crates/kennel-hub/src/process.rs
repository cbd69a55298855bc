//! What the supervisor tells an exchange about its process.

use crate::catalog::{Introduced, List, Offering};
use crate::exchange::{Delivery, Exchange, Sharing, State};
use crate::fault::Fault;
use crate::pending::{Pending, Stage};
use crate::skipped::request_of;
use crate::surveys::Surveys;
use crate::sync::lock;
use kennel_supervisor::{End, Failure, Generation, Instance, LifecycleEvent, Link, Next, Noise, Receiver, StopReason};
use kennel_wire::{Era, ErrorCode, Id, Kind, Message, RawJson, notification};
use serde_json::json;
use std::sync::Arc;
use tokio::time::Instant;

impl Receiver for Exchange {
    fn ready(&self, link: &Link) {
        let tools_changed = self.catalog.opened(&link.handshake);
        let repeatable = self.catalog.offer().repeatable_tools();
        let introduced = Introduced::from(&*link.handshake);
        self.core.book.spoke(introduced.era);
        *lock(&self.core.trial_failure) = None;
        if !self.plan.is_fixed && introduced.era != self.plan.first {
            self.core.book.shunned(self.plan.first);
        }
        let mut state = self.state();
        let is_first = !state.has_been_ready;
        state.link = Some(link.clone());
        state.server = introduced.server();
        self.speaks(Some(introduced.era));
        state.has_been_ready = true;
        state.ended = None;
        state.repeatable = repeatable;
        state.surveys = Surveys::default();
        let mut news = self.reconnect(&mut state, link);
        self.restore(&mut state);
        let unsent = self.flush(&mut state, link);
        let openers = std::mem::take(&mut state.openers);
        if self.sharing != Sharing::OneCall {
            let lists = [List::Prompts, List::Resources, List::Templates];
            for list in lists.into_iter().filter(|list| link.handshake.has_capability(list.capability())) {
                self.survey(&mut state, list);
            }
        }
        if tools_changed {
            news.extend(Self::list_changed(&state, List::Tools));
        }
        drop(state);
        for opener in openers {
            let _ = opener.send(Ok(Arc::clone(&link.handshake)));
        }
        self.post(news);
        self.settle(unsent);
        self.core.watch();
        if !is_first {
            self.core.counters.restarts.add();
        }
    }

    async fn message(&self, generation: Generation, message: Message) {
        match message.kind() {
            Kind::Response { id, .. } => match id.as_integer() {
                Some(number) => self.answered(generation, number, &message).await,
                None => self.core.counters.stray_answers.add(),
            },
            Kind::Error { .. } => match message.id().and_then(Id::as_integer) {
                Some(number) => self.answered(generation, number, &message).await,
                None => self.core.counters.stray_answers.add(),
            },
            Kind::Request { id, method, .. } => self.asked(generation, &message, &method, id).await,
            Kind::Notification { method, .. } => {
                let method = method.into_owned();
                self.announced(generation, message, &method).await;
            }
        }
    }

    fn noise(&self, generation: Generation, noise: Noise) {
        self.core.counters.noise.add();
        self.core.observer.noise(&self.name, &noise);
        let (number, fault) = match &noise {
            Noise::TooLong { head, tail, length } => {
                // What is read is twice that, so that a result that does not pass can be kept.
                let limit = self.core.settings.limits.message_bytes;
                (request_of(head, tail), Fault::too_large(&self.core.settings.name, *length, limit))
            }
            Noise::NotAMessage { reason, .. } => {
                let text = format!("{} gave an answer that is not a message: {reason}", self.core.settings.name);
                (reason.id().and_then(Id::as_integer), Fault::refused(ErrorCode::INTERNAL_ERROR, text))
            }
        };
        if let Some(number) = number {
            let taken = {
                let mut state = self.state();
                let mut taken = state.pending.answered(number, generation);
                if let Some(taken) = &mut taken {
                    state.pending.vacate(taken);
                }
                taken
            };
            self.refuse(taken.into_iter().map(|pending| (number, pending)).collect(), &fault);
            self.ended_call();
        }
    }

    fn diagnostics(&self, _generation: Generation, line: &[u8]) {
        self.core.observer.diagnostics(&self.name, line);
    }

    fn gone(&self, generation: Generation, end: &End) {
        let (lost, news) = {
            let mut state = self.state();
            self.speaks(None);
            state.link = None;
            state.level = None;
            // What waited for its turn waits for the next process from now on.
            state.pending.wait_anew(Instant::now());
            let sent = |pending: &Pending| pending.is_with(generation);
            let mut lost = Vec::new();
            let mut again = Vec::new();
            for (number, mut pending) in state.pending.take(sent) {
                let repeated = pending.again.take().filter(|_| matches!(pending.stage, Stage::Sent(_)));
                match repeated {
                    // Once more and no further, for the request may be what the process dies of.
                    Some(message) if *end != End::Stopped(StopReason::Shutdown) && state.ended.is_none() => {
                        pending.stage = Stage::Waiting(message);
                        pending.began = Instant::now();
                        again.push(number);
                        state.pending.insert(number, pending);
                    }
                    Some(_) | None => lost.push((number, pending)),
                }
            }
            for number in again.into_iter().rev() {
                state.waiting.push_front(number);
            }
            let asked = state.backward.of(generation).into_iter();
            // What a modern process has asked stands without it.
            let (kept, asked): (Vec<_>, Vec<_>) = asked.partition(|(_, question)| {
                let carrier = question.carrier.and_then(|carrier| state.pending.get_mut(carrier));
                carrier.is_some_and(|pending| matches!(pending.stage, Stage::Asking))
            });
            for (number, question) in kept {
                state.backward.note(number, question);
            }
            let news = asked.into_iter().filter_map(|(number, question)| {
                let params = json!({ "requestId": number, "reason": "the server has ended" }).to_string();
                let params = RawJson::parse(params).unwrap_or_else(|_| RawJson::empty_object());
                Some(Delivery::notification(&question.mailbox?, notification("notifications/cancelled", &params)))
            });
            (lost, news.collect::<Vec<_>>())
        };
        self.post(news);
        let cause = match end {
            End::Stopped(StopReason::Idle) => "the server was stopped because it was idle".to_owned(),
            End::Stopped(StopReason::Restart) => "the server was restarted by the operator".to_owned(),
            End::Stopped(StopReason::Shutdown) => "the server was stopped".to_owned(),
            End::Stopped(StopReason::Ill) => "the server did not answer any more and was stopped".to_owned(),
            End::Died(failure) => failure.client_text(),
        };
        self.refuse(lost, &Fault::outcome_unknown(&self.core.settings.name, &cause));
        if !self.state().waiting.is_empty() {
            self.wake();
        }
        self.ended_call();
    }

    fn failed(&self, failure: &Failure, next: Next) {
        self.core.counters.failures.add();
        self.core.observer.failed(&self.name, failure, next);
        let fault = Fault::unavailable(&self.core.settings.name, failure.phase, &failure.client_text());
        let (taken, openers, ended) = {
            let mut state = self.state();
            match next {
                // Whoever waits for a restart has a process that was there before; at a first start nobody knows.
                Next::RetryIn(_) if state.has_been_ready => return,
                Next::RetryIn(_) => {}
                Next::Parked | Next::Never => state.ended = Some(fault.clone()),
            }
            state.waiting.clear();
            let waiting = |pending: &Pending| matches!(pending.stage, Stage::Waiting(_));
            let ended = Self::end_listens(&mut state, Some(&fault));
            (state.pending.take(waiting), std::mem::take(&mut state.openers), ended)
        };
        self.post(ended);
        for opener in openers {
            let _ = opener.send(Err(fault.clone()));
        }
        self.refuse(taken, &fault);
        self.ended_call();
    }

    fn era_refused(&self, era: Era) {
        self.core.book.refused(era);
    }

    fn event(&self, event: &LifecycleEvent) {
        self.core.observer.lifecycle(&self.name, event);
    }
}

impl Exchange {
    /// Ends what has taken too long.
    pub(crate) fn sweep(&self, now: Instant) {
        let timeouts = &self.core.settings.timeouts;
        let server = &self.core.settings.name;
        let (late, waited, silent, gone) = {
            let mut state = self.state();
            let waited = match &state.link {
                Some(_) => Fault::no_turn(server, timeouts.call),
                None => Fault::not_ready(server, timeouts.start),
            };
            let patience = if state.link.is_some() { timeouts.call } else { timeouts.start };
            let gone = state.pending.take(|pending| {
                let is_overdue = pending.rounds.as_ref().is_some_and(|rounds| rounds.is_overdue(now));
                matches!(pending.stage, Stage::Parked(_)) && is_overdue
            });
            for (number, pending) in &gone {
                let lines = Self::given_up(&mut state, *number, pending);
                for line in lines {
                    Self::tell_line(&state, line);
                }
            }
            let late = state.pending.take(|pending| {
                matches!(pending.stage, Stage::Waiting(_)) && now.duration_since(pending.began) > patience
            });
            let silent = state.pending.take(|pending| {
                matches!(pending.stage, Stage::Sent(_) | Stage::Asking)
                    && (now.duration_since(pending.heard) > timeouts.inactivity
                        || now.duration_since(pending.began) > timeouts.call)
            });
            if !late.is_empty() {
                let State { waiting, pending, .. } = &mut *state;
                waiting.retain(|number| pending.contains(*number));
            }
            for (number, pending) in &silent {
                match pending.stage {
                    Stage::Asking => Self::unask(&mut state, *number),
                    _ => Self::tell(&state, &crate::withdraw::cancellation(*number, "it took too long")),
                }
            }
            (late, waited, silent, gone)
        };
        if late.is_empty() && silent.is_empty() && gone.is_empty() {
            return;
        }
        self.refuse(gone, &self.closing());
        self.refuse(late, &waited);
        if silent.iter().any(|(_, pending)| matches!(pending.stage, Stage::Sent(_))) {
            self.with_instance(Instance::suspect);
        }
        let (endless, silent): (Vec<_>, Vec<_>) =
            silent.into_iter().partition(|(_, pending)| now.duration_since(pending.began) > timeouts.call);
        self.refuse(endless, &Fault::timed_out(server, "no answer", timeouts.call));
        self.refuse(silent, &Fault::timed_out(server, "neither an answer nor progress", timeouts.inactivity));
        self.ended_call();
    }

    /// A process that was there for one call goes with it.
    pub(crate) fn ended_call(&self) {
        // What Kennel itself has asked does not keep it.
        if self.sharing == Sharing::OneCall && !self.state().pending.has_clients() {
            self.core.retire(&self.name);
        }
    }
}
