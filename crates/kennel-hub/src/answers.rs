//! From the process: its answers, to clients and to Kennel itself.

use crate::catalog::{List, next_cursor};
use crate::client::Client;
use crate::dialect::{self, error_code};
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pending::{Asker, Number, Pending, Purpose};
use crate::pool::Core;
use crate::retries::is_question;
use crate::rounds::{input_required, request_mark};
use crate::seal::Errand;
use bytes::Bytes;
use kennel_supervisor::{Generation, Instance};
use kennel_wire::{Era, ErrorCode, Id, Message, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The most pages of a list that are kept.
const MOST_PAGES: usize = 256;

impl Exchange {
    /// Takes the answer of the process to a request.
    pub(crate) async fn answered(&self, generation: Generation, number: Number, message: &Message) {
        let pending = self.state().pending.answered(number, generation);
        let Some(mut pending) = pending else {
            if self.hold(generation, number, message) || self.stream_ended(generation, number, message) {
                return;
            }
            // Cancelled, timed out, or never asked.
            return self.core.counters.stray_answers.add();
        };
        let is_asking = pending.origin.is_some() && self.era() == Some(Era::Modern) && is_question(message);
        if is_asking {
            return self.inquire(generation, number, pending, message).await;
        }
        self.vacate(&mut pending);
        if let Some(entry) = &mut pending.entry {
            entry.answered(message);
        }
        if pending.rounds.is_some() {
            // The process has its answer without what it still asked.
            let _ = Self::unanswered(&mut self.state(), &pending);
        }
        self.with_instance(Instance::work_ended);
        let succeeded = message.result().is_some();
        match pending.asker {
            Asker::Kennel => self.learned(pending.purpose, message),
            Asker::Client { ref client, ref mailbox, ref id, ref token } => {
                let (client, mailbox, id) = (Arc::clone(client), Arc::clone(mailbox), id.clone());
                match &pending.purpose {
                    Purpose::Task => self.task_began(&client, generation, number, token.as_ref(), message),
                    Purpose::Tool if client.introduction.takes_tasks => self.became_task(&client, message),
                    Purpose::AboutTask(task) if succeeded => self.task_answered(task, message),
                    Purpose::Subscribe(uri) if succeeded => client.subscribe(uri),
                    Purpose::Unsubscribe(uri) if succeeded => self.unsubscribed(&client, uri),
                    Purpose::SetLevel { wanted, told } if succeeded => {
                        client.set_level(*wanted);
                        self.level_was_set(*told);
                    }
                    _ => {}
                }
                if client.is_modern() && pending.subject.may_ask() && self.era() == Some(Era::Modern) {
                    self.state_issued(&client, message);
                }
                if !succeeded {
                    self.elicitations_required(&client, message);
                }
                client.dismiss();
                let limit = self.core.settings.limits.result_bytes;
                match message.result() {
                    // What asks for more is no use in parts.
                    Some(result)
                        if pending.purpose == Purpose::Tool
                            && message.bytes().len() > limit
                            && !is_question(message) =>
                    {
                        // The process waits, but its end does not keep the client from its answer.
                        let _ = self.core.tasks.spawn(keep(Arc::clone(&self.core), client, result, id, mailbox)).await;
                    }
                    Some(_) | None => {
                        let message = self.passed_on(&client, &pending, message, &id);
                        mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
                    }
                }
                self.ended_call();
            }
        }
    }

    /// An answer as its client gets it.
    fn passed_on(&self, client: &Client, pending: &Pending, message: &Message, id: &Id) -> Bytes {
        let unchanged = || message.bytes().clone();
        // What was held is of a process of the old era, which may have gone by now.
        let era = self.era().or(pending.rounds.is_some().then_some(Era::Legacy));
        match (client.introduction.era, era) {
            (Era::Modern, Some(Era::Legacy)) => {
                if let Some(asked) = self.elicited_elsewhere(client, pending, message, id) {
                    return asked;
                }
                let server = self.state().server.clone();
                return dialect::new_answer(message, id, pending.subject, server.as_ref())
                    .unwrap_or_else(|_| unchanged());
            }
            (Era::Legacy, Some(Era::Modern)) => {
                return dialect::old_answer(message, id, pending.subject).unwrap_or_else(|_| unchanged());
            }
            _ => {}
        }
        if pending.purpose == Purpose::TaskList && message.result().is_some() {
            return self.own_tasks(client, message, id).unwrap_or_else(|| {
                let text = "the server's list of tasks cannot be read";
                Fault::refused(ErrorCode::INTERNAL_ERROR, text).response(id)
            });
        }
        message.with_id(id).unwrap_or_else(|_| unchanged())
    }

    /// The error of a process of the old era that the user has to open an address first, as the question that it is to a
    /// client without a session, which makes the request once more.
    fn elicited_elsewhere(&self, client: &Client, pending: &Pending, message: &Message, id: &Id) -> Option<Bytes> {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow)]
            elicitations: Vec<&'a RawValue>,
        }
        if error_code(message) != Some(ErrorCode::URL_ELICITATION_REQUIRED)
            || !client.introduction.capabilities.elicitation
        {
            return None;
        }
        let data = message.field(&["error", "data"]).ok()??;
        let data: Data<'_> = serde_json::from_slice(data.as_bytes()).ok()?;
        let method = RawJson::string("elicitation/create");
        let questions = data.elicitations.iter().enumerate().map(|(index, params)| {
            let params = RawJson::parse(params.get().to_owned()).ok()?;
            Some((format!("kennel-{index}"), RawJson::object([("method", &method), ("params", &params)])))
        });
        let questions: Vec<_> = questions.collect::<Option<_>>()?;
        let origin = &pending.origin.as_ref()?.message;
        let life = self.core.settings.timeouts.round;
        let state = self.core.ticket(Errand::Repeat, client, request_mark(origin), life)?;
        let asked = RawJson::object(questions.iter().map(|(name, question)| (name.as_str(), question)));
        Some(input_required(id, &asked, &state, self.state().server.as_ref()))
    }

    /// Takes an answer to a request of Kennel's own.
    fn learned(&self, purpose: Purpose, message: &Message) {
        let Purpose::Catalog(list, mut pages) = purpose else { return };
        let Some(page) = message.result() else {
            // It has none, whatever it says that it can do.
            self.catalog.listed(list, &[]);
            return self.surveyed(list);
        };
        let cursor = next_cursor(&page);
        pages.push(page);
        let bytes: usize = pages.iter().map(|page| page.as_bytes().len()).sum();
        match cursor {
            None => {
                let is_news = self.catalog.listed(list, &pages);
                let news = {
                    let mut state = self.state();
                    if list == List::Tools {
                        // Asked for because the process said that they had changed, so clients know.
                        state.repeatable = self.catalog.offer().repeatable_tools();
                        Vec::new()
                    } else if is_news {
                        Self::list_changed(&state, list)
                    } else {
                        Vec::new()
                    }
                };
                self.post(news);
                self.surveyed(list);
            }
            Some(cursor) if pages.len() < MOST_PAGES && bytes <= self.core.supervision.tool_bytes => {
                let params = format!("{{\"cursor\":{}}}", String::from_utf8_lossy(cursor.as_bytes()));
                let is_asked = RawJson::parse(params).is_ok_and(|params| {
                    let mut state = self.state();
                    self.ask_for_itself(&mut state, list.method(), &params, Purpose::Catalog(list, pages))
                });
                if !is_asked {
                    self.surveyed(list);
                }
            }
            // A list that does not end is not remembered.
            Some(_) => self.surveyed(list),
        }
    }
}

/// Answers with where a result is kept that is too large to pass.
async fn keep(core: Arc<Core>, client: Arc<Client>, result: RawJson, id: Id, mailbox: Arc<Mailbox>) {
    let message = match core.results.keep(&client, result, &id).await {
        Ok(answer) => {
            core.counters.kept_results.add();
            answer
        }
        Err(error) => {
            let limit = core.settings.limits.result_bytes;
            let text = format!("the result is larger than {limit} bytes and could not be kept: {error}");
            Fault::refused(ErrorCode::TOO_LARGE, text).response(&id)
        }
    };
    mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
}
