//! Finds secrets in texts by their values, however they are spelled, and takes them out.

use crate::cutting::CUT;
use crate::decoding::View;
use crate::spellings::spellings;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::borrow::Cow;
use std::fmt;

/// What stands where a secret was.
pub const MARKER: &str = "[redacted]";
/// The shortest beginning of a secret that is taken out where a text was cut.
const SHORTEST_HEAD: usize = 4;
/// How many cuts of one text are looked at.
const MOST_CUTS: usize = 64;

/// Knows what may not be shown. Made anew when that changes; cheap to use.
#[derive(Default)]
pub struct Redactor {
    /// What is looked for, in order.
    patterns: Vec<Vec<u8>>,
    longest: usize,
    automaton: Option<AhoCorasick>,
}

impl Redactor {
    /// A redactor of these values. Those that are too short to be secrets are left out.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut patterns: Vec<Vec<u8>> = secrets.into_iter().flat_map(spellings).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let longest = patterns.iter().map(Vec::len).max().unwrap_or(0);
        // Fails only beyond 2^31 states, which no environment can hold.
        let automaton = (!patterns.is_empty())
            .then(|| AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(&patterns).ok())
            .flatten();
        Self { patterns, longest, automaton }
    }

    /// Whether it looks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a text holds a secret.
    #[must_use]
    pub fn finds_in(&self, text: &str) -> bool {
        !self.spans(text).is_empty()
    }

    /// The text without secrets, and without the beginning of one where it was cut ([`CUT`]).
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let spans = self.spans(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut shown, mut last) = (String::with_capacity(text.len()), 0);
        for (start, end) in spans {
            shown.push_str(text.get(last..start).unwrap_or_default());
            shown.push_str(MARKER);
            last = end;
        }
        shown.push_str(text.get(last..).unwrap_or_default());
        Cow::Owned(shown)
    }

    /// Where the text has to be replaced: in order, and apart from each other.
    fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let mut found = Vec::new();
        for view in View::all(text) {
            // Secrets may overlap, and each has to go as a whole.
            let matches = automaton.find_overlapping_iter(&*view.bytes);
            found.extend(matches.map(|secret| view.span(secret.start(), secret.end())));
            for (start, end) in self.heads(&view.bytes) {
                found.push(view.span(start, end));
            }
        }
        found.sort_unstable();
        let mut apart: Vec<(usize, usize)> = Vec::with_capacity(found.len());
        for (start, end) in found {
            // An escape that was undone to several bytes is replaced as a whole.
            let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
            match apart.last_mut() {
                Some(before) if start <= before.1 => before.1 = before.1.max(end),
                _ => apart.push((start, end)),
            }
        }
        apart
    }

    /// The beginnings of secrets before cuts.
    fn heads(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let mut mark = [0; 4];
        let mark = CUT.encode_utf8(&mut mark).as_bytes();
        let cuts = text.windows(mark.len()).enumerate().filter(|(_, window)| *window == mark).map(|(cut, _)| cut);
        let head = |cut: usize| {
            let first = cut.saturating_sub(self.longest);
            let start = (first..=cut.checked_sub(SHORTEST_HEAD)?).find(|start| self.begins(text.get(*start..cut)))?;
            Some((start, cut))
        };
        cuts.take(MOST_CUTS).filter_map(head).collect()
    }

    /// Whether something that is looked for begins so.
    fn begins(&self, head: Option<&[u8]>) -> bool {
        let Some(head) = head else { return false };
        let index = self.patterns.partition_point(|pattern| pattern.as_slice() < head);
        self.patterns.get(index).is_some_and(|pattern| pattern.starts_with(head))
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").field("patterns", &self.patterns.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "redactor_tests.rs"]
mod tests;
