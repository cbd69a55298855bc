//! Owns what a variable or a header is set to: text, or a reference to where a secret is kept.

use crate::template::Template;

/// What a variable or a header is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Text with `${NAME}` in it.
    Text(Template),
    /// Kennel's own variable of that name.
    FromEnv(String),
    /// What a file holds, without its last line end.
    FromFile(Template),
    /// What a program prints, without its last line end.
    FromCommand(Vec<String>),
    /// What the keyring of the desktop holds for an account of a service.
    FromKeyring {
        /// The attribute `service`.
        service: String,
        /// The attribute `username`.
        account: String,
    },
    /// Such a secret with text before it: `Bearer …`.
    Prefixed {
        /// The text.
        prefix: String,
        /// The secret.
        secret: Box<Value>,
    },
}

impl Value {
    /// Whether this only says where a secret is, and is none itself.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        !matches!(self, Self::Text(_))
    }

    /// The program, with its arguments, that is run outside of boxes to get the value.
    pub(crate) fn program(&self) -> &[String] {
        match self {
            Self::FromCommand(words) => words,
            Self::Prefixed { secret, .. } => secret.program(),
            Self::Text(_) | Self::FromEnv(_) | Self::FromFile(_) | Self::FromKeyring { .. } => &[],
        }
    }

    /// `service/account`: the account has no slash in it, the service may.
    pub(crate) fn keyring(text: &str) -> Option<Self> {
        let (service, account) = text.rsplit_once('/')?;
        let there = !service.is_empty() && !account.is_empty();
        there.then(|| Self::FromKeyring { service: service.to_owned(), account: account.to_owned() })
    }
}
