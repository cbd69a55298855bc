//! The values that must not be seen outside of the box that downloads: found in settings, taken out of texts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kennel_redact::{Redactor, SHORTEST};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Parts of the names of settings whose values are secret.
const SECRET_NAMES: [&str; 8] = ["auth", "key", "otp", "passw", "secret", "token", "username", "credential"];
/// Settings that sound so and are none.
const HARMLESS_NAMES: [&str; 4] = ["always-auth", "keyring", "auth-type", "key-provider"];
/// Values that are secret under no name.
const HARMLESS_VALUES: [&str; 6] = ["disabled", "false", "none", "null", "true", "web"];

/// Secret values, and what takes them out of texts.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    values: Vec<String>,
    /// Made when it is first needed.
    redactor: OnceLock<Arc<Redactor>>,
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for Secrets {}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.values.len())
    }
}

/// Whether a setting of this name holds a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    SECRET_NAMES.iter().any(|part| name.contains(part))
        && !HARMLESS_NAMES.iter().any(|harmless| name.contains(harmless))
}

impl Secrets {
    /// Notes what is secret about a setting: all of its value if the name says so, else what its addresses hold.
    pub(crate) fn note(&mut self, name: &str, value: &str) {
        if is_secret_name(name) {
            self.add(value);
        }
        for (at, _) in value.match_indices("://") {
            let authority = value[at + 3..].split(['/', '?', '#', ' ', '"', '\'', ',']).next().unwrap_or_default();
            let Some((user, _)) = authority.rsplit_once('@') else { continue };
            self.add(user);
            match user.split_once(':') {
                Some((_, password)) => self.add(password),
                None => self.add(user),
            }
        }
    }

    /// Adds a value, and the same in other spellings that tools use.
    fn add(&mut self, value: &str) {
        let value = value.trim_matches(['"', '\'', ' ']);
        if is_harmless(value) {
            return;
        }
        self.push(value.to_owned());
        self.push(STANDARD.encode(value));
        if let Some(plain) = percent_decoded(value) {
            self.push(STANDARD.encode(&plain));
            self.push(plain);
        }
        if let Some(plain) = STANDARD.decode(value).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
            if let Some((_, password)) = plain.split_once(':') {
                self.push(password.to_owned());
            }
            self.push(plain);
        }
    }

    fn push(&mut self, value: String) {
        if !is_harmless(&value) && !self.values.contains(&value) {
            self.values.push(value);
            self.redactor = OnceLock::new();
        }
    }

    /// Whether a text holds a secret.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.redactor().finds_in(text)
    }

    /// The text without them.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.redactor().redact(text).into_owned()
    }

    fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| Arc::new(Redactor::new(self.values.iter().map(String::as_str))))
    }
}

fn is_harmless(value: &str) -> bool {
    value.len() < SHORTEST || HARMLESS_VALUES.contains(&value.to_ascii_lowercase().as_str())
}

fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
