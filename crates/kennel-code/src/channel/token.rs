//! The tokens that say what a packet belongs to.

use std::fmt;

/// Sixteen random bytes: the name of a cell, or of an interpreter, on its channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token([u8; Token::BYTES]);

impl Token {
    /// The length of a token.
    pub const BYTES: usize = 16;

    /// A token that nobody can guess.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; Self::BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::from)?;
        Ok(Self(bytes))
    }

    /// The token itself.
    #[must_use]
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The token as 32 hexadecimal digits, as marks in the output carry it.
    #[must_use]
    pub fn hex(&self) -> String {
        use fmt::Write;
        self.0.iter().fold(String::with_capacity(2 * Self::BYTES), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl From<[u8; Token::BYTES]> for Token {
    fn from(bytes: [u8; Token::BYTES]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Token {
    /// Only the beginning: who knows a token can speak in its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:02x}{:02x}…)", self.0[0], self.0[1])
    }
}
