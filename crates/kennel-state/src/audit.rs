//! Who called what, when and with which outcome: the rows of the audit log.

use crate::keys::AuditKey;
use crate::sessions::{SessionKey, hexadecimal};
use crate::time::{ago, from_millis, to_millis};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, params};
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime};

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// When it was made.
    pub time: SystemTime,
    /// Who made it.
    pub principal: String,
    /// In which session, where there was one.
    pub session: Option<SessionKey>,
    /// Which server it was for.
    pub server: String,
    /// The method of the request.
    pub method: String,
    /// The tool, prompt or resource, where the method has one.
    pub tool: Option<String>,
    /// How long it took; kept to the microsecond.
    pub duration: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// The code of the error, where it ended with one.
    pub error_code: Option<i64>,
    /// The size of the request.
    pub request_bytes: u64,
    /// The size of the answer.
    pub response_bytes: u64,
    /// What it was called with.
    pub arguments: Arguments,
}

impl AuditRow {
    /// Cuts the name of what was called to at most so many bytes, at the end of a character.
    pub(crate) fn cut_name(&mut self, most: usize) {
        if let Some(name) = &mut self.tool
            && name.len() > most
        {
            name.truncate(name.floor_char_boundary(most));
            // What was cut off is not kept either.
            name.shrink_to_fit();
        }
    }

    /// How many bytes of names and arguments it has.
    pub(crate) fn bytes(&self) -> usize {
        self.tool.as_ref().map_or(0, String::len) + self.arguments.text.as_ref().map_or(0, String::len)
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// With a result.
    Succeeded,
    /// With a result in which the tool says that it failed.
    ToolFailed,
    /// With an error of the server.
    Failed,
    /// With an error of Kennel: it was not passed on.
    Refused,
    /// The client has cancelled it.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// The process died with it; nobody knows what it did.
    Lost,
}

impl Outcome {
    const ALL: [Self; 7] =
        [Self::Succeeded, Self::ToolFailed, Self::Failed, Self::Refused, Self::Cancelled, Self::TimedOut, Self::Lost];

    /// Its name in the file and in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::ToolFailed => "tool_failed",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Lost => "lost",
        }
    }

    /// The outcome of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

impl ToSql for Outcome {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for Outcome {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_name(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// What is kept of the arguments of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The SHA-256 of their spelling, in hexadecimal digits. In the file, and so in rows that were read, with the key of the
    /// state ([`crate::Store::digest`]).
    pub hash: Option<String>,
    /// Their text, where the operator wants that; cut where it is too long.
    pub text: Option<String>,
}

impl Arguments {
    /// Only by their hash.
    #[must_use]
    pub fn hashed(arguments: &[u8]) -> Self {
        Self { hash: Some(hexadecimal(&Sha256::digest(arguments))), text: None }
    }

    /// By their hash, and as text.
    #[must_use]
    pub fn in_full(arguments: &[u8]) -> Self {
        Self { text: Some(String::from_utf8_lossy(arguments).into_owned()), ..Self::hashed(arguments) }
    }

    /// Cuts the text to at most so many bytes, at the end of a character.
    pub(crate) fn cut(&mut self, most: usize) {
        if let Some(text) = &mut self.text
            && text.len() > most
        {
            text.truncate(text.floor_char_boundary(most));
            text.shrink_to_fit();
        }
    }
}

/// Which calls are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Of this principal.
    pub principal: Option<String>,
    /// In this session.
    pub session: Option<SessionKey>,
    /// For this server.
    pub server: Option<String>,
    /// With this method.
    pub method: Option<String>,
    /// Of this tool.
    pub tool: Option<String>,
    /// That ended so.
    pub outcome: Option<Outcome>,
    /// Made then or later.
    pub since: Option<SystemTime>,
    /// Made before.
    pub until: Option<SystemTime>,
}

/// Adds calls.
pub(crate) fn record<'a>(
    connection: &Connection,
    rows: impl IntoIterator<Item = &'a AuditRow>,
) -> rusqlite::Result<()> {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let key = AuditKey::of(connection)?;
    let mut statement = connection.prepare(
        "INSERT INTO audit (time, principal, session, server, method, tool, micros, outcome, error_code,
         request_bytes, response_bytes, arguments_hash, arguments)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for row in rows {
        statement.execute(params![
            to_millis(row.time),
            row.principal,
            row.session,
            row.server,
            row.method,
            row.tool,
            i64::try_from(row.duration.as_micros()).unwrap_or(i64::MAX),
            row.outcome,
            row.error_code,
            i64::try_from(row.request_bytes).unwrap_or(i64::MAX),
            i64::try_from(row.response_bytes).unwrap_or(i64::MAX),
            row.arguments.hash.as_deref().map(|hash| key.digest(hash)),
            row.arguments.text
        ])?;
    }
    Ok(())
}

/// The calls that are wanted, at most so many, the newest first.
pub(crate) fn query(connection: &Connection, filter: &AuditFilter, most: u32) -> rusqlite::Result<Vec<AuditRow>> {
    let mut text = "SELECT time, principal, session, server, method, tool, micros, outcome, error_code,
        request_bytes, response_bytes, arguments_hash, arguments FROM audit WHERE true"
        .to_owned();
    let (since, until) = (filter.since.map(to_millis), filter.until.map(to_millis));
    let wanted = [
        ("principal = ?", filter.principal.as_ref().map(|value| value as &dyn ToSql)),
        ("session = ?", filter.session.as_ref().map(|value| value as _)),
        ("server = ?", filter.server.as_ref().map(|value| value as _)),
        ("method = ?", filter.method.as_ref().map(|value| value as _)),
        ("tool = ?", filter.tool.as_ref().map(|value| value as _)),
        ("outcome = ?", filter.outcome.as_ref().map(|value| value as _)),
        ("time >= ?", since.as_ref().map(|value| value as _)),
        ("time < ?", until.as_ref().map(|value| value as _)),
    ];
    let mut values: Vec<&dyn ToSql> = Vec::new();
    for (condition, value) in wanted {
        // Only what is asked for stands in the text, so that an index can serve it.
        if let Some(value) = value {
            text.push_str(" AND ");
            text.push_str(condition);
            values.push(value);
        }
    }
    text.push_str(" ORDER BY time DESC, number DESC LIMIT ?");
    values.push(&most);
    connection.prepare(&text)?.query_map(&*values, read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    let size = |index| row.get(index).map(|bytes: i64| u64::try_from(bytes).unwrap_or(0));
    Ok(AuditRow {
        time: from_millis(row.get(0)?),
        principal: row.get(1)?,
        session: row.get(2)?,
        server: row.get(3)?,
        method: row.get(4)?,
        tool: row.get(5)?,
        duration: Duration::from_micros(size(6)?),
        outcome: row.get(7)?,
        error_code: row.get(8)?,
        request_bytes: size(9)?,
        response_bytes: size(10)?,
        arguments: Arguments { hash: row.get(11)?, text: row.get(12)? },
    })
}

/// Removes some of the rows that are too old or too many, or for which the file is too large, and says how many.
pub(crate) fn expire(
    connection: &Connection,
    age: Duration,
    keep: u64,
    file_bytes: u64,
    most: u32,
) -> rusqlite::Result<usize> {
    let old = connection.execute(
        "DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE time < ?1 ORDER BY time LIMIT ?2)",
        params![ago(age), most],
    )?;
    let count: i64 = connection.query_row("SELECT count(*) FROM audit", [], |row| row.get(0))?;
    let surplus = count.saturating_sub(i64::try_from(keep).unwrap_or(i64::MAX)).max(0);
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    let pages = pragma("page_count")? - pragma("freelist_count")?;
    let used = u64::try_from(pages.saturating_mul(pragma("page_size")?)).unwrap_or(0);
    // The rows that go make room in the file for those that come; it does not shrink.
    let surplus = if used > file_bytes { most.into() } else { surplus.min(most.into()) };
    let many = connection.execute(
        "DELETE FROM audit WHERE number IN (SELECT number FROM audit ORDER BY time, number LIMIT ?1)",
        [surplus],
    )?;
    Ok(old + many)
}
