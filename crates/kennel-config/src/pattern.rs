//! Owns patterns for names of tools, and which tools are shown by which name.

use std::collections::BTreeMap;

/// A pattern for names: `*` stands for any letters, `?` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Every text is a pattern.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The pattern as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name fits; in at most as many steps as both have letters, multiplied.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut at, mut letter) = (0, 0);
        // Where the last star was, and how much of the name it stands for so far.
        let mut star: Option<(usize, usize)> = None;
        while letter < name.len() {
            match pattern.get(at) {
                Some(b'*') => {
                    star = Some((at, letter));
                    at += 1;
                }
                Some(b'?') => {
                    at += 1;
                    letter += 1;
                    // The rest of a character that has many bytes.
                    while name.get(letter).is_some_and(|byte| byte & 0xc0 == 0x80) {
                        letter += 1;
                    }
                }
                Some(byte) if *byte == name[letter] => {
                    at += 1;
                    letter += 1;
                }
                _ => match star.as_mut() {
                    Some((place, taken)) => {
                        *taken += 1;
                        at = *place + 1;
                        letter = *taken;
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|byte| *byte == b'*')
    }
}

/// Which tools are shown: of those that are allowed, all that are not denied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolFilter {
    /// Only these; all if there are none.
    pub allow: Vec<Pattern>,
    /// Not these.
    pub deny: Vec<Pattern>,
}

impl ToolFilter {
    /// Whether a tool that goes by these names is shown. Each pattern may mean any of them.
    #[must_use]
    pub fn shows(&self, names: &[&str]) -> bool {
        let fits = |patterns: &[Pattern]| patterns.iter().any(|pattern| names.iter().any(|name| pattern.matches(name)));
        (self.allow.is_empty() || fits(&self.allow)) && !fits(&self.deny)
    }
}

/// How the tools of a server are shown. All keys and patterns are the server's own names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolRules {
    /// Which are shown.
    pub filter: ToolFilter,
    /// Other names.
    pub rename: BTreeMap<String, String>,
    /// Other descriptions.
    pub descriptions: BTreeMap<String, String>,
}

impl ToolRules {
    /// The name under which a tool is shown, if it is.
    #[must_use]
    pub fn shown<'a>(&'a self, tool: &'a str) -> Option<&'a str> {
        let name = match self.rename.get(tool) {
            Some(name) => name,
            None if self.is_taken(tool) => return None,
            None => tool,
        };
        self.filter.shows(&[tool]).then_some(name)
    }

    /// The server's own name of the tool that is shown by this name, if one can be.
    #[must_use]
    pub fn original<'a>(&'a self, shown: &'a str) -> Option<&'a str> {
        let renamed = self.rename.iter().find(|(_, name)| *name == shown).map(|(tool, _)| tool.as_str());
        let tool = match renamed {
            Some(tool) => tool,
            None if self.rename.contains_key(shown) => return None,
            None => shown,
        };
        self.filter.shows(&[tool]).then_some(tool)
    }

    /// Whether another tool was given this name; a tool that has it by itself makes room.
    fn is_taken(&self, name: &str) -> bool {
        self.rename.iter().any(|(tool, shown)| shown == name && tool != name)
    }
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
