//! Which names decide, and which other spellings a lenient reader takes for them.
//!
//! Readers differ in what they call the same name: Go's `encoding/json` ignores case (and so takes `ſ` for `s` and the
//! Kelvin sign for `k`), its successor can be told to ignore `_` and `-` as well, readers in C end a name at a NUL, others
//! drop what is not printed. A proxy that filters by `name` and passes `Name` on has filtered nothing. So what only one of
//! these readers would take for a name that decides is refused, in envelopes, parameters, results and their `_meta`.

use crate::text;

/// The objects whose members decide who a message is for and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Within {
    /// The message itself.
    Envelope,
    /// `params`
    Params,
    /// `result`
    Result,
    /// `_meta` of `params` or `result`
    Meta,
}

/// What a member's name is to the one who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// One that decides, by its place in the list of its object.
    Deciding(u8),
    /// Another spelling of one that decides.
    Lookalike(&'static str),
    /// Nothing.
    Free,
}

/// The longest name that decides; what is longer when folded is none of them.
const LONGEST: usize = 48;

/// Names that decide.
struct Names {
    all: &'static [&'static str],
    /// By the first letter of a name, which lengths names have that begin so, when folded.
    lengths: [u64; 26],
}

impl Names {
    const fn new(all: &'static [&'static str], slashes: Slashes) -> Self {
        let mut lengths = [0; 26];
        let mut index = 0;
        while index < all.len() {
            let name = all[index].as_bytes();
            let (mut length, mut at) = (0, 0);
            while at < name.len() {
                let is_ignored = match name[at] {
                    b'-' => true,
                    b'_' => at > 0,
                    b'/' => matches!(slashes, Slashes::Ignored),
                    _ => false,
                };
                if !is_ignored {
                    length += 1;
                }
                at += 1;
            }
            if name[0].is_ascii_lowercase() {
                lengths[(name[0] - b'a') as usize] |= 1 << length;
            }
            index += 1;
        }
        Self { all, lengths }
    }

    /// Whether it is plain to see that a name is no spelling of any of them.
    fn are_far_from(&self, name: &[u8]) -> bool {
        let first = name.first().copied().unwrap_or_default().to_ascii_lowercase();
        name.iter().all(u8::is_ascii_alphanumeric) && !self.may_have(first, name.len())
    }

    /// Whether one of them may begin so and have this length when folded.
    fn may_have(&self, first: u8, length: usize) -> bool {
        let lengths = first.checked_sub(b'a').and_then(|first| self.lengths.get(usize::from(first)));
        // What begins otherwise is looked at.
        length <= LONGEST && lengths.is_none_or(|lengths| lengths >> length & 1 == 1)
    }

    fn lookalike_of(&self, folded: &Folded) -> Option<&'static str> {
        if !self.may_have(folded.letters[0], folded.length) {
            return None;
        }
        self.all.iter().find(|known| folded.is(known)).copied()
    }
}

/// Says of each name in a list which place it has there. The compiler makes comparisons by length of it.
macro_rules! places {
    ($($list:ident, $place:ident, $slashes:ident: [$($name:literal),* $(,)?];)*) => { $(
        const $list: &Names = &Names::new(&[$($name),*], Slashes::$slashes);

        #[inline]
        fn $place(name: &[u8]) -> Option<u8> {
            let mut _place = 0_u8;
            $(
                if name == $name.as_bytes() {
                    return Some(_place);
                }
                _place += 1;
            )*
            None
        }
    )* };
}

places! {
    ENVELOPE, envelope, Count: ["jsonrpc", "id", "method", "params", "result", "error"];
    PARAMS, params, Count: [
        "name", "arguments", "_meta", "uri", "cursor", "level", "ref", "task", "taskId", "requestState", "inputResponses",
        "progressToken", "requestId", "notifications", "protocolVersion", "capabilities", "clientInfo", "elicitationId",
    ];
    RESULT, result, Count: [
        "content", "isError", "structuredContent", "_meta", "contents", "messages", "tools", "prompts", "resources",
        "resourceTemplates", "nextCursor", "task", "taskId", "tasks", "resultType", "requestState", "inputRequests",
        "protocolVersion", "capabilities", "serverInfo",
    ];
    META, meta, Count: [
        "progressToken", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/logLevel",
        "io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/subscriptionId",
        "io.modelcontextprotocol/related-task",
    ];
    // Every method of every revision, in both directions.
    METHODS, method, Ignored: [
        "tools/call", "tools/list", "initialize", "ping", "notifications/initialized", "notifications/progress",
        "notifications/cancelled", "notifications/message", "prompts/get", "prompts/list", "resources/list",
        "resources/read", "resources/templates/list", "resources/subscribe", "resources/unsubscribe", "logging/setLevel",
        "completion/complete", "tasks/get", "tasks/result", "tasks/update", "tasks/cancel", "tasks/list",
        "server/discover", "subscriptions/listen", "roots/list", "sampling/createMessage", "elicitation/create",
        "notifications/roots/list_changed", "notifications/tools/list_changed", "notifications/prompts/list_changed",
        "notifications/resources/list_changed", "notifications/resources/updated", "notifications/tasks/status",
        "notifications/elicitation/complete", "notifications/subscriptions/acknowledged",
    ];
}

impl Within {
    fn names(self) -> &'static Names {
        match self {
            Self::Envelope => ENVELOPE,
            Self::Params => PARAMS,
            Self::Result => RESULT,
            Self::Meta => META,
        }
    }

    #[inline]
    fn place(self, name: &[u8]) -> Option<u8> {
        match self {
            Self::Envelope => envelope(name),
            Self::Params => params(name),
            Self::Result => result(name),
            Self::Meta => meta(name),
        }
    }

    /// The place of a name that decides, with its quotes and spelled without escapes.
    #[inline]
    pub(crate) fn spelled(self, name: &[u8]) -> Option<u8> {
        // What has an escape is equal to nothing here.
        self.place(name.get(1..name.len().saturating_sub(1))?)
    }

    /// What a name is that is not spelled like any that decides; with its quotes, as it was scanned.
    #[cold]
    pub(crate) fn judge(self, name: &[u8]) -> Name {
        let content = name.get(1..name.len().saturating_sub(1)).unwrap_or_default();
        if self.names().are_far_from(content) {
            return Name::Free;
        }
        let decoded = text::decode_lossy(name);
        if let Some(place) = self.place(decoded.as_bytes()) {
            return Name::Deciding(place);
        }
        // Readers that end a name at a NUL read only what comes before it.
        let spellings = [Some(&*decoded), decoded.split_once('\0').map(|(before, _)| before)];
        let lookalike_of = |name| self.names().lookalike_of(&Folded::of(name, Slashes::Count));
        spellings.into_iter().flatten().find_map(lookalike_of).map_or(Name::Free, Name::Lookalike)
    }

    /// The place of `_meta`.
    #[inline]
    pub(crate) fn meta(self) -> Option<u8> {
        match self {
            Self::Params => Some(2),
            Self::Result => Some(3),
            Self::Envelope | Self::Meta => None,
        }
    }

    /// The name at a place of the list.
    pub(crate) fn name(self, place: u8) -> &'static str {
        self.names().all.get(usize::from(place)).copied().unwrap_or_default()
    }
}

/// Notes which names that decide have been there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen(u32);

impl Seen {
    /// Whether a name was there before.
    pub(crate) fn again(&mut self, place: u8) -> bool {
        let bit = 1 << place;
        let before = self.0 & bit != 0;
        self.0 |= bit;
        before
    }
}

/// What a method is to one who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodName {
    /// One of the protocol's.
    Known,
    /// Another spelling of one of the protocol's.
    Lookalike(&'static str),
    /// One that holds what no name has.
    Unprintable,
    /// One with a lone surrogate.
    NoText,
    /// Somebody's own.
    Other,
}

/// Judges a method, with its quotes.
#[inline]
pub(crate) fn judge_method(name: &[u8]) -> MethodName {
    match name.get(1..name.len().saturating_sub(1)).and_then(method) {
        Some(_) => MethodName::Known,
        None => judge_unknown_method(name),
    }
}

#[cold]
fn judge_unknown_method(name: &[u8]) -> MethodName {
    let Some(name) = text::decode(name) else { return MethodName::NoText };
    if method(name.as_bytes()).is_some() {
        return MethodName::Known;
    }
    match METHODS.lookalike_of(&Folded::of(&name, Slashes::Ignored)) {
        Some(known) => MethodName::Lookalike(known),
        None if name.chars().any(char::is_control) => MethodName::Unprintable,
        None => MethodName::Other,
    }
}

/// Whether the protocol has a method of this name, in any revision and either direction.
#[must_use]
pub fn is_method(name: &str) -> bool {
    method(name.as_bytes()).is_some()
}

/// Whether a lenient reader could take one name for the other though they are not the same.
#[must_use]
pub fn is_lookalike(name: &str, known: &str) -> bool {
    name != known && folded(name) == folded(known)
}

/// A name as the most lenient reader compares it: in lower case, without what is not printed, spaces, `_` and `-`. An
/// underscore at the beginning counts, for `meta` is another name than `_meta`.
#[must_use]
pub fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    fold(name, |letter| {
        folded.push(letter);
        true
    });
    folded
}

/// Whether slashes are part of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slashes {
    Count,
    /// Some look methods up as paths, for which slashes more or less are the same.
    Ignored,
}

/// A name as the most lenient reader compares it, as far as it can be one that decides.
struct Folded {
    letters: [u8; LONGEST],
    /// Beyond what there is room for where it can be none.
    length: usize,
    slashes: Slashes,
}

impl Folded {
    fn of(name: &str, slashes: Slashes) -> Self {
        let mut folded = Self { letters: [0; LONGEST], length: 0, slashes };
        fold(name, |letter| folded.push(letter));
        folded
    }

    /// Takes a letter; false if no name that decides has such a letter, or so many.
    fn push(&mut self, letter: char) -> bool {
        if self.skips(letter) {
            return true;
        }
        match (u8::try_from(letter), self.letters.get_mut(self.length)) {
            (Ok(byte), Some(place)) if byte.is_ascii() => {
                *place = byte;
                self.length += 1;
                true
            }
            _ => {
                self.length = usize::MAX;
                false
            }
        }
    }

    fn skips(&self, letter: char) -> bool {
        self.slashes == Slashes::Ignored && matches!(letter, '/' | '\\')
    }

    /// Whether a name that decides is this one when folded.
    fn is(&self, known: &str) -> bool {
        let Some(letters) = self.letters.get(..self.length) else { return false };
        let mut letters = letters.iter().copied().map(char::from);
        let mut same = true;
        fold(known, |letter| {
            same = self.skips(letter) || letters.next() == Some(letter);
            same
        });
        same && letters.next().is_none()
    }
}

/// Hands out the letters of a name as the most lenient reader compares them, until it is told to stop.
fn fold(name: &str, mut letter: impl FnMut(char) -> bool) {
    let mut begins = true;
    for character in name.chars() {
        let keeps = match character {
            '_' if begins => letter('_'),
            '_' | '-' => true,
            _ if is_hidden(character) => continue,
            'a'..='z' | '0'..='9' | '/' | '.' => letter(character),
            // Lower case has neither of the first two, and the others become ASCII only when folded.
            'ı' | 'İ' => letter('i'),
            'ſ' | 'ẛ' => letter('s'),
            '\u{212a}' => letter('k'),
            'ß' | 'ẞ' => letter('s') && letter('s'),
            'ﬀ' => letter('f') && letter('f'),
            'ﬁ' => letter('f') && letter('i'),
            'ﬂ' => letter('f') && letter('l'),
            'ﬃ' => letter('f') && letter('f') && letter('i'),
            'ﬄ' => letter('f') && letter('f') && letter('l'),
            'ﬅ' | 'ﬆ' => letter('s') && letter('t'),
            // Full-width letters.
            '\u{ff21}'..='\u{ff3a}' => letter(ascii(character, 0xff21)),
            '\u{ff41}'..='\u{ff5a}' => letter(ascii(character, 0xff41)),
            _ => character.to_lowercase().all(&mut letter),
        };
        begins = false;
        if !keeps {
            return;
        }
    }
}

/// The letter that stands as far from `a` as this one from `first`.
fn ascii(character: char, first: u32) -> char {
    char::from_u32(u32::from(character) - first + u32::from(b'a')).unwrap_or(character)
}

/// What a reader may drop: controls, spaces, what has no width, and what stands for something that could not be read.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || character.is_whitespace()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffd}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
