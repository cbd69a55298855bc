//! `kennel client list`: which clients there are, how many servers each has, and which of them use Kennel.

use crate::cli::OwnFile;
use crate::commands::clients::{Own, surroundings};
use crate::failure::Failure;
use crate::screen::{complain, print, print_json_text};
use kennel_config::clients::{Client, Surroundings, is_kennel, read_client};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is known of a client here.
struct Row {
    client: Client,
    files: Vec<PathBuf>,
    servers: usize,
    uses_kennel: bool,
    problems: Vec<String>,
}

/// Lists the clients.
pub(crate) fn list(json: bool, file: &OwnFile) -> Result<ExitCode, Failure> {
    let addresses = Own::find(file)?.addresses();
    let surroundings = surroundings()?;
    let rows: Vec<Row> = Client::ALL.into_iter().map(|client| row(client, &surroundings, &addresses)).collect();
    if json {
        let clients: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({
                    "client": row.client.word(),
                    "files": row.files,
                    "servers": row.servers,
                    "kennel": row.uses_kennel,
                    "problems": row.problems,
                })
            })
            .collect();
        print_json_text(&format!("{:#}\n", json!(clients)))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&table(&rows))?;
    for row in &rows {
        complain(&row.problems);
    }
    Ok(ExitCode::SUCCESS)
}

fn row(client: Client, surroundings: &Surroundings, addresses: &[String]) -> Row {
    let gathered = read_client(client, surroundings);
    let entries = &gathered.found.entries;
    let own = entries.iter().filter(|entry| is_kennel(entry, addresses)).count();
    Row {
        client,
        servers: entries.len() - own,
        uses_kennel: own > 0,
        files: gathered.files,
        problems: gathered.problems.iter().map(ToString::to_string).collect(),
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:15} {:8} {:7} FILES", "CLIENT", "SERVERS", "KENNEL");
    for row in rows {
        let files: Vec<String> = row.files.iter().map(|file| file.display().to_string()).collect();
        let files = if files.is_empty() { "–".to_owned() } else { files.join(", ") };
        let uses = if row.uses_kennel { "yes" } else { "no" };
        let _ = writeln!(text, "{:15} {:<8} {uses:7} {files}", row.client.word(), row.servers);
    }
    text
}
