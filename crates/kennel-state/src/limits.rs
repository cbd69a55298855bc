//! The bounds of the store, and what it counts.

use std::time::Duration;

/// The bounds, each with its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How many audit rows may wait to be written; those that come when there are so many are dropped.
    pub audit_waiting: usize,
    /// How many bytes of names and arguments may wait with them.
    pub audit_waiting_bytes: usize,
    /// How many sessions, and how many catalogs, may have changes that wait to be written.
    pub keys_waiting: usize,
    /// How many questions may wait to be answered.
    pub questions_waiting: usize,
    /// How much of a call's arguments is kept, where they are.
    pub argument_bytes: usize,
    /// How much of the name of a tool, prompt or resource is kept.
    pub name_bytes: usize,
    /// How long audit rows are kept.
    pub audit_age: Duration,
    /// How many audit rows are kept.
    pub audit_rows: u64,
    /// How large the file may become before the oldest audit rows are removed, however few there are.
    pub file_bytes: u64,
    /// How long a session that nobody uses is kept.
    pub session_age: Duration,
    /// How long a catalog that nobody reads or writes is kept.
    pub catalog_age: Duration,
    /// How long another Kennel that writes is waited for.
    pub busy: Duration,
    /// How often the operator hears that rows are lost, while they are.
    pub loss_interval: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        const DAY: Duration = Duration::from_hours(24);
        Self {
            audit_waiting: 8192,
            audit_waiting_bytes: 16 << 20,
            keys_waiting: 65_536,
            questions_waiting: 4096,
            argument_bytes: 64 << 10,
            name_bytes: 1024,
            audit_age: 30 * DAY,
            audit_rows: 1_000_000,
            file_bytes: 2 << 30,
            session_age: 7 * DAY,
            catalog_age: 180 * DAY,
            busy: Duration::from_secs(5),
            loss_interval: Duration::from_mins(1),
        }
    }
}

/// What a store has counted since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Rows and changes that are in the file.
    pub written: u64,
    /// Audit rows that were dropped because too many waited.
    pub dropped_audit: u64,
    /// Changes of sessions and catalogs that were dropped because too many waited.
    pub dropped_changes: u64,
    /// Rows and changes that could not be written.
    pub failed: u64,
}
