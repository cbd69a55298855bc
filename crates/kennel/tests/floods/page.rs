//! Reads `docs/limits.md`: which test drives which row.

use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../docs/limits.md");

/// The names in the last column of all tables.
pub(crate) fn tests() -> BTreeSet<String> {
    let rows = PAGE.lines().filter(|line| line.starts_with('|') && !line.contains("---") && !line.contains("| test |"));
    rows.map(|row| {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap().trim();
        let name = last.strip_prefix('`').and_then(|last| last.strip_suffix('`'));
        name.unwrap_or_else(|| panic!("no test in the row: {row}")).to_owned()
    })
    .collect()
}
