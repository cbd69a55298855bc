//! Reads `docs/limits.md`: which test drives which row.

use std::collections::BTreeSet;
use std::path::Path;

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

/// Whether a name is that of a file with tests of its own.
pub(crate) fn is_a_file(name: &str) -> bool {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    [crates.join(name), crates.join("kennel/tests").join(name)].iter().any(|path| path.is_file())
}
