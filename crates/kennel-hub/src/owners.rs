//! Whose the things are that a process names by ids of its own and speaks of later: tasks and elicitations.

use crate::client::{Client, ClientKey};
use crate::exchange::State;
use crate::pending::Number;
use crate::principal::Principal;
use kennel_supervisor::Generation;
use kennel_wire::Id;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// How many are remembered; the oldest go first, and then they are nobody's.
const MOST: usize = 4096;
/// How many bytes their ids and progress tokens may have together; one that alone has more is nobody's.
const MOST_BYTES: usize = 1 << 20;

/// Who owns what, by its id.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    by_id: HashMap<String, Owner>,
    order: VecDeque<String>,
    /// How many bytes the ids and tokens have.
    bytes: usize,
}

/// Whose something is: the session's that it began in, and every session's of the same principal.
#[derive(Debug, Clone)]
pub(crate) struct Owner {
    pub(crate) client: ClientKey,
    pub(crate) principal: Principal,
    /// Where a task goes on to report progress after the answer to its request, as long as it does.
    pub(crate) progress: Option<Progress>,
}

/// The progress of a task: how the process calls it and how the client does.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub(crate) generation: Generation,
    pub(crate) number: Number,
    pub(crate) token: Id,
}

impl Owners {
    pub(crate) fn note(&mut self, id: String, owner: Owner) {
        self.bytes += id.len() + owner.token_bytes();
        match self.by_id.insert(id.clone(), owner) {
            Some(before) => self.bytes -= id.len() + before.token_bytes(),
            None => self.order.push_back(id),
        }
        while (self.order.len() > MOST || self.bytes > MOST_BYTES)
            && let Some(oldest) = self.order.pop_front()
        {
            let token = self.by_id.remove(&oldest).map_or(0, |owner| owner.token_bytes());
            self.bytes -= oldest.len() + token;
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Owner> {
        self.by_id.get(id)
    }

    /// Whether this is something of this client.
    pub(crate) fn is_of(&self, id: &str, client: &Client) -> bool {
        self.get(id).is_some_and(|owner| owner.principal == client.principal)
    }

    /// Ends the progress of a task.
    pub(crate) fn settle(&mut self, id: &str) {
        if let Some(owner) = self.by_id.get_mut(id) {
            self.bytes -= owner.token_bytes();
            owner.progress = None;
        }
    }

    /// The task that reports its progress so.
    pub(crate) fn reporting(&self, generation: Generation, number: Number) -> Option<(&Owner, &Progress)> {
        let progress = |owner: &'_ Owner| {
            owner
                .progress
                .as_ref()
                .is_some_and(|progress| (progress.generation, progress.number) == (generation, number))
        };
        let owner = self.by_id.values().find(|owner| progress(owner))?;
        Some((owner, owner.progress.as_ref()?))
    }
}

impl Owner {
    pub(crate) fn new(client: &Client) -> Self {
        Self { client: client.key, principal: client.principal.clone(), progress: None }
    }

    fn token_bytes(&self) -> usize {
        self.progress.as_ref().map_or(0, |progress| progress.token.spelling().len())
    }

    /// The sessions that hear of it: the one it began in, or if that has gone, all of its principal.
    pub(crate) fn sessions(&self, state: &State) -> Vec<Arc<Client>> {
        match state.members.get(&self.client) {
            Some(client) => vec![Arc::clone(client)],
            None => state.members.values().filter(|client| client.principal == self.principal).cloned().collect(),
        }
    }
}

#[cfg(test)]
#[path = "owners_tests.rs"]
mod tests;
