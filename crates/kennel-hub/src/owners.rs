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

/// Who owns what, by its id.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    owners: HashMap<String, Owner>,
    order: VecDeque<String>,
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
        if self.owners.insert(id.clone(), owner).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.owners.remove(&oldest);
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Owner> {
        self.owners.get(id)
    }

    /// Whether this is something of this client.
    pub(crate) fn is_of(&self, id: &str, client: &Client) -> bool {
        self.get(id).is_some_and(|owner| owner.principal == client.principal)
    }

    /// Ends the progress of a task.
    pub(crate) fn settle(&mut self, id: &str) {
        if let Some(owner) = self.owners.get_mut(id) {
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
        let owner = self.owners.values().find(|owner| progress(owner))?;
        Some((owner, owner.progress.as_ref()?))
    }
}

impl Owner {
    pub(crate) fn new(client: &Client) -> Self {
        Self { client: client.key, principal: client.principal.clone(), progress: None }
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
