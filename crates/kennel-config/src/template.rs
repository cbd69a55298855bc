//! Owns text with variables in it: `${NAME}`, `${NAME:-default}`, and `$${` for a literal `${`.

use std::fmt;

/// Text in which variables are replaced when it is used. The text may be secret and is in no output.
#[derive(Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Literal(String),
    Variable {
        name: String,
        /// What counts where the variable is not set or empty.
        default: Option<String>,
    },
    /// `${…}` that some other program understands.
    Foreign(String),
}

impl Template {
    /// Takes text apart. What looks like a placeholder and is none of Kennel's is kept, and fails when it is used.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, placeholder) = rest.split_at(at);
            if let Some(escaped) = before.strip_suffix('$') {
                literal.push_str(escaped);
                literal.push_str("${");
                rest = &placeholder[2..];
                continue;
            }
            literal.push_str(before);
            let Some(end) = placeholder.find('}') else {
                rest = placeholder;
                break;
            };
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::of(&placeholder[2..end]));
            rest = &placeholder[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Self { parts }
    }

    /// The text, if it has no variables in it.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The text as somebody would write it. It may be secret.
    #[must_use]
    pub fn written(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Literal(text) => text.replace("${", "$${"),
            Part::Variable { name, default: None } => format!("${{{name}}}"),
            Part::Variable { name, default: Some(default) } => format!("${{{name}:-{default}}}"),
            Part::Foreign(text) => format!("${{{text}}}"),
        });
        parts.collect()
    }

    /// The names of the variables in it.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(name.as_str()),
            Part::Literal(_) | Part::Foreign(_) => None,
        })
    }

    /// The first placeholder that is not one of Kennel's, without its braces.
    pub(crate) fn foreign(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match part {
            Part::Foreign(text) => Some(text.as_str()),
            Part::Literal(_) | Part::Variable { .. } => None,
        })
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl Part {
    fn of(inside: &str) -> Self {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inside, None),
        };
        // Some clients say where a variable is from, and there is only one place for Kennel.
        let name = name.strip_prefix("env:").unwrap_or(name);
        if is_variable(name) {
            Self::Variable { name: name.to_owned(), default }
        } else {
            Self::Foreign(inside.to_owned())
        }
    }
}

/// Whether this can be the name of a variable: letters, digits and `_`, and no digit first.
pub(crate) fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The variables, and how much other text there is.
impl fmt::Debug for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Template(")?;
        for part in &self.parts {
            match part {
                Part::Literal(_) => formatter.write_str("…")?,
                Part::Variable { name, .. } => write!(formatter, "${{{name}}}")?,
                Part::Foreign(_) => formatter.write_str("${…}")?,
            }
        }
        formatter.write_str(")")
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
