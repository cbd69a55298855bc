//! The tables, and how a file of an earlier Kennel becomes one of this.

use rusqlite::{Connection, TransactionBehavior};

/// What each version has more than the one before; the number of a step is the version that it leads to. A step that was
/// released is never changed: files have been through it.
const STEPS: &[&str] = &[
    // 1: catalogs and sessions
    "CREATE TABLE catalogs (
        server TEXT NOT NULL PRIMARY KEY,
        changed INTEGER NOT NULL,
        used INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE eras (
        server TEXT NOT NULL REFERENCES catalogs ON DELETE CASCADE,
        era TEXT NOT NULL,
        knowledge TEXT NOT NULL,
        PRIMARY KEY (server, era)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE offers (
        server TEXT NOT NULL REFERENCES catalogs ON DELETE CASCADE,
        kind TEXT NOT NULL,
        era TEXT NOT NULL,
        version TEXT NOT NULL,
        introduction BLOB NOT NULL,
        PRIMARY KEY (server, kind)
    ) STRICT;
    CREATE TABLE pages (
        server TEXT NOT NULL,
        kind TEXT NOT NULL,
        list TEXT NOT NULL,
        number INTEGER NOT NULL,
        page BLOB NOT NULL,
        PRIMARY KEY (server, kind, list, number),
        FOREIGN KEY (server, kind) REFERENCES offers ON DELETE CASCADE
    ) STRICT;
    CREATE TABLE sessions (
        session BLOB NOT NULL PRIMARY KEY,
        endpoint TEXT NOT NULL,
        principal TEXT NOT NULL,
        introduction BLOB NOT NULL,
        version TEXT NOT NULL,
        log_level TEXT,
        subscriptions TEXT NOT NULL,
        opened INTEGER NOT NULL,
        used INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sessions_by_use ON sessions (used);",
    // 2: the audit log
    "CREATE TABLE audit (
        number INTEGER PRIMARY KEY,
        time INTEGER NOT NULL,
        principal TEXT NOT NULL,
        session BLOB,
        server TEXT NOT NULL,
        method TEXT NOT NULL,
        tool TEXT,
        micros INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        error_code INTEGER,
        request_bytes INTEGER NOT NULL,
        response_bytes INTEGER NOT NULL,
        arguments_hash TEXT,
        arguments TEXT
    ) STRICT;
    CREATE INDEX audit_by_time ON audit (time);
    CREATE INDEX audit_by_server ON audit (server, time);",
    // 3: saved tools
    "CREATE TABLE saved_tools (
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        source TEXT NOT NULL,
        saved INTEGER NOT NULL,
        PRIMARY KEY (owner, name)
    ) STRICT;",
    // 4: digests of arguments with a key, in place of those that anybody could have made
    "CREATE TABLE keys (
        name TEXT NOT NULL PRIMARY KEY,
        value BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    UPDATE audit SET arguments_hash = NULL WHERE arguments_hash IS NOT NULL;",
    // 5: saved tools by view. From which view those before came is not known: they stay where all servers are, and no
    // view that allows less gets them.
    "ALTER TABLE saved_tools RENAME TO saved_tools_of_all;
    CREATE TABLE saved_tools (
        owner TEXT NOT NULL,
        view TEXT NOT NULL,
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        source TEXT NOT NULL,
        saved INTEGER NOT NULL,
        PRIMARY KEY (owner, view, name)
    ) STRICT;
    INSERT INTO saved_tools (owner, view, name, description, source, saved)
        SELECT owner, '', name, description, source, saved FROM saved_tools_of_all;
    DROP TABLE saved_tools_of_all;",
];

/// The version that this Kennel writes.
pub(crate) const LATEST: usize = STEPS.len();

/// The version of a file; 0 of an empty one.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Whether a file of this version was written by a Kennel that knows more than this one.
pub(crate) fn is_newer(version: i64) -> bool {
    usize::try_from(version).map_or(true, |version| version > LATEST)
}

/// Makes a file one of this version: all steps that it lacks, or none.
pub(crate) fn update(connection: &mut Connection) -> rusqlite::Result<()> {
    update_to(connection, STEPS)
}

fn update_to(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    if is_current(connection, steps)? {
        return Ok(());
    }
    // Of several Kennels that want to, the first does it; the others wait here and find it done.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !is_current(&transaction, steps)? {
        let done = usize::try_from(version(&transaction)?).unwrap_or(0);
        for step in steps.iter().skip(done) {
            transaction.execute_batch(step)?;
        }
        transaction.execute_batch(&format!("PRAGMA user_version = {}", steps.len()))?;
    }
    transaction.commit()
}

fn is_current(connection: &Connection, steps: &[&str]) -> rusqlite::Result<bool> {
    Ok(usize::try_from(version(connection)?).is_ok_and(|version| version >= steps.len()))
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
