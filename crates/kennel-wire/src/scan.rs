//! The scanner: whether bytes are JSON, and where the values lie, found in one walk without building anything.
//!
//! It checks the grammar of RFC 8259 strictly. UTF-8 is checked before the walk, by the standard library.
//! What it does not check, because no byte of a payload is ever interpreted: the size of numbers, and whether the
//! escapes of surrogates come in pairs.

use crate::error::{ParseError, Problem, Syntax};
use crate::skip::{Specials, after_whitespace};
use crate::value::{Span, Value, ValueKind};

/// The greatest depth that can be asked for. One bit for each level is kept, on the stack.
pub(crate) const DEPTH_CEILING: usize = 1024;
const WORDS: usize = DEPTH_CEILING / 64;

/// A place in bytes that are being scanned. A method that fails leaves it where it failed.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    nesting: Nesting,
    specials: Specials,
}

type Scan<T> = Result<T, ParseError>;

impl<'a> Scanner<'a> {
    /// A scanner at the beginning of `bytes`, for at most `depth` open arrays and objects.
    pub(crate) fn new(bytes: &'a [u8], depth: usize) -> Scan<Self> {
        if let Err(error) = std::str::from_utf8(bytes) {
            return Err(not_json(Syntax::NotUtf8, error.valid_up_to()));
        }
        if bytes.starts_with("\u{feff}".as_bytes()) {
            return Err(not_json(Syntax::ByteOrderMark, 0));
        }
        let limit = depth.min(DEPTH_CEILING);
        let nesting = Nesting { objects: [0; WORDS], depth: 0, limit };
        Ok(Self { bytes, at: 0, nesting, specials: Specials::default() })
    }

    /// The kind of the value that begins after whitespace, and where.
    pub(crate) fn upcoming(&mut self) -> Scan<(ValueKind, usize)> {
        self.skip_whitespace();
        let first = self.peek("a value")?;
        let kind = ValueKind::of(first).ok_or_else(|| self.unexpected("a value", first))?;
        Ok((kind, self.at))
    }

    /// Passes over the next value.
    pub(crate) fn value(&mut self) -> Scan<Value> {
        let (kind, start) = self.upcoming()?;
        let base = self.nesting.depth;
        self.enter_or_pass(kind)?;
        if self.nesting.depth > base {
            self.leave_to(base)?;
        }
        Ok(Value { kind, span: Span { start, end: self.at } })
    }

    /// Passes over the object that begins here; `member` gets each name with its quotes and has to pass over the value.
    pub(crate) fn members(&mut self, mut member: impl FnMut(&mut Self, Span) -> Scan<()>) -> Scan<Span> {
        let start = self.at;
        self.nesting.enter(ValueKind::Object, self.at)?;
        self.at += 1;
        self.skip_whitespace();
        if self.peek("a name or `}`")? != b'}' {
            loop {
                let name = self.name()?;
                member(self, name)?;
                self.skip_whitespace();
                match self.peek("`,` or `}`")? {
                    b',' => self.at += 1,
                    b'}' => break,
                    other => return Err(self.unexpected("`,` or `}`", other)),
                }
            }
        }
        self.at += 1;
        self.nesting.leave();
        Ok(Span { start, end: self.at })
    }

    /// Passes over the array that begins here; `element` has to pass over each of its elements.
    pub(crate) fn elements(&mut self, mut element: impl FnMut(&mut Self) -> Scan<()>) -> Scan<()> {
        self.nesting.enter(ValueKind::Array, self.at)?;
        self.at += 1;
        self.skip_whitespace();
        if self.peek("a value or `]`")? != b']' {
            loop {
                element(self)?;
                self.skip_whitespace();
                match self.peek("`,` or `]`")? {
                    b',' => self.at += 1,
                    b']' => break,
                    other => return Err(self.unexpected("`,` or `]`", other)),
                }
            }
        }
        self.at += 1;
        self.nesting.leave();
        Ok(())
    }

    /// Makes sure that only whitespace follows.
    pub(crate) fn end(&mut self) -> Scan<()> {
        self.skip_whitespace();
        match self.bytes.get(self.at) {
            Some(found) => Err(not_json(Syntax::TrailingBytes { found: *found }, self.at)),
            None => Ok(()),
        }
    }

    /// Passes over all that follows until no more than `base` arrays and objects are open. A loop and not recursion,
    /// so that no input can exhaust the stack.
    fn leave_to(&mut self, base: usize) -> Scan<()> {
        let mut opened = true;
        while self.nesting.depth > base {
            self.skip_whitespace();
            let in_object = self.nesting.in_object();
            let (closing, expected) = match (in_object, opened) {
                (true, true) => (b'}', "a name or `}`"),
                (true, false) => (b'}', "`,` or `}`"),
                (false, true) => (b']', "a value or `]`"),
                (false, false) => (b']', "`,` or `]`"),
            };
            let byte = self.peek(expected)?;
            if byte == closing {
                self.at += 1;
                self.nesting.leave();
                opened = false;
                continue;
            }
            if !opened {
                if byte != b',' {
                    return Err(self.unexpected(expected, byte));
                }
                self.at += 1;
            }
            if in_object {
                self.name()?;
            }
            let (kind, _) = self.upcoming()?;
            self.enter_or_pass(kind)?;
            opened = matches!(kind, ValueKind::Object | ValueKind::Array);
        }
        Ok(())
    }

    /// Passes over a scalar, or over the opening bracket of an array or object.
    fn enter_or_pass(&mut self, kind: ValueKind) -> Scan<()> {
        match kind {
            ValueKind::Object | ValueKind::Array => {
                self.nesting.enter(kind, self.at)?;
                self.at += 1;
                Ok(())
            }
            ValueKind::String => self.string().map(drop),
            ValueKind::Number => self.number(),
            ValueKind::Bool if self.bytes.get(self.at) == Some(&b't') => self.word(b"true", "`true`"),
            ValueKind::Bool => self.word(b"false", "`false`"),
            ValueKind::Null => self.word(b"null", "`null`"),
        }
    }

    /// Passes over a member's name and the colon.
    fn name(&mut self) -> Scan<Span> {
        self.skip_whitespace();
        let name = self.string()?;
        self.skip_whitespace();
        match self.peek("`:`")? {
            b':' => self.at += 1,
            other => return Err(self.unexpected("`:`", other)),
        }
        Ok(name)
    }

    fn string(&mut self) -> Scan<Span> {
        let start = self.at;
        match self.peek("a name")? {
            b'"' => self.at += 1,
            other => return Err(self.unexpected("a name", other)),
        }
        loop {
            self.at = self.specials.next(self.bytes, self.at);
            match self.peek("the end of a string")? {
                b'"' => break,
                b'\\' => self.escape()?,
                found => return Err(not_json(Syntax::ControlCharacter { found }, self.at)),
            }
        }
        self.at += 1;
        Ok(Span { start, end: self.at })
    }

    fn escape(&mut self) -> Scan<()> {
        self.at += 1;
        match self.peek("an escape")? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                self.at += 1;
                for _ in 0..4 {
                    let digit = self.peek("a hexadecimal digit")?;
                    if !digit.is_ascii_hexdigit() {
                        return Err(self.unexpected("a hexadecimal digit", digit));
                    }
                    self.at += 1;
                }
            }
            other => return Err(self.unexpected("an escape", other)),
        }
        Ok(())
    }

    fn number(&mut self) -> Scan<()> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.peek("a digit")? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Scan<()> {
        let first = self.peek("a digit")?;
        if !first.is_ascii_digit() {
            return Err(self.unexpected("a digit", first));
        }
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8], expected: &'static str) -> Scan<()> {
        for letter in word {
            let found = self.peek(expected)?;
            if found != *letter {
                return Err(self.unexpected(expected, found));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn skip_whitespace(&mut self) {
        self.at = after_whitespace(self.bytes, self.at);
    }

    fn peek(&self, expected: &'static str) -> Scan<u8> {
        let byte = self.bytes.get(self.at).copied();
        byte.ok_or_else(|| not_json(Syntax::UnexpectedEnd { expected }, self.at))
    }

    fn unexpected(&self, expected: &'static str, found: u8) -> ParseError {
        not_json(Syntax::Unexpected { expected, found }, self.at)
    }
}

/// Which of the open brackets are braces.
#[derive(Debug)]
struct Nesting {
    objects: [u64; WORDS],
    depth: usize,
    limit: usize,
}

impl Nesting {
    fn enter(&mut self, kind: ValueKind, at: usize) -> Scan<()> {
        let limit = self.limit;
        let word = self.objects.get_mut(self.depth / 64).filter(|_| self.depth < limit);
        let word = word.ok_or_else(|| not_json(Syntax::TooDeep { limit }, at))?;
        let bit = 1 << (self.depth % 64);
        if kind == ValueKind::Object {
            *word |= bit;
        } else {
            *word &= !bit;
        }
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn in_object(&self) -> bool {
        let level = self.depth.saturating_sub(1);
        self.objects.get(level / 64).is_some_and(|word| word >> (level % 64) & 1 == 1)
    }
}

fn not_json(syntax: Syntax, at: usize) -> ParseError {
    ParseError::new(Problem::NotJson(syntax), at)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
