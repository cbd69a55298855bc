//! The requests that wait for an answer: each gets one, whoever brings it first.

use crate::sync::lock;
use kennel_wire::Id;
use std::collections::HashMap;
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// The requests that wait.
#[derive(Default)]
pub(crate) struct OpenRequests(Mutex<HashMap<Key, CancellationToken>>);

/// An id; servers without integers answer a `1` with `1.0`.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(i64),
    Other(Id),
}

impl From<&Id> for Key {
    fn from(id: &Id) -> Self {
        id.as_integer().map_or_else(|| Self::Other(id.clone()), Self::Number)
    }
}

impl OpenRequests {
    /// Notes a request and returns what is cancelled when nobody wants its answer any more; `None` if one with this id
    /// waits already.
    pub(crate) fn insert(&self, id: &Id) -> Option<CancellationToken> {
        let mut open = lock(&self.0);
        let key = Key::from(id);
        if open.contains_key(&key) {
            return None;
        }
        let token = CancellationToken::new();
        open.insert(key, token.clone());
        Some(token)
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        lock(&self.0).len()
    }

    pub(crate) fn contains(&self, id: &Id) -> bool {
        lock(&self.0).contains_key(&id.into())
    }

    /// Whether the answer to this request is still to be given; it is the caller's to give then, and nobody else's.
    pub(crate) fn take(&self, id: &Id) -> bool {
        lock(&self.0).remove(&id.into()).is_some()
    }

    /// The same, and what waits for the answer waits no more: nobody wants it, or it has come by another way.
    pub(crate) fn cancel(&self, id: &Id) -> bool {
        let token = lock(&self.0).remove(&id.into());
        token.inspect(CancellationToken::cancel).is_some()
    }
}
