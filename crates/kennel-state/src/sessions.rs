//! Sessions of clients, to go on with after a restart: the rows of sessions, under digests of their ids.

use crate::time::{ago, from_millis, to_millis};
use bytes::Bytes;
use rusqlite::{Connection, Row, params};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
use std::time::{Duration, SystemTime};

/// The SHA-256 of a session's id. The id itself is a secret and is never written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey([u8; 32]);

impl SessionKey {
    /// The key of a session by its id.
    #[must_use]
    pub fn of(id: &str) -> Self {
        Self(Sha256::digest(id.as_bytes()).into())
    }
}

/// As hexadecimal digits.
impl fmt::Display for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hexadecimal(&self.0))
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SessionKey({})", hexadecimal(self.0.get(..4).unwrap_or_default()))
    }
}

impl rusqlite::ToSql for SessionKey {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl rusqlite::types::FromSql for SessionKey {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        <[u8; 32]>::column_result(value).map(Self)
    }
}

/// What must be known of a session to go on with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The endpoint that it was opened at.
    pub endpoint: String,
    /// Whose it is.
    pub principal: String,
    /// The parameters with which the client introduced itself.
    pub introduction: Bytes,
    /// The protocol version that was agreed on.
    pub version: String,
    /// The log level that the client asked for.
    pub log_level: Option<String>,
    /// The resources that it subscribed to.
    pub subscriptions: Vec<String>,
    /// When it was opened.
    pub opened: SystemTime,
    /// When it was last used.
    pub used: SystemTime,
}

pub(crate) fn put(connection: &Connection, key: SessionKey, session: &Session) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "INSERT OR REPLACE INTO sessions
         (session, endpoint, principal, introduction, version, log_level, subscriptions, opened, used)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let subscriptions = serde_json::to_string(&session.subscriptions).unwrap_or_else(|_| "[]".to_owned());
    statement.execute(params![
        key,
        session.endpoint,
        session.principal,
        &*session.introduction,
        session.version,
        session.log_level,
        subscriptions,
        to_millis(session.opened),
        to_millis(session.used)
    ])?;
    Ok(())
}

/// Notes a use, unless a later one is known.
pub(crate) fn touch(connection: &Connection, key: SessionKey, used: SystemTime) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("UPDATE sessions SET used = max(used, ?2) WHERE session = ?1")?;
    statement.execute(params![key, to_millis(used)])?;
    Ok(())
}

pub(crate) fn remove(connection: &Connection, key: SessionKey) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM sessions WHERE session = ?1", [key])?;
    Ok(())
}

const COLUMNS: &str = "session, endpoint, principal, introduction, version, log_level, subscriptions, opened, used";

pub(crate) fn get(connection: &Connection, key: SessionKey) -> rusqlite::Result<Option<Session>> {
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM sessions WHERE session = ?1"))?;
    let mut rows = statement.query_map([key], read)?;
    Ok(rows.next().transpose()?.map(|(_, session)| session))
}

/// All sessions of an endpoint, or of all, the last used first.
pub(crate) fn all(
    connection: &Connection,
    endpoint: Option<&str>,
    most: u32,
) -> rusqlite::Result<Vec<(SessionKey, Session)>> {
    let mut statement = connection.prepare(&format!(
        "SELECT {COLUMNS} FROM sessions WHERE ?1 IS NULL OR endpoint = ?1 ORDER BY used DESC LIMIT ?2"
    ))?;
    statement.query_map(params![endpoint, most], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<(SessionKey, Session)> {
    let session = Session {
        endpoint: row.get(1)?,
        principal: row.get(2)?,
        introduction: row.get::<_, Vec<u8>>(3)?.into(),
        version: row.get(4)?,
        log_level: row.get(5)?,
        // Only `put` writes it.
        subscriptions: serde_json::from_str(&row.get::<_, String>(6)?).unwrap_or_default(),
        opened: from_millis(row.get(7)?),
        used: from_millis(row.get(8)?),
    };
    Ok((row.get(0)?, session))
}

/// Removes the sessions that were last used before this moment, and says how many.
pub(crate) fn expire(connection: &Connection, before: SystemTime) -> rusqlite::Result<usize> {
    connection.execute("DELETE FROM sessions WHERE used < ?1", [to_millis(before)])
}

/// Removes some of the sessions that nobody has used for so long, and says how many.
pub(crate) fn expire_some(connection: &Connection, age: Duration, most: u32) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM sessions WHERE session IN (SELECT session FROM sessions WHERE used < ?1 LIMIT ?2)",
        params![ago(age), most],
    )
}

/// Bytes as digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
