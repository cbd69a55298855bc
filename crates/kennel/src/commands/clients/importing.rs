//! `kennel import`: servers of other clients' files, taken over into Kennel's own.

use crate::cli::Import;
use crate::commands::clients::change::Change;
use crate::commands::clients::{Own, surroundings};
use crate::failure::Failure;
use crate::screen::{complain, print, print_json_text};
use kennel_config::clients::{
    Client, Gathered, Outcome, Plan, Planned, Surroundings, Written, plan, read_client, read_path,
};
use kennel_redact::one_line;
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// A file was broken, or the user said no.
const NOT_ALL: u8 = 1;

/// Finds, shows, asks and writes.
pub(crate) fn import(flags: &Import) -> Result<ExitCode, Failure> {
    let own = Own::find(&flags.file)?;
    let mut gathered = gather(&flags.sources)?;
    let entries = std::mem::take(&mut gathered.found.entries);
    let plan = plan(&own.file, own.text.clone(), entries, &own.addresses())?;
    let change = Change { file: &plan.file, before: plan.before.as_deref(), after: &plan.after };
    if flags.json {
        let written = if flags.consent.yes && plan.added() > 0 { Some(change.make_quietly()?) } else { None };
        print_json_text(&format!("{:#}\n", report(&plan, &gathered, written.as_ref())))?;
        return Ok(code(gathered.problems.is_empty()));
    }
    complain(&gathered.problems.iter().map(ToString::to_string).collect::<Vec<_>>());
    if gathered.files.is_empty() && gathered.problems.is_empty() {
        complain(&["no file of a client was found; name one, or a directory of them".to_owned()]);
    }
    print(&table(&plan.items))?;
    complain(&gathered.found.notes.iter().map(|note| one_line(note)).collect::<Vec<_>>());
    if plan.added() == 0 {
        complain(&["nothing is new".to_owned()]);
        return Ok(code(gathered.problems.is_empty()));
    }
    let is_done = change.show_and_make(&flags.consent)?.is_some() || flags.consent.dry_run;
    Ok(code(is_done && gathered.problems.is_empty()))
}

fn code(is_all: bool) -> ExitCode {
    if is_all { ExitCode::SUCCESS } else { ExitCode::from(NOT_ALL) }
}

fn gather(sources: &[OsString]) -> Result<Gathered, Failure> {
    let surroundings = surroundings()?;
    let mut all = Gathered::default();
    if sources.is_empty() {
        for client in Client::ALL {
            append(&mut all, read_client(client, &surroundings));
        }
    }
    for source in sources {
        append(&mut all, one(source, &surroundings)?);
    }
    Ok(all)
}

/// A client by its name, unless that is clearly a path.
fn one(source: &OsString, surroundings: &Surroundings) -> Result<Gathered, Failure> {
    let path = Path::new(source);
    let client = source.to_str().map(str::parse::<Client>);
    match client {
        Some(Ok(Client::Common)) | None => {}
        Some(Ok(client)) => {
            let gathered = read_client(client, surroundings);
            if gathered.files.is_empty() && gathered.problems.is_empty() {
                let places = surroundings.places(client);
                let files: Vec<String> = places.iter().map(|place| place.file.display().to_string()).collect();
                complain(&[format!("{client} has no file here; looked for {}", files.join(", "))]);
            }
            return Ok(gathered);
        }
        Some(Err(error)) if !path.exists() && !source.to_string_lossy().contains(['/', '.']) => {
            return Err(Failure::Argument(format!("{error}, and there is no such file")));
        }
        Some(Err(_)) => {}
    }
    let path = std::path::absolute(path).map_err(|source| Failure::System { what: "finding a file", source })?;
    Ok(read_path(&path, Some(surroundings)))
}

fn append(all: &mut Gathered, other: Gathered) {
    all.found.append(other.found);
    all.problems.extend(other.problems);
    all.files.extend(other.files);
}

/// One line for each server: what it is called, what becomes of it, and where it was found.
fn table(items: &[Planned]) -> String {
    let rows: Vec<[String; 3]> = items
        .iter()
        .map(|item| {
            [&item.entry.name, &item.outcome.to_string(), &item.entry.origin.to_string()].map(|cell| one_line(cell))
        })
        .collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (names, outcomes) = (widest(0), widest(1));
    let mut text = String::new();
    for [name, outcome, origin] in &rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:names$}  {outcome:outcomes$}  {origin}");
    }
    text
}

fn report(plan: &Plan, gathered: &Gathered, written: Option<&Written>) -> serde_json::Value {
    let servers = plan.items.iter().map(|item| {
        let (outcome, name) = match &item.outcome {
            Outcome::Added { name } => ("added", Some(name)),
            Outcome::Renamed { name, .. } => ("renamed", Some(name)),
            Outcome::Same { name } => ("same", Some(name)),
            Outcome::Itself => ("itself", None),
            Outcome::Refused { .. } => ("refused", None),
        };
        let origin = &item.entry.origin;
        json!({
            "name": item.entry.name,
            "outcome": outcome,
            "as": name,
            "text": item.outcome.to_string(),
            "client": origin.client.word(),
            "scope": origin.scope.to_string(),
            "file": origin.file,
            "line": origin.line,
            "key": origin.key,
            "enabled": item.entry.enabled,
        })
    });
    json!({
        "file": plan.file,
        "written": written.is_some(),
        "backup": written.and_then(|written| written.backup.as_ref()),
        "servers": servers.collect::<Vec<_>>(),
        "notes": gathered.found.notes,
        "problems": gathered.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "read": gathered.files,
    })
}
