//! Owns the borders of code mode: whose something is, and who may ask for it.
//!
//! The borders are the view, the user and the conversation. What is kept between calls (notebooks, output, saved tools)
//! is kept under an [`Owner`]; what is asked for by an id (cells and their output) under a [`Holder`].

use std::sync::Arc;

/// A user in one view of the servers. What one view may do, another one must not be able to do for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner {
    user: Arc<str>,
    view: Option<Arc<str>>,
}

impl Owner {
    /// A user in a view; without one, over all servers.
    #[must_use]
    pub fn new(user: &str, view: Option<&str>) -> Self {
        Self { user: user.into(), view: view.map(Into::into) }
    }

    /// The user.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The view; none for all servers.
    #[must_use]
    pub fn view(&self) -> Option<&str> {
        self.view.as_deref()
    }
}

/// Who has begun a cell and may ask for it: one conversation of its owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Holder {
    owner: Owner,
    conversation: Option<u64>,
}

impl Holder {
    /// A conversation with one client.
    #[must_use]
    pub fn conversation(owner: Owner, number: u64) -> Self {
        Self { owner, conversation: Some(number) }
    }

    /// Clients without sessions, which cannot be told apart: to them, ids that nobody can guess are what holds.
    #[must_use]
    pub fn stateless(owner: Owner) -> Self {
        Self { owner, conversation: None }
    }

    /// In whose name it acts.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Whether it is one client.
    #[must_use]
    pub fn is_one_client(&self) -> bool {
        self.conversation.is_some()
    }
}

/// 130 random bits as letters and digits, none of which looks like another.
pub(crate) fn unguessable(first: char) -> std::io::Result<String> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = [0; 26];
    getrandom::fill(&mut random).map_err(std::io::Error::from)?;
    let letter = |byte: &u8| char::from(LETTERS.get(usize::from(byte & 31)).copied().unwrap_or(b'a'));
    Ok(std::iter::once(first).chain(random.iter().map(letter)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_long_and_no_two_are_the_same() {
        let ids: std::collections::HashSet<String> = (0..1000).map(|_| unguessable('c').unwrap()).collect();
        assert_eq!(ids.len(), 1000);
        let is_id = |id: &String| id.len() == 27 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        assert!(ids.iter().all(is_id), "{ids:?}");
    }

    #[test]
    fn views_users_and_conversations_are_borders() {
        let owner = |user, view| Owner::new(user, view);
        assert_ne!(owner("ann", None), owner("ann", Some("v")));
        assert_ne!(owner("ann", Some("v")), owner("ann", Some("w")));
        assert_ne!(owner("ann", Some("v")), owner("bob", Some("v")));
        let of = |number| Holder::conversation(owner("ann", None), number);
        assert_ne!(of(1), of(2));
        assert_ne!(of(1), Holder::stateless(owner("ann", None)));
    }
}
