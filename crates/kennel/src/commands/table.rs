//! Owns tables for people: columns as wide as they have to be, and one row for each line.

use kennel_redact::one_line;

/// What stands between two columns.
const GAP: &str = "  ";

/// Rows below their headings.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let headings = headings.map(str::to_owned);
    // Foreign text must not break a row or command the terminal.
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.clone().map(|cell| one_line(&cell))).collect();
    let all = || [&headings].into_iter().chain(&rows);
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in all() {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join(GAP).trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_a_cell_is_one_line() {
        let rows = [["a".to_owned(), "1".to_owned()], ["löng".to_owned(), "two\nlines \u{1b}[31m".to_owned()]];
        assert_eq!(table(["NAME", "N"], &rows), "NAME  N\na     1\nlöng  two lines \u{fffd}[31m\n");
    }
}
