//! Owns the placeholders in texts: what each client writes for a variable, a question or a file, and the same in Kennel.

use std::fmt;
use std::fmt::Write;

/// A text as a server will see it once its placeholders are filled.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<Part>);

/// A piece of a text.
#[derive(Clone, PartialEq, Eq)]
pub enum Part {
    /// Letters that stand for themselves.
    Literal(String),
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: String,
        /// What stands there if it is not set.
        default: Option<String>,
    },
    /// What VS Code asks its user for, by the question's id.
    Input(String),
    /// What a file holds.
    File(String),
    /// A placeholder that only the client itself can fill, as it is spelled.
    Foreign(String),
}

/// How placeholders are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// There are none; every text stands for itself.
    Plain,
    /// `${NAME}` and `${NAME:-default}`: Claude Code and files of no client in particular; `${env:NAME}` is understood too.
    Braces,
    /// `$NAME`, `${NAME}` and `${NAME:-default}`: Gemini CLI.
    Dollar,
    /// `${env:NAME}`, `${file:PATH}`, `${input:ID}` and the editor's own words: VS Code, Cursor, Windsurf.
    Editor,
    /// `{env:NAME}` and `{file:PATH}`: `OpenCode`.
    OpenCode,
    /// `${NAME}` and `${NAME:-default}`, with `$${` for a `${` that stands for itself: Kennel.
    Kennel,
}

/// What the words of editors stand for where a file is.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// The folder that the editor calls the workspace.
    pub workspace: Option<String>,
    /// Where the plugin is, for files of Claude Code's plugins.
    pub plugin: Option<String>,
    /// The directory of the client's file, from which paths in it start.
    pub directory: Option<String>,
}

impl Words {
    /// A path that a file names, from wherever it is seen.
    fn path(&self, path: &str) -> String {
        match &self.directory {
            Some(directory) if !path.starts_with(['/', '~', '$', '{']) => {
                format!("{directory}/{}", path.trim_start_matches("./"))
            }
            _ => path.to_owned(),
        }
    }
}

// A text may be a secret: only its placeholders are shown.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.masked())
    }
}

impl From<&str> for Text {
    fn from(literal: &str) -> Self {
        Self(if literal.is_empty() { Vec::new() } else { vec![Part::Literal(literal.to_owned())] })
    }
}

impl From<String> for Text {
    fn from(literal: String) -> Self {
        Self::from(literal.as_str())
    }
}

impl Part {
    /// The variable that stands in Kennel for what only a client can fill: `GITHUB_TOKEN` for the question `github-token`.
    #[must_use]
    pub fn stand_in(&self) -> Option<String> {
        match self {
            Self::Input(id) => Some(variable_like(id)),
            Self::File(path) => Some(variable_like(&format!("FILE{path}"))),
            Self::Foreign(word) => Some(variable_like(word.trim_matches(['$', '{', '}']))),
            Self::Literal(_) | Self::Variable { .. } => None,
        }
    }
}

impl Text {
    /// The text, if it has no placeholders.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// A text of one variable and nothing else.
    pub fn variable(name: impl Into<String>) -> Self {
        Self(vec![Part::Variable { name: name.into(), default: None }])
    }

    /// The name of the variable, if the text is one without a default and nothing else.
    #[must_use]
    pub fn as_variable(&self) -> Option<&str> {
        if let [Part::Variable { name, default: None }] = self.0.as_slice() { Some(name) } else { None }
    }

    /// The placeholders as Kennel spells them, and dots for all that stands for itself.
    #[must_use]
    pub fn masked(&self) -> String {
        let hidden = self.0.iter().map(|part| match part {
            Part::Literal(_) => Part::Literal("…".to_owned()),
            other => other.clone(),
        });
        Self(hidden.collect()).spelled(Spelling::Kennel).unwrap_or_else(|unsayable| unsayable.0)
    }

    fn push(&mut self, letters: &str) {
        match self.0.last_mut() {
            Some(Part::Literal(text)) => text.push_str(letters),
            _ if letters.is_empty() => {}
            _ => self.0.push(Part::Literal(letters.to_owned())),
        }
    }

    /// Understands a text as it is spelled in a file.
    #[must_use]
    pub fn parse(text: &str, spelling: Spelling, words: &Words) -> Self {
        let mut parsed = Self::default();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{']) {
            let (before, here) = rest.split_at(at);
            parsed.push(before);
            let (length, part) = placeholder(here, spelling, words).unwrap_or((1, None));
            match part {
                Some(Part::Literal(letters)) => parsed.push(&letters),
                Some(part) => parsed.0.push(part),
                None => parsed.push(&here[..length]),
            }
            rest = &here[length..];
        }
        parsed.push(rest);
        parsed
    }

    /// The text as a file of that spelling has it.
    pub fn spelled(&self, spelling: Spelling) -> Result<String, Unsayable> {
        let mut text = String::new();
        for part in &self.0 {
            spell(part, spelling, &mut text)?;
        }
        // Letters that would be read as a placeholder cannot be said where there is no escape.
        let again = Self::parse(&text, spelling, &Words::default());
        let meant = if spelling == Spelling::Kennel { self.in_kennel() } else { self.clone() };
        if again == meant { Ok(text) } else { Err(Unsayable(self.placeholders())) }
    }

    /// The same with only what Kennel has: questions, files and words of editors become variables that somebody sets.
    #[must_use]
    pub fn in_kennel(&self) -> Self {
        Self(
            self.0
                .iter()
                .map(|part| match part {
                    Part::Literal(_) | Part::Variable { .. } => part.clone(),
                    Part::Input(_) | Part::File(_) | Part::Foreign(_) => {
                        Part::Variable { name: part.stand_in().unwrap_or_default(), default: None }
                    }
                })
                .collect(),
        )
    }

    /// The placeholders, for messages.
    fn placeholders(&self) -> String {
        let mut names = String::new();
        for part in &self.0 {
            if !matches!(part, Part::Literal(_)) {
                // Kennel can spell all of them.
                let _ = spell(part, Spelling::Kennel, &mut names);
            }
        }
        if names.is_empty() { "a text with `$` or `{`".to_owned() } else { names }
    }
}

/// A placeholder that a client cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsayable(pub(crate) String);

/// How long the placeholder at the beginning of a text is, and what it stands for: nothing else than itself if `None`.
fn placeholder(text: &str, spelling: Spelling, words: &Words) -> Option<(usize, Option<Part>)> {
    let inner = |opening: &str| {
        let body = text.strip_prefix(opening)?;
        let end = body.find('}')?;
        Some((opening.len() + end + 1, &body[..end]))
    };
    match spelling {
        Spelling::Plain => None,
        Spelling::OpenCode => {
            let (length, word) = inner("{")?;
            let part = match word.split_once(':')? {
                ("env", name) => Part::Variable { name: name.trim().to_owned(), default: None },
                ("file", path) => Part::File(words.path(path.trim())),
                _ => return None,
            };
            Some((length, Some(part)))
        }
        Spelling::Editor => {
            let (length, word) = inner("${")?;
            Some((length, editor_word(word, words).or_else(|| Some(Part::Foreign(text[..length].to_owned())))))
        }
        Spelling::Kennel if text.starts_with("$${") => Some((3, Some(Part::Literal("${".to_owned())))),
        Spelling::Kennel => {
            let (length, word) = inner("${")?;
            let part = variable(word.strip_prefix("env:").unwrap_or(word), &Words::default());
            Some((length, part.or_else(|| Some(Part::Foreign(text[..length].to_owned())))))
        }
        Spelling::Braces | Spelling::Dollar => {
            if let Some((length, word)) = inner("${") {
                return Some((length, variable(word.strip_prefix("env:").unwrap_or(word), words)));
            }
            let name = text.strip_prefix('$').filter(|_| spelling == Spelling::Dollar)?;
            let end = name.find(|letter: char| !is_name_letter(letter)).unwrap_or(name.len());
            Some((end + 1, variable(&name[..end], words)))
        }
    }
}

fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.starts_with(|letter: char| letter.is_ascii_digit()) && word.chars().all(is_name_letter)
}

fn variable(word: &str, words: &Words) -> Option<Part> {
    let (name, default) = match word.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (word, None),
    };
    if !is_name(name) {
        return None;
    }
    let known = match name {
        "CLAUDE_PLUGIN_ROOT" => words.plugin.clone(),
        "CLAUDE_PROJECT_DIR" => words.workspace.clone(),
        _ => None,
    };
    Some(known.map_or_else(|| Part::Variable { name: name.to_owned(), default }, Part::Literal))
}

fn editor_word(word: &str, words: &Words) -> Option<Part> {
    let workspace = words.workspace.as_deref();
    match (word, word.split_once(':')) {
        (_, Some(("env", name))) if !name.is_empty() => Some(Part::Variable { name: name.to_owned(), default: None }),
        (_, Some(("input", id))) if !id.is_empty() => Some(Part::Input(id.to_owned())),
        (_, Some(("file", path))) if !path.is_empty() => Some(Part::File(words.path(path))),
        ("userHome", _) => Some(Part::Variable { name: "HOME".to_owned(), default: None }),
        ("workspaceFolder" | "workspaceRoot" | "cwd", _) => workspace.map(|folder| Part::Literal(folder.to_owned())),
        ("workspaceFolderBasename", _) => {
            let name = workspace?.rsplit(['/', '\\']).next()?;
            Some(Part::Literal(name.to_owned()))
        }
        ("pathSeparator" | "/", _) => Some(Part::Literal("/".to_owned())),
        _ => None,
    }
}

fn spell(part: &Part, spelling: Spelling, text: &mut String) -> Result<(), Unsayable> {
    let unsayable = || Err(Unsayable(Text(vec![part.clone()]).placeholders()));
    let written = match (part, spelling) {
        (Part::Literal(letters), Spelling::Kennel) => write!(text, "{}", letters.replace("${", "$${")),
        (Part::Literal(letters), _) => write!(text, "{letters}"),
        (Part::Variable { name, default: None }, Spelling::OpenCode) => write!(text, "{{env:{name}}}"),
        (Part::Variable { name, default: None }, Spelling::Editor) => write!(text, "${{env:{name}}}"),
        (Part::Variable { .. }, Spelling::OpenCode | Spelling::Editor | Spelling::Plain) => return unsayable(),
        (Part::Variable { name, default: None }, _) => write!(text, "${{{name}}}"),
        (Part::Variable { name, default: Some(default) }, _) => write!(text, "${{{name}:-{default}}}"),
        (Part::Input(id), Spelling::Editor) => write!(text, "${{input:{id}}}"),
        (Part::Input(_) | Part::File(_) | Part::Foreign(_), Spelling::Kennel) => {
            write!(text, "${{{}}}", part.stand_in().unwrap_or_default())
        }
        (Part::File(path), Spelling::Editor) => write!(text, "${{file:{path}}}"),
        (Part::File(path), Spelling::OpenCode) => write!(text, "{{file:{path}}}"),
        (Part::Foreign(word), Spelling::Editor) => write!(text, "{word}"),
        (Part::Input(_) | Part::File(_) | Part::Foreign(_), _) => return unsayable(),
    };
    // Writing to a string cannot fail.
    written.or(Ok(()))
}

/// The variable for a word that is none: `GITHUB_TOKEN` for `github-token`.
fn variable_like(word: &str) -> String {
    let letters = word.chars().map(|letter| if is_name_letter(letter) { letter.to_ascii_uppercase() } else { '_' });
    let name: String = letters.collect();
    if is_name(&name) { name } else { format!("INPUT_{name}") }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
