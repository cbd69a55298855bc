//! `kennel tools`: what a server offers, as a table for people or as the server spelled it.

use crate::cli::Tools;
use crate::commands::asking::{Listing, Tool, with_endpoint};
use crate::failure::Failure;
use crate::screen::{complain, print, print_json_text, width};
use kennel_redact::one_line;
use std::process::ExitCode;

/// What stands between two columns.
const GAP: &str = "  ";
/// Below this a column for descriptions cannot be read.
const NARROWEST: usize = 24;

/// Lists the tools; a program that reads them gets one line for each.
pub(crate) fn run(flags: Tools) -> Result<ExitCode, Failure> {
    let Tools { whom, json } = flags;
    with_endpoint(whom, async |endpoint| {
        let listing = Listing::ask(endpoint).await?;
        if json {
            print_json_text(&format!("{}\n", listing.json()))?;
            return Ok(ExitCode::SUCCESS);
        }
        complain(&listing.problems);
        if listing.tools.is_empty() {
            complain(&["the server has no tools".to_owned()]);
        }
        print(&table(&listing.tools, width()))?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The table, within so many columns.
fn table(tools: &[Tool], width: Option<usize>) -> String {
    let rows: Vec<[String; 3]> = tools.iter().map(row).collect();
    let longest = |column: usize| rows.iter().map(|row| length(&row[column])).max().unwrap_or(0);
    let (mut names, mut arguments, mut descriptions) = (longest(0), longest(1), longest(2));
    if let Some(width) = width {
        let whole = width.max(3 * NARROWEST).saturating_sub(2 * GAP.len());
        names = names.min(whole / 3);
        arguments = arguments.min((whole - names) / 2).max(arguments.min(NARROWEST));
        descriptions = descriptions.min((whole - names).saturating_sub(arguments).max(NARROWEST));
    }
    let mut text = String::new();
    for row in &rows {
        let cells = [hanging(&row[0], names), wrapped(&row[1], arguments), wrapped(&row[2], descriptions)];
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let cell = |column: usize| cells[column].get(line).map_or("", String::as_str);
            let line = format!("{}{GAP}{}{GAP}{}", padded(cell(0), names), padded(cell(1), arguments), cell(2));
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

fn row(tool: &Tool) -> [String; 3] {
    let argument = |(name, required): (&str, bool)| if required { name.to_owned() } else { format!("[{name}]") };
    let arguments: Vec<String> = tool.arguments().into_iter().map(argument).collect();
    [one_line(&tool.name), one_line(&arguments.join(" ")), first_sentence(&tool.description)]
}

/// The first sentence of the first paragraph, on one line.
fn first_sentence(text: &str) -> String {
    let paragraph = text.trim().lines().take_while(|line| !line.trim().is_empty()).collect::<Vec<_>>().join(" ");
    let text = one_line(&paragraph);
    let ends = text.match_indices(['.', '!', '?']).map(|(at, mark)| at + mark.len());
    let is_end = |end: &usize| {
        // A sentence begins with what is no small letter; after `e.g.` goes on what has begun.
        let mut rest = text[*end..].chars();
        rest.next() == Some(' ') && rest.next().is_none_or(|letter| !letter.is_lowercase())
    };
    match ends.into_iter().find(is_end) {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// The same with all but the first line indented: only a name begins where a line begins.
fn hanging(text: &str, width: usize) -> Vec<String> {
    if length(text) <= width {
        return wrapped(text, width);
    }
    let mut lines = wrapped(text, width.saturating_sub(GAP.len()));
    lines.iter_mut().skip(1).for_each(|line| line.insert_str(0, GAP));
    lines
}

/// Lines of at most so many letters, broken between words where that is possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => {
                let letters: Vec<char> = word.chars().collect();
                lines.extend(letters.chunks(width).map(|part| part.iter().collect::<String>()));
            }
        }
    }
    lines
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(length(text))))
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
