//! How packages are named: `name@1.2`, `@scope/name`, `name[extra]==1.2`, and what is no name of a registry's package.

use serde::{Deserialize, Serialize};

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ecosystem {
    /// npm's registry.
    Npm,
    /// The Python Package Index, or what the user's settings name instead.
    Python,
}

/// A package of a registry, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageSpec {
    /// Its name; for Python in the normal form of the index.
    pub name: String,
    /// The extras asked for, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extras: Vec<String>,
    /// The version, range or tag asked for, in the words of the ecosystem; empty for the latest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
}

const NOT_IN_A_REGISTRY: &str = "Kennel installs packages of a registry by their name; for a checkout or a file of your \
                                 own, run its program directly, for instance with `node` or `python`";

impl PackageSpec {
    /// Reads npm's way: `name`, `name@version`, `@scope/name@tag`.
    pub(crate) fn npm(text: &str) -> Result<Self, String> {
        refuse_places(text)?;
        let at = text.char_indices().skip(1).find(|(_, letter)| *letter == '@').map(|(at, _)| at);
        let (name, version) = at.map_or((text, ""), |at| (&text[..at], &text[at + 1..]));
        let parts = name.strip_prefix('@').map_or_else(|| vec![name], |scoped| scoped.splitn(2, '/').collect());
        let right_count = parts.len() == 1 + usize::from(name.starts_with('@'));
        let is_name = |part: &&str| {
            part.starts_with(|first: char| first.is_ascii_alphanumeric())
                && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._~".contains(letter))
        };
        if !right_count || !parts.iter().all(is_name) {
            return Err(format!("it is no name of an npm package; {NOT_IN_A_REGISTRY}"));
        }
        if version.contains([':', '/']) {
            return Err(format!("its version names a place or another package; {NOT_IN_A_REGISTRY}"));
        }
        if !version.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-+^~<>=|*_ ".contains(letter)) {
            return Err("its version is neither a version, a range nor a tag".to_owned());
        }
        let version = if version == "latest" { "" } else { version.trim() };
        Ok(Self { name: name.to_owned(), extras: Vec::new(), version: version.to_owned() })
    }

    /// Reads Python's way, and uv's `name@version`: `name`, `name[extra]==1.2`, `name>=1,<2`, `name@latest`.
    pub(crate) fn python(text: &str) -> Result<Self, String> {
        refuse_places(text)?;
        let end = text.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-._".contains(letter)));
        let (name, mut rest) = text.split_at(end.unwrap_or(text.len()));
        if !name.starts_with(|first: char| first.is_ascii_alphanumeric()) || name.ends_with(['-', '.', '_']) {
            return Err(format!("it is no name of a Python package; {NOT_IN_A_REGISTRY}"));
        }
        rest = rest.trim_start();
        let mut extras = Vec::new();
        if let Some(inner) = rest.strip_prefix('[') {
            let (inside, after) = inner.split_once(']').ok_or("its extras have no closing bracket")?;
            extras = inside.split(',').map(|extra| normal(extra.trim())).filter(|extra| !extra.is_empty()).collect();
            extras.sort();
            extras.dedup();
            rest = after.trim_start();
        }
        let plain = |text: &str, more: &str| {
            text.chars()
                .all(|letter| letter.is_ascii_alphanumeric() || ".-+*_!".contains(letter) || more.contains(letter))
        };
        if !extras.iter().all(|extra| plain(extra, "")) {
            return Err("its extras are no names".to_owned());
        }
        let version = match rest.strip_prefix('@').map(str::trim) {
            Some("latest") => String::new(),
            Some(version) if !version.is_empty() && plain(version, "") => format!("=={version}"),
            Some(_) => return Err(format!("it names a place; {NOT_IN_A_REGISTRY}")),
            None => rest.split_whitespace().collect(),
        };
        if rest.contains(';') {
            return Err("it has a condition; name the package without what follows `;`".to_owned());
        }
        let compares = |part: &str| ["==", ">=", "<=", "~=", "!=", "<", ">"].iter().any(|sign| part.starts_with(sign));
        if !plain(&version, "<>=~,") || !(version.is_empty() || version.split(',').all(compares)) {
            return Err("its version is no comparison such as `==1.2` or `>=1,<2`".to_owned());
        }
        Ok(Self { name: normal(name), extras, version })
    }

    /// The package in the words of its installer.
    #[must_use]
    pub fn to_text(&self, ecosystem: Ecosystem) -> String {
        match ecosystem {
            Ecosystem::Npm if self.version.is_empty() => self.name.clone(),
            Ecosystem::Npm => format!("{}@{}", self.name, self.version),
            Ecosystem::Python if self.extras.is_empty() => format!("{}{}", self.name, self.version),
            Ecosystem::Python => format!("{}[{}]{}", self.name, self.extras.join(","), self.version),
        }
    }

    /// The spec that asks for one version of this package.
    pub(crate) fn pinned(&self, ecosystem: Ecosystem, version: &str) -> Self {
        let version = match ecosystem {
            Ecosystem::Npm => version.to_owned(),
            Ecosystem::Python => format!("=={version}"),
        };
        Self { version, ..self.clone() }
    }
}

/// Refuses paths, archives, repositories and addresses.
fn refuse_places(text: &str) -> Result<(), String> {
    let lower = text.to_ascii_lowercase();
    let archive = [".whl", ".tgz", ".tar.gz", ".zip"].iter().any(|ending| lower.ends_with(ending));
    let kind = if lower.contains("git+") || lower.starts_with("git@") || lower.starts_with("github:") {
        "a git repository"
    } else if lower.contains("://") {
        "an address"
    } else if text.starts_with(['/', '.', '~']) || archive || text.contains('\\') {
        "a path"
    } else {
        return Ok(());
    };
    Err(format!("it is {kind}; {NOT_IN_A_REGISTRY}"))
}

/// The normal form of a Python name: lower case, with one `-` for each run of `-`, `_` and `.`.
pub(crate) fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            other => normal.push(other.to_ascii_lowercase()),
        }
    }
    normal
}
