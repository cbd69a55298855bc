//! The key of this state: made once, kept with what it is for, and never told.

use crate::sessions::hexadecimal;
use hmac::{Hmac, KeyInit, Mac};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::Sha256;

/// What the key of the audit log is called in the file.
const AUDIT: &str = "audit";

/// Makes digests that only somebody with this state can make: equal arguments have equal ones, and nobody who sees them
/// can find the arguments by trying.
pub(crate) struct AuditKey(Hmac<Sha256>);

impl AuditKey {
    /// The key of a file; made now if it has none.
    pub(crate) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let known = || {
            let mut statement = connection.prepare("SELECT value FROM keys WHERE name = ?1")?;
            statement.query_row([AUDIT], |row| row.get::<_, [u8; 32]>(0)).optional()
        };
        let key = if let Some(key) = known()? {
            key
        } else {
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            // Of several Kennels the first makes it.
            connection.execute("INSERT OR IGNORE INTO keys (name, value) VALUES (?1, ?2)", params![AUDIT, key])?;
            known()?.unwrap_or(key)
        };
        let key = Hmac::new_from_slice(&key).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(Self(key))
    }

    /// The digest to keep for one that anybody can make.
    pub(crate) fn digest(&self, hash: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(hash.as_bytes());
        hexadecimal(&mac.finalize().into_bytes())
    }
}
