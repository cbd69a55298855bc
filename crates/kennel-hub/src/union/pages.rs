//! The lists of all servers, page by page.

use crate::catalog::List;
use crate::client::Introduction;
use crate::dialect::{self, Subject};
use crate::fault::Fault;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::sync::lock;
use crate::union::member::Member;
use crate::union::search::listed;
use crate::union::{Core, Members, Surface, Union};
use bytes::Bytes;
use kennel_wire::{Era, ErrorCode, Id, Message, RawJson, ValueKind, success_response};
use std::ops::Bound;
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// What a page has at most. Many clients read only the first one, so it is large.
const PAGE_ITEMS: usize = 2000;
const PAGE_BYTES: usize = 8 << 20;

const CURSOR: &[&str] = &["params", "cursor"];

/// Where a page begins: with which item of which server. A server that has gone meanwhile is passed over.
#[derive(Debug, PartialEq, Eq, Default)]
struct Place {
    server: String,
    item: usize,
}

impl Place {
    fn read(cursor: &str) -> Option<Self> {
        let (item, server) = cursor.split_once(':')?;
        Some(Self { server: server.to_owned(), item: item.parse().ok()? })
    }

    fn cursor(&self) -> String {
        format!("{}:{}", self.item, self.server)
    }
}

/// A cursor as it is written again after it was read, and the same once more.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn cursor_again(text: &str) -> Option<(String, String)> {
    let cursor = Place::read(text)?.cursor();
    let again = Place::read(&cursor)?.cursor();
    Some((cursor, again))
}

impl Union {
    /// Answers a request for a page, when what there is to know is known.
    pub(crate) fn page(
        &self,
        era: Era,
        introduction: &Introduction,
        list: List,
        request: &Message,
        id: Id,
        mailbox: &Arc<Mailbox>,
    ) {
        let answer = |mailbox: &Mailbox, message: Bytes| {
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        };
        let from = match (request.text_at(CURSOR), request.field(CURSOR)) {
            (Ok(Some(cursor)), _) => Place::read(&cursor),
            (Ok(None), _) => Some(Place::default()),
            // Clients that cannot leave a member out write `null`.
            (Err(_), Ok(Some(other))) if other.kind() == ValueKind::Null => Some(Place::default()),
            (Err(_), _) => None,
        };
        let Some(from) = from else {
            let fault = Fault::refused(ErrorCode::INVALID_PARAMS, "this cursor is none of this list");
            return answer(mailbox, fault.response(&id));
        };
        if list == List::Tools && self.surface() == Surface::Search {
            return answer(mailbox, said(era, success_response(&id, &listed()), &id));
        }
        let members = self.members();
        let is_listed = |member: &Arc<Member>| member.is_listed(introduction, list);
        let unknown: Vec<_> = members.values().filter(|member| !is_listed(member)).cloned().collect();
        if unknown.is_empty() {
            return answer(mailbox, answered(era, &members, introduction, list, &from, &id));
        }
        let (core, mailbox, introduction) = (Arc::clone(&self.0), Arc::clone(mailbox), introduction.clone());
        self.0.runtime.spawn(async move {
            core.get_to_know(&unknown, &introduction, list).await;
            // What they are by now: the rules may have changed meanwhile.
            let members = Arc::clone(&lock(&core.members));
            answer(&mailbox, answered(era, &members, &introduction, list, &from, &id));
        });
    }
}

impl Core {
    /// Tries servers out of which nothing is known, and waits for that as long as a list may. One that was waited for in
    /// vain is tried on, but not waited for again: clients hear of it when it is there.
    pub(crate) async fn get_to_know(&self, members: &[Arc<Member>], introduction: &Introduction, list: List) {
        let deadline = Instant::now() + self.settings.patience;
        let known = members.iter().map(|member| async move {
            let mut changes = member.hub.core().book.changes();
            let listed = async { while !member.is_listed(introduction, list) && changes.changed().await.is_ok() {} };
            let trial = member.hub.learn(&self.settings.trials);
            let waiting = async {
                tokio::select! {
                    () = listed => {}
                    // One that cannot be started is not waited for any longer.
                    () = trial => {}
                }
            };
            if !member.is_late() && timeout_at(deadline, waiting).await.is_err() {
                member.came_late();
            }
        });
        futures_util::future::join_all(known).await;
    }
}

fn answered(era: Era, members: &Members, introduction: &Introduction, list: List, from: &Place, id: &Id) -> Bytes {
    said(era, success_response(id, &joined(members, introduction, list, from)), id)
}

/// The answer to a request for a list in the words of an era.
fn said(era: Era, answer: Bytes, id: &Id) -> Bytes {
    match era {
        Era::Legacy => answer,
        Era::Modern => {
            let modern = Message::parse(answer.clone());
            let modern = modern.ok().and_then(|answer| dialect::new_answer(&answer, id, Subject::List, None).ok());
            modern.unwrap_or(answer)
        }
    }
}

/// One page, from this place on.
fn joined(members: &Members, introduction: &Introduction, list: List, from: &Place) -> RawJson {
    let mut page = format!("{{\"{}\":[", member_of(list)).into_bytes();
    let start = page.len();
    let mut count = 0;
    for (server, member) in members.range::<str, _>((Bound::Included(from.server.as_str()), Bound::Unbounded)) {
        let Some(shelf) = member.shelf(introduction) else { continue };
        let first = if **server == *from.server { from.item } else { 0 };
        for (index, item) in shelf.items(list).iter().enumerate().skip(first) {
            if count > 0 && (count >= PAGE_ITEMS || page.len() + item.as_bytes().len() > PAGE_BYTES) {
                let next = Place { server: server.to_string(), item: index };
                page.extend_from_slice(b"],\"nextCursor\":");
                page.extend_from_slice(RawJson::string(&next.cursor()).as_bytes());
                page.push(b'}');
                return RawJson::parse(page).unwrap_or_else(|_| RawJson::empty_object());
            }
            if page.len() > start {
                page.push(b',');
            }
            page.extend_from_slice(item.as_bytes());
            count += 1;
        }
    }
    page.extend_from_slice(b"]}");
    RawJson::parse(page).unwrap_or_else(|_| RawJson::empty_object())
}

fn member_of(list: List) -> &'static str {
    match list {
        List::Tools => "tools",
        List::Prompts => "prompts",
        List::Resources => "resources",
        List::Templates => "resourceTemplates",
    }
}
