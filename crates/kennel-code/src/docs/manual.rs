//! The manual of code mode, which agents read as the resource `kennel://code/capabilities`.

use super::catalog::{Catalog, Server};
use super::text::{one_line, summary};
use std::fmt::Write;

/// Where the manual is found.
pub const MANUAL_URI: &str = "kennel://code/capabilities";

/// How many servers the manual lists.
pub(crate) const MOST_SERVERS: usize = 40;
/// How many characters are said of a server.
const LONGEST_DESCRIPTION: usize = 100;

/// The manual without its list of servers.
const TEXT: &str = include_str!("manual.md");

/// The manual with the servers of a catalog.
pub(crate) fn manual(catalog: &Catalog) -> String {
    let mut text = TEXT.trim_end().to_owned();
    text.push('\n');
    let count = catalog.servers().count();
    if count == 0 {
        text.push_str("None yet.\n");
    }
    for (alias, server) in catalog.servers().take(MOST_SERVERS) {
        let tools = server.tools().len();
        let plural = if tools == 1 { "" } else { "s" };
        let _ = write!(text, "- `mcp_{alias}`: {tools} tool{plural}");
        let description = described(server);
        if !description.is_empty() {
            let _ = write!(text, ". {description}");
        }
        text.push('\n');
    }
    if count > MOST_SERVERS {
        let _ = writeln!(text, "- … and {} more: `await mcp.runtime.list_servers()`", count - MOST_SERVERS);
    }
    text
}

/// What a server is, on one line.
pub(crate) fn described(server: &Server) -> String {
    let line = summary(server.description(), LONGEST_DESCRIPTION);
    if line.is_empty() && server.description().is_empty() {
        String::new()
    } else {
        one_line(&line, LONGEST_DESCRIPTION)
    }
}
