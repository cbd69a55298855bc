//! The tools of many servers, server by server, and what is found among them.

use super::document::Document;
use super::query::concepts;
use super::ranking::scores;
use super::segment::Segment;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tools of many servers. Cheap to clone: the parts are shared.
#[derive(Debug, Clone, Default)]
pub struct Index {
    segments: BTreeMap<Arc<str>, Arc<Segment>>,
}

/// A tool that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit<'a> {
    /// The server that has it.
    pub server: &'a str,
    /// Its name, as it was indexed.
    pub name: &'a str,
    /// How well it fits; only worth comparing within one answer.
    pub score: f32,
}

impl Index {
    /// Indexes the tools of all servers.
    pub fn build<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        let mut servers: BTreeMap<Arc<str>, Vec<Document<'a>>> = BTreeMap::new();
        for document in documents {
            servers.entry(Arc::from(&*document.server)).or_default().push(document);
        }
        let segment = |(server, documents)| (server, Arc::new(Segment::new(documents)));
        Self { segments: servers.into_iter().map(segment).collect() }
    }

    /// Puts these tools in the place of those that a server had. They count as the server's, whatever they say.
    pub fn replace<'a>(&mut self, server: &str, documents: impl IntoIterator<Item = Document<'a>>) {
        let documents = documents.into_iter().map(|document| Document { server: server.to_owned().into(), ..document });
        let segment = Segment::new(documents);
        if segment.len() == 0 {
            self.remove(server);
        } else {
            self.segments.insert(server.into(), Arc::new(segment));
        }
    }

    /// Forgets a server's tools.
    pub fn remove(&mut self, server: &str) {
        self.segments.remove(server);
    }

    /// The index of some of the servers, which shares what it is made of with this one.
    #[must_use]
    pub fn only(&self, mut is_wanted: impl FnMut(&str) -> bool) -> Self {
        let wanted = self.segments.iter().filter(|(server, _)| is_wanted(server));
        Self { segments: wanted.map(|(server, segment)| (Arc::clone(server), Arc::clone(segment))).collect() }
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.values().map(|segment| segment.len()).sum()
    }

    /// How many bytes the parts take, those included that are shared with other indexes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.segments.iter().map(|(server, segment)| server.len() + segment.bytes()).sum()
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tools that fit a question best, at most so many, the best first and equal ones by name.
    #[must_use]
    pub fn search(&self, question: &str, limit: usize) -> Vec<Hit<'_>> {
        self.search_where(question, limit, |_, _| true)
    }

    /// The same among the tools that are wanted, by their server and name.
    #[must_use]
    pub fn search_where(
        &self,
        question: &str,
        limit: usize,
        mut is_wanted: impl FnMut(&str, &str) -> bool,
    ) -> Vec<Hit<'_>> {
        let parts: Vec<(&str, &Segment)> = self.segments.iter().map(|(server, part)| (&**server, &**part)).collect();
        let segments: Vec<&Segment> = parts.iter().map(|(_, segment)| *segment).collect();
        let scores = scores(&concepts(question, &segments), &segments);
        let mut hits = Vec::new();
        let mut scores = scores.iter();
        for (server, segment) in parts {
            for (document, score) in (0..segment.len()).zip(scores.by_ref()) {
                let name = segment.name(document);
                if *score > 0.0 && is_wanted(server, name) {
                    hits.push(Hit { server, name, score: *score });
                }
            }
        }
        if limit < hits.len() {
            hits.select_nth_unstable_by(limit, order);
            hits.truncate(limit);
        }
        hits.sort_unstable_by(order);
        hits
    }
}

/// The better one first, equal ones by name.
fn order(one: &Hit<'_>, other: &Hit<'_>) -> Ordering {
    other.score.total_cmp(&one.score).then_with(|| (one.name, one.server).cmp(&(other.name, other.server)))
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
