//! Which Python names servers, tools and arguments get, so that no two are the same and the way back is known.
//!
//! Only ASCII is kept: Python takes two spellings of other letters for one name.

use std::collections::{BTreeMap, HashMap, HashSet};

/// How many characters of a name are kept.
const LONGEST: usize = 64;

/// What Python reads as something else than a name. `match`, `type` and other soft keywords are names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// What `mcp_…` and `mcp.…` mean already.
const RESERVED_ALIASES: [&str; 3] = ["mcp", "runtime", "servers"];

/// What each of these servers is called in Python: in the order of the names, so that the same servers have the same
/// aliases whatever order they come in.
#[must_use]
pub fn aliases<'a>(servers: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let mut servers: Vec<&str> = servers.into_iter().collect();
    servers.sort_unstable();
    servers.dedup();
    let mut taken = Taken::default();
    let mut named = BTreeMap::new();
    for server in servers {
        named.insert(server, taken.unique(alias(server)));
    }
    named
}

/// The alias of a server that is alone.
fn alias(server: &str) -> String {
    let alias = identifier(&server.to_lowercase(), "server");
    if RESERVED_ALIASES.contains(&alias.as_str()) { alias + "_" } else { alias }
}

/// What each of these tools of one server is called in Python, in their order. A tool whose name is one in Python keeps
/// it, whatever the others are called.
pub(crate) fn tools<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    assign(&names.collect::<Vec<_>>(), |name| match identifier(name, "tool") {
        // What begins so is Python's own on every object.
        python if python.starts_with("__") => format!("tool{python}"),
        python => python,
    })
}

/// The same for the arguments of one tool.
pub(crate) fn arguments<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    assign(&names.collect::<Vec<_>>(), |name| identifier(name, "argument"))
}

/// Whether a text is a name in Python as it is.
pub(crate) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !KEYWORDS.contains(&text)
}

/// Whether Python reads a text as something else than a name.
pub(crate) fn is_keyword(text: &str) -> bool {
    KEYWORDS.contains(&text)
}

/// A text made a name; `nameless` if nothing of it is left.
fn identifier(text: &str, nameless: &str) -> String {
    let keep = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let mut name: String = text.chars().take(LONGEST).map(keep).collect();
    if name.chars().all(|letter| letter == '_') {
        nameless.clone_into(&mut name);
    }
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, '_');
    }
    if is_keyword(&name) {
        name.push('_');
    }
    name
}

/// What one of many things is called.
pub(crate) fn singular(name: &str) -> String {
    let stem = |ending: &str| name.strip_suffix(ending).filter(|stem| stem.len() > 1);
    if let Some(stem) = stem("ies") {
        return format!("{stem}y");
    }
    if ["sses", "ches", "shes", "xes"].iter().any(|ending| stem(ending).is_some()) {
        return name.strip_suffix("es").unwrap_or(name).to_owned();
    }
    match stem("s") {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => name.to_owned(),
    }
}

/// A name for a type: `order_item` becomes `OrderItem`.
pub(crate) fn class_name(name: &str) -> String {
    const MEANING_SOMETHING: [&str; 6] = ["Any", "Literal", "NotRequired", "TypedDict", "False", "True"];
    let mut class = String::new();
    let mut is_start = true;
    for letter in name.chars().take(LONGEST) {
        if !letter.is_ascii_alphanumeric() {
            is_start = true;
            continue;
        }
        class.push(if is_start { letter.to_ascii_uppercase() } else { letter });
        is_start = false;
    }
    if class.is_empty() {
        class.push_str("Object");
    }
    if class.starts_with(|first: char| first.is_ascii_digit()) {
        class.insert(0, '_');
    }
    if is_keyword(&class) || MEANING_SOMETHING.contains(&class.as_str()) {
        class.push('_');
    }
    class
}

/// Gives each a name of its own: first those whose names stay as they are, then the others in the order of the names.
fn assign(names: &[&str], rule: impl Fn(&str) -> String) -> Vec<String> {
    let mut order: Vec<(bool, &str, usize)> =
        names.iter().enumerate().map(|(place, name)| (rule(name) != **name, *name, place)).collect();
    order.sort_unstable();
    let mut taken = Taken::default();
    let mut given = vec![String::new(); names.len()];
    for (_, name, place) in order {
        if let Some(slot) = given.get_mut(place) {
            *slot = taken.unique(rule(name));
        }
    }
    given
}

/// The names that are given away.
#[derive(Default)]
pub(crate) struct Taken {
    names: HashSet<String>,
    /// The number to try next where a name was wanted again.
    next: HashMap<String, usize>,
}

impl Taken {
    /// Gives a name back.
    pub(crate) fn release(&mut self, name: &str) {
        self.names.remove(name);
        self.next.clear();
    }

    /// The name, or the first of `name_2`, `name_3` … that is free.
    pub(crate) fn unique(&mut self, name: String) -> String {
        if self.names.insert(name.clone()) {
            return name;
        }
        let next = self.next.entry(name.clone()).or_insert(2);
        loop {
            let numbered = format!("{name}_{next}");
            *next += 1;
            if self.names.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
