//! All notebooks, by whose they are and by name.

use super::{CellHandle, Notebook, Parts, RunError, check};
use crate::cell::CellRequest;
use crate::engine::CodeEngine;
use crate::owner::{Holder, Owner};
use crate::results::Results;
use crate::settings::Settings;
use crate::sync::lock;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio_util::task::TaskTracker;

/// What a registry is made of.
pub struct RegistryParts {
    /// Where interpreters come from.
    pub engine: Arc<dyn CodeEngine>,
    /// Where output is kept that is too long to be shown.
    pub results: Arc<Results>,
}

/// All notebooks. Dropping it ends them.
pub struct Registry {
    parts: Parts,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    notebooks: HashMap<Key, Notebook>,
    /// Those that were closed to make room, so that their next cell says so. Oldest first.
    made_room: VecDeque<Key>,
    closed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    owner: Owner,
    name: Arc<str>,
}

impl Key {
    fn new(owner: &Owner, name: &str) -> Self {
        Self { owner: owner.clone(), name: name.into() }
    }
}

impl Registry {
    /// Has no notebook yet.
    #[must_use]
    pub fn new(parts: RegistryParts, settings: Settings) -> Self {
        let RegistryParts { engine, results } = parts;
        let parts = Parts { engine, results, settings: Arc::new(settings), tasks: TaskTracker::new() };
        Self { parts, state: Mutex::default() }
    }

    /// Runs a cell in a notebook of the holder's owner, which is made if there is none of that name. Must be called
    /// within a tokio runtime.
    pub fn run(&self, holder: &Holder, name: &str, request: CellRequest) -> Result<CellHandle, RunError> {
        check(&request, &self.parts.settings.notebook)?;
        let (length, limit) = (name.len(), self.parts.settings.registry.name_bytes);
        if length > limit {
            return Err(RunError::NameTooLong { length, limit });
        }
        let key = Key::new(holder.owner(), name);
        let mut state = lock(&self.state);
        if state.closed {
            return Err(RunError::Closed);
        }
        if let Some(notebook) = state.notebooks.get(&key) {
            return notebook.run(holder, request);
        }
        state.make_room(&key, &self.parts.settings)?;
        let before = state.made_room.len();
        state.made_room.retain(|gone| *gone != key);
        let lost = (state.made_room.len() < before).then(|| "closed to make room for other notebooks".to_owned());
        let notebook = Notebook::new(&self.parts, &key.name, lost);
        let handle = notebook.run(holder, request)?;
        state.notebooks.insert(key, notebook);
        Ok(handle)
    }

    /// A cell that this holder has begun, by its id, if it is one of the last of its notebook.
    #[must_use]
    pub fn cell(&self, holder: &Holder, id: &str) -> Option<CellHandle> {
        let state = lock(&self.state);
        let own = state.notebooks.iter().filter(|(key, _)| key.owner == *holder.owner());
        own.map(|(_, notebook)| notebook).find_map(|notebook| notebook.cell(holder, id))
    }

    /// Ends a notebook and waits until its interpreter is gone. Returns whether there was one.
    pub async fn end(&self, owner: &Owner, name: &str) -> bool {
        let notebook = {
            let key = Key::new(owner, name);
            let mut state = lock(&self.state);
            state.made_room.retain(|gone| *gone != key);
            state.notebooks.remove(&key)
        };
        match notebook {
            Some(notebook) => {
                notebook.end().await;
                true
            }
            None => false,
        }
    }

    /// Ends all notebooks and waits until their interpreters are gone. No cell is taken any more.
    pub async fn shutdown(&self) {
        {
            let mut state = lock(&self.state);
            state.closed = true;
            state.notebooks.clear();
        }
        self.parts.tasks.close();
        self.parts.tasks.wait().await;
    }

    /// How many notebooks there are, and how many of them have an interpreter.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let state = lock(&self.state);
        (state.notebooks.len(), state.notebooks.values().filter(|notebook| notebook.is_live()).count())
    }
}

impl State {
    /// Closes the notebook that has been idle longest, where there is no room for another one; first among those to
    /// which nobody has come back after their first cell.
    fn make_room(&mut self, key: &Key, settings: &Settings) -> Result<(), RunError> {
        let limits = &settings.registry;
        if self.notebooks.keys().filter(|other| other.owner == key.owner).count() >= limits.owner_notebooks {
            let limit = limits.owner_notebooks;
            self.close_one(|other| other.owner == key.owner, limits.remembered).ok_or(RunError::OwnerFull { limit })?;
        }
        if self.notebooks.len() >= limits.notebooks {
            let limit = limits.notebooks;
            self.close_one(|_| true, limits.remembered).ok_or(RunError::Full { limit })?;
        }
        Ok(())
    }

    fn close_one(&mut self, may: impl Fn(&Key) -> bool, remembered: usize) -> Option<()> {
        let idle = self.notebooks.iter().filter(|(key, _)| may(key));
        let idle = idle.filter_map(|(key, notebook)| Some(((notebook.is_resumed(), notebook.idle_since()?), key)));
        let key = idle.min_by_key(|(order, _)| *order).map(|(_, key)| key.clone())?;
        // Its task ends the interpreter.
        self.notebooks.remove(&key);
        self.made_room.push_back(key);
        while self.made_room.len() > remembered {
            self.made_room.pop_front();
        }
        Some(())
    }
}
