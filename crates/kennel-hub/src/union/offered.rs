//! What a session can use of many servers, server by server: for whoever shows it in another form than a list.

use crate::catalog::List;
use crate::union::UnionSession;
use crate::union::member::Member;
use crate::union::shelf::Shelf;
use kennel_wire::RawJson;
use std::fmt;
use std::sync::Arc;

/// One server and its tools.
#[derive(Clone)]
pub struct OfferedServer {
    /// Its name.
    pub name: Arc<str>,
    /// What it is for.
    pub description: Option<String>,
    /// Nothing where it could not be asked.
    shelf: Option<Arc<Shelf>>,
}

/// One tool.
#[derive(Debug, Clone, Copy)]
pub struct OfferedTool<'a> {
    /// Its name without that of its server.
    pub name: &'a str,
    /// The name by which it is called.
    pub called: &'a str,
    /// As it is listed.
    pub definition: &'a RawJson,
}

impl OfferedServer {
    /// Whether it is known what it offers.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.shelf.is_some()
    }

    /// Its tools, in its order.
    pub fn tools(&self) -> impl Iterator<Item = OfferedTool<'_>> {
        let shown = self.shelf.iter().flat_map(|shelf| shelf.shown_tools());
        shown.map(|(name, called, definition)| OfferedTool { name, called, definition })
    }

    /// Whether it is certain that another look found the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let same_tools = match (&self.shelf, &other.shelf) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_tools && self.name == other.name && self.description == other.description
    }
}

impl fmt::Debug for OfferedServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OfferedServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl UnionSession {
    /// All servers, in the order of their names. Those of which nothing is known are waited for, as a list does.
    pub async fn offered(&self) -> Vec<OfferedServer> {
        let (union, introduction) = (self.union(), self.introduction());
        let members = union.members();
        let is_unknown = |member: &&Arc<Member>| !member.is_listed(introduction, List::Tools);
        let unknown: Vec<_> = members.values().filter(is_unknown).cloned().collect();
        if !unknown.is_empty() {
            union.0.get_to_know(&unknown, introduction, List::Tools).await;
        }
        let offered = members.values().map(|member| OfferedServer {
            name: Arc::clone(&member.name),
            description: member.about(introduction),
            shelf: member.shelf(introduction),
        });
        offered.collect()
    }
}
