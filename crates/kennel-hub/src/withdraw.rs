//! What is no longer wanted: requests that clients cancel or leave behind, and clients that go.

use crate::client::Client;
use crate::exchange::{Exchange, Sharing, State, line};
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pending::{Asker, Number, Stage};
use bytes::Bytes;
use kennel_wire::{Id, Message, RawJson, notification};
use std::sync::Arc;

impl Exchange {
    /// A client no longer wants an answer: it gets none, and the process is told.
    pub(crate) fn cancelled(&self, client: &Arc<Client>, message: &Message) {
        let Ok(Some(id)) = message.cancelled_request() else { return };
        let number = self.state().pending.of_client(client.key, |asked, _| *asked == id);
        let Some(number) = number else { return };
        if let Ok(rewrite) = message.rewrite().cancelled_request(&Id::number(number)) {
            self.withdraw(client, number, rewrite.finish_line());
        }
    }

    /// A client has gone from a request without a word.
    pub(crate) fn call_off(&self, client: &Arc<Client>, id: &Id, mailbox: &Arc<Mailbox>) {
        let is_it = |asked: &Id, place: &Arc<Mailbox>| asked == id && Arc::ptr_eq(place, mailbox);
        if self.stop_listening(client, is_it) {
            return;
        }
        let number = self.state().pending.of_client(client.key, is_it);
        if let Some(number) = number {
            self.withdraw(client, number, line(&cancellation(number, "the client has gone")));
        }
    }

    /// Takes a request back, for which the process is told this line if it has it.
    fn withdraw(&self, client: &Arc<Client>, number: Number, told: Bytes) {
        let withdrawn = {
            let mut state = self.state();
            let Some(pending) = state.pending.remove(number) else { return };
            let mut lines = Vec::new();
            match pending.stage {
                Stage::Waiting(_) => state.waiting.retain(|waiting| *waiting != number),
                Stage::Sent(_) => {
                    lines = Self::unanswered(&mut state, &pending);
                    lines.push(told);
                }
                Stage::Parked(_) => lines = Self::given_up(&mut state, number, &pending),
                Stage::Asking => Self::unask(&mut state, number),
            }
            for line in lines {
                Self::tell_line(&state, line);
            }
            pending
        };
        self.work_ended(&withdrawn);
        self.go_on();
        client.dismiss();
        if let Asker::Client { mailbox, .. } = withdrawn.asker {
            mailbox.post(Outgoing { message: Bytes::new(), kind: OutgoingKind::Withdrawn });
        }
        self.ended_call();
    }

    /// Lets go of a session: what it asked is called off, what it was asked is refused.
    pub(crate) fn leave(&self, client: &Arc<Client>) {
        let taken = {
            let mut state = self.state();
            state.members.remove(&client.key);
            let mut taken = state.pending.take(
                |pending| matches!(&pending.asker, Asker::Client { client: asker, .. } if asker.key == client.key),
            );
            for (number, pending) in &mut taken {
                if let Some(entry) = &mut pending.entry {
                    entry.called_off();
                }
                match pending.stage {
                    // What it was asked is refused below.
                    Stage::Sent(_) => Self::tell(&state, &cancellation(*number, "the client has gone")),
                    Stage::Parked(_) => {
                        let lines = Self::given_up(&mut state, *number, pending);
                        for line in lines {
                            Self::tell_line(&state, line);
                        }
                    }
                    Stage::Waiting(_) | Stage::Asking => {}
                }
            }
            if taken.iter().any(|(_, pending)| matches!(pending.stage, Stage::Waiting(_))) {
                let State { waiting, pending, .. } = &mut *state;
                waiting.retain(|number| pending.contains(*number));
            }
            for refusal in state.backward.orphans(client.key) {
                if let Some(link) = &state.link {
                    let _ = link.input.send(line(&refusal));
                }
            }
            self.leave_listens(&mut state, client);
            if self.sharing == Sharing::Shared {
                self.tidy_after(&mut state, client);
            }
            taken
        };
        self.refuse(taken, &self.closing());
    }
}

/// What tells a process that an answer is no longer wanted.
pub(crate) fn cancellation(number: Number, reason: &str) -> Bytes {
    let params = serde_json::json!({ "requestId": number, "reason": reason }).to_string();
    let params = RawJson::parse(params).unwrap_or_else(|_| RawJson::empty_object());
    notification("notifications/cancelled", &params)
}
