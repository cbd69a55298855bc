//! Owns the page `docs/fidelity.md`: how what was seen is written down, and how two pages differ.

use crate::columns::{Cells, ERAS, Position, Way};
use crate::rows::ROWS;
use crate::seen::Seen;
use crate::wire::Era;

const INTRODUCTION: &str = include_str!("introduction.md");

/// The whole page.
pub(crate) fn page(cells: &Cells) -> String {
    let mut refusals = Vec::new();
    let mut lines: Vec<String> = INTRODUCTION.lines().map(str::to_owned).collect();
    for client in ERAS {
        for server in ERAS {
            lines.extend([String::new(), format!("## {} client, {} server", of(client), of(server)), String::new()]);
            lines.extend(table(cells, client, server, &mut refusals));
        }
    }
    lines.extend(
        ["", "## What the refusals say", "", "Each with its code, and to whom it is said.", ""].map(str::to_owned),
    );
    let refusals = refusals.iter().enumerate();
    lines.extend(refusals.map(|(place, refusal)| format!("- ({}) {refusal}", letter(place))));
    lines.join("\n") + "\n"
}

fn table(cells: &Cells, client: Era, server: Era, refusals: &mut Vec<String>) -> Vec<String> {
    let mut table =
        vec![format!("| | {} |", Way::ALL.map(title).join(" | ")), format!("|{}", "---|".repeat(Way::ALL.len() + 1))];
    for row in &ROWS {
        let seen = |way| cells.get(&Position { client, server, way, row: row.name }).expect("every cell was looked at");
        let row_words = Way::ALL.map(|way| words(seen(way), refusals));
        table.push(format!("| {} | {} |", row.name, row_words.join(" | ")));
    }
    table
}

fn of(era: Era) -> String {
    match era {
        Era::Legacy => format!("Legacy ({})", era.version()),
        Era::Modern => format!("Modern ({})", era.version()),
    }
}

fn title(way: Way) -> &'static str {
    match way {
        Way::PerSession => "`/mcp` per-session",
        Way::Shared => "`/mcp` shared",
        Way::Crowded => "`/mcp` shared, another at work",
        Way::PerUser => "`/mcp` per-user",
        Way::PerCall => "`/mcp` per-call",
        Way::WebSocket => "`/ws`",
        Way::Stdio => "`--stdio`",
        Way::Rpc => "`/rpc`",
    }
}

fn words(seen: &Seen, refusals: &mut Vec<String>) -> String {
    match seen {
        Seen::Carried => "carried".to_owned(),
        Seen::AnswerOnly => "answer only".to_owned(),
        Seen::NoWay => "no way".to_owned(),
        Seen::NotAsked => "not asked".to_owned(),
        Seen::NotOffered => "not offered".to_owned(),
        Seen::Withheld => "withheld".to_owned(),
        Seen::Refused(text) => {
            let place = refusals.iter().position(|known| known == text).unwrap_or_else(|| {
                refusals.push(text.clone());
                refusals.len() - 1
            });
            format!("refused ({})", letter(place))
        }
    }
}

/// `a` for the first, `b` for the second; there are not many.
fn letter(place: usize) -> char {
    ('a'..='z').nth(place).expect("fewer refusals than letters")
}

/// The lines that one page has and the other has not, each with its heading.
pub(crate) fn differences(written: &str, seen: &str) -> String {
    let (written, seen) = (headed(written), headed(seen));
    let lost = written.iter().filter(|line| !seen.contains(line)).map(|line| format!("- {line}\n"));
    let gained = seen.iter().filter(|line| !written.contains(line)).map(|line| format!("+ {line}\n"));
    lost.chain(gained).collect()
}

fn headed(page: &str) -> Vec<String> {
    let mut heading = "";
    let mut lines = Vec::new();
    for line in page.lines() {
        heading = line.strip_prefix("## ").unwrap_or(heading);
        lines.push(format!("{heading}: {line}"));
    }
    lines
}
