//! Tools that people have made themselves, to use again: the rows of saved tools, each somebody's.

use crate::time::{from_millis, to_millis};
use rusqlite::{Connection, Row, TransactionBehavior, params};
use std::time::SystemTime;

/// A tool that somebody has saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedTool {
    /// Whose it is.
    pub owner: String,
    /// The view that it was saved in; empty for all servers.
    pub view: String,
    /// Its name; one owner has no two of the same in one view.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its source.
    pub source: String,
    /// When it was saved.
    pub saved: SystemTime,
}

/// How much one owner may keep in one view.
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
    /// Its owner has as many in this view as may be.
    TooMany,
    /// Its owner's would be larger than they may be.
    TooLarge,
}

/// Keeps a tool in place of one of the same name, if its owner may have it.
pub(crate) fn put(connection: &Connection, tool: &SavedTool, limits: SavedLimits) -> rusqlite::Result<Kept> {
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let others = transaction.query_row(
        "SELECT count(*), coalesce(sum(octet_length(source) + octet_length(description)), 0)
         FROM saved_tools WHERE owner = ?1 AND view = ?2 AND name != ?3",
        [&tool.owner, &tool.view, &tool.name],
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
        "INSERT OR REPLACE INTO saved_tools (owner, view, name, description, source, saved)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![tool.owner, tool.view, tool.name, tool.description, tool.source, to_millis(tool.saved)],
    )?;
    transaction.commit()?;
    Ok(Kept::Yes)
}

/// The tools of an owner in one view, or in all, by views and names.
pub(crate) fn all(connection: &Connection, owner: &str, view: Option<&str>) -> rusqlite::Result<Vec<SavedTool>> {
    let mut statement = connection.prepare(
        "SELECT owner, view, name, description, source, saved FROM saved_tools
         WHERE owner = ?1 AND (?2 IS NULL OR view = ?2) ORDER BY view, name",
    )?;
    statement.query_map(params![owner, view], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<SavedTool> {
    Ok(SavedTool {
        owner: row.get(0)?,
        view: row.get(1)?,
        name: row.get(2)?,
        description: row.get(3)?,
        source: row.get(4)?,
        saved: from_millis(row.get(5)?),
    })
}

/// Forgets a tool, and says whether it was there.
pub(crate) fn remove(connection: &Connection, owner: &str, view: &str, name: &str) -> rusqlite::Result<bool> {
    let delete = "DELETE FROM saved_tools WHERE owner = ?1 AND view = ?2 AND name = ?3";
    Ok(connection.execute(delete, [owner, view, name])? > 0)
}
