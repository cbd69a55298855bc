//! Tools that people have made themselves, to use again: the rows of saved tools, each somebody's.

use crate::time::{from_millis, to_millis};
use rusqlite::{Connection, Row, TransactionBehavior, params};
use std::time::SystemTime;

/// A tool that somebody has saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedTool {
    /// Whose it is.
    pub owner: String,
    /// Its name; one owner has no two of the same.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its source.
    pub source: String,
    /// When it was saved.
    pub saved: SystemTime,
}

/// How much one owner may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedLimits {
    /// How many tools.
    pub count: u32,
    /// How many bytes of sources and descriptions.
    pub bytes: u32,
}

/// What became of a tool that was to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is there, instead of one of the same name if there was one.
    Yes,
    /// Its owner has as many as may be.
    TooMany,
    /// Its owner's would be larger than they may be.
    TooLarge,
}

/// Keeps a tool in place of one of the same name, if its owner may have it.
pub(crate) fn put(connection: &Connection, tool: &SavedTool, limits: SavedLimits) -> rusqlite::Result<Kept> {
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let others = transaction.query_row(
        "SELECT count(*), coalesce(sum(octet_length(source) + octet_length(description)), 0)
         FROM saved_tools WHERE owner = ?1 AND name != ?2",
        [&tool.owner, &tool.name],
        |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?)),
    )?;
    if others.0 >= limits.count {
        return Ok(Kept::TooMany);
    }
    let bytes = others.1 as usize + tool.source.len() + tool.description.len();
    if bytes > limits.bytes as usize {
        return Ok(Kept::TooLarge);
    }
    transaction.execute(
        "INSERT OR REPLACE INTO saved_tools (owner, name, description, source, saved) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![tool.owner, tool.name, tool.description, tool.source, to_millis(tool.saved)],
    )?;
    transaction.commit()?;
    Ok(Kept::Yes)
}

/// The tools of an owner, or of all, by their names.
pub(crate) fn all(connection: &Connection, owner: Option<&str>) -> rusqlite::Result<Vec<SavedTool>> {
    let mut statement = connection.prepare(
        "SELECT owner, name, description, source, saved FROM saved_tools WHERE ?1 IS NULL OR owner = ?1
         ORDER BY owner, name",
    )?;
    statement.query_map([owner], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<SavedTool> {
    Ok(SavedTool {
        owner: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        source: row.get(3)?,
        saved: from_millis(row.get(4)?),
    })
}

/// Forgets a tool, and says whether it was there.
pub(crate) fn remove(connection: &Connection, owner: &str, name: &str) -> rusqlite::Result<bool> {
    Ok(connection.execute("DELETE FROM saved_tools WHERE owner = ?1 AND name = ?2", [owner, name])? > 0)
}
