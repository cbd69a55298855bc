//! What the supervisor tells an exchange about its process.

use crate::catalog::List;
use crate::exchange::{Delivery, Exchange, Sharing, State};
use crate::fault::Fault;
use crate::pending::{Number, Pending, Stage};
use crate::skipped::request_of;
use kennel_supervisor::{
    End, Failure, FeedError, Generation, Handshake, Instance, LifecycleEvent, Link, Next, Noise, Receiver, StopReason,
};
use kennel_wire::{ErrorCode, Id, Kind, Message, RawJson, notification};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::sync::Arc;
use tokio::time::Instant;

impl Receiver for Exchange {
    fn ready(&self, link: &Link) {
        let tools_changed = self.catalog.opened(&link.handshake);
        let repeatable = self.catalog.offer().repeatable_tools();
        let mut state = self.state();
        let is_first = !state.has_been_ready;
        state.link = Some(link.clone());
        state.has_been_ready = true;
        state.ended = None;
        state.repeatable = repeatable;
        self.restore(&mut state);
        let refused = Self::flush(&mut state, link);
        let openers = std::mem::take(&mut state.openers);
        if self.sharing != Sharing::OneCall {
            let lists = [List::Prompts, List::Resources, List::Templates];
            for list in lists.into_iter().filter(|list| offers(&link.handshake, *list)) {
                self.survey(&mut state, list);
            }
        }
        let news = if tools_changed { Self::list_changed(&state, List::Tools) } else { Vec::new() };
        drop(state);
        for opener in openers {
            let _ = opener.send(Ok(Arc::clone(&link.handshake)));
        }
        self.post(news);
        self.refuse(
            refused,
            &Fault::saturated("bytes on the way to the server", self.core.settings.limits.message_bytes),
        );
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
                let limit = self.core.supervision.line_bytes;
                (request_of(head, tail), Fault::too_large(&self.core.settings.name, *length, limit))
            }
            Noise::NotAMessage { reason, .. } => {
                let text = format!("{} gave an answer that is not a message: {reason}", self.core.settings.name);
                (reason.id().and_then(Id::as_integer), Fault::refused(ErrorCode::INTERNAL_ERROR, text))
            }
        };
        if let Some(number) = number {
            let taken = self.state().pending.answered(number, generation);
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
            state.link = None;
            state.level = None;
            let sent = |pending: &Pending| matches!(pending.stage, Stage::Sent(sent) if sent == generation);
            let mut lost = Vec::new();
            let mut again = Vec::new();
            for (number, mut pending) in state.pending.take(sent) {
                match pending.again.take() {
                    // Once more and no further, for the request may be what the process dies of.
                    Some(line) if *end != End::Stopped(StopReason::Shutdown) && state.ended.is_none() => {
                        pending.stage = Stage::Waiting(line);
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
            let news = state.backward.of(generation).into_iter().map(|(number, question)| {
                let params = json!({ "requestId": number, "reason": "the server has ended" }).to_string();
                let params = RawJson::parse(params).unwrap_or_else(|_| RawJson::empty_object());
                Delivery::notification(&question.mailbox, notification("notifications/cancelled", &params))
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
        let (taken, openers) = {
            let mut state = self.state();
            match next {
                // Whoever waits for a restart has a process that was there before; at a first start nobody knows.
                Next::RetryIn(_) if state.has_been_ready => return,
                Next::RetryIn(_) => {}
                Next::Parked | Next::Never => state.ended = Some(fault.clone()),
            }
            state.waiting.clear();
            let waiting = |pending: &Pending| matches!(pending.stage, Stage::Waiting(_));
            (state.pending.take(waiting), std::mem::take(&mut state.openers))
        };
        for opener in openers {
            let _ = opener.send(Err(fault.clone()));
        }
        self.refuse(taken, &fault);
        self.ended_call();
    }

    fn event(&self, event: &LifecycleEvent) {
        self.core.observer.lifecycle(&self.name, event);
    }
}

impl Exchange {
    /// Sends what has waited for the process, and returns what it does not take.
    fn flush(state: &mut State, link: &Link) -> Vec<(Number, Pending)> {
        for line in std::mem::take(&mut state.waiting_notifications) {
            let _ = link.input.send(line);
        }
        let mut refused = Vec::new();
        for number in std::mem::take(&mut state.waiting) {
            let Some(pending) = state.pending.get_mut(number) else { continue };
            if let Stage::Waiting(line) = std::mem::replace(&mut pending.stage, Stage::Sent(link.generation)) {
                pending.began = Instant::now();
                pending.heard = pending.began;
                if link.input.send(line) == Err(FeedError::Full) {
                    refused.extend(state.pending.remove(number).map(|pending| (number, pending)));
                }
            }
        }
        refused
    }

    /// Ends what has taken too long.
    pub(crate) fn sweep(&self, now: Instant) {
        let timeouts = &self.core.settings.timeouts;
        let server = &self.core.settings.name;
        let (late, silent) = {
            let mut state = self.state();
            let late = state.pending.take(|pending| {
                matches!(pending.stage, Stage::Waiting(_)) && now.duration_since(pending.began) > timeouts.start
            });
            let silent = state.pending.take(|pending| {
                matches!(pending.stage, Stage::Sent(_))
                    && (now.duration_since(pending.heard) > timeouts.inactivity
                        || now.duration_since(pending.began) > timeouts.call)
            });
            state.waiting.retain(|number| !late.iter().any(|(gone, _)| gone == number));
            for (number, _) in &silent {
                Self::tell(&state, &crate::forward::cancellation(*number, "it took too long"));
            }
            (late, silent)
        };
        if late.is_empty() && silent.is_empty() {
            return;
        }
        self.refuse(late, &Fault::not_ready(server, timeouts.start));
        if !silent.is_empty() {
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

/// Whether a server says that it has such a list.
fn offers(handshake: &Handshake, list: List) -> bool {
    #[derive(Deserialize)]
    struct Result {
        #[serde(default)]
        capabilities: Capabilities,
    }
    #[derive(Deserialize, Default)]
    struct Capabilities {
        tools: Option<IgnoredAny>,
        prompts: Option<IgnoredAny>,
        resources: Option<IgnoredAny>,
    }
    let Ok(Result { capabilities }) = serde_json::from_slice(handshake.result.as_bytes()) else { return false };
    match list {
        List::Tools => capabilities.tools.is_some(),
        List::Prompts => capabilities.prompts.is_some(),
        List::Resources | List::Templates => capabilities.resources.is_some(),
    }
}
