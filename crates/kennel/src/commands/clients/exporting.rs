//! `kennel export`: servers of Kennel's file in another client's words.

use crate::cli::Export;
use crate::commands::clients::Own;
use crate::commands::clients::change::Change;
use crate::failure::Failure;
use crate::screen::{complain, print_data};
use kennel_config::clients::{Client, Entry, entry_of, read_text};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints the servers, or puts them into a file.
pub(crate) fn export(flags: &Export) -> Result<ExitCode, Failure> {
    let own = Own::find(&flags.file)?;
    let (entries, mut left_out) = entries(&own, &flags.servers)?;
    let file = match &flags.output {
        Some(file) => {
            std::path::absolute(file).map_err(|source| Failure::System { what: "finding --output", source })?
        }
        None => PathBuf::from(if flags.client == Client::Codex { "config.toml" } else { "mcp.json" }),
    };
    let before = if flags.output.is_some() && file.exists() { Some(read_text(&file)?) } else { None };
    let made = kennel_config::clients::export(flags.client, &file, before, &entries)?;
    complain(&made.notes);
    left_out.extend(made.left_out.iter().map(ToString::to_string));
    complain(&left_out);
    let is_all = left_out.is_empty();
    if flags.output.is_none() {
        print_data(&made.after)?;
    } else if made.is_change() {
        let change = Change { file: &file, before: made.before.as_deref(), after: &made.after };
        if change.show_and_make(&flags.consent)?.is_none() && !flags.consent.dry_run {
            return Ok(ExitCode::FAILURE);
        }
    } else {
        complain(&["nothing is new".to_owned()]);
    }
    Ok(if is_all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The servers that are wanted, and why some of them cannot be said to any client.
fn entries(own: &Own, wanted: &[String]) -> Result<(Vec<Entry>, Vec<String>), Failure> {
    let config = own.config()?;
    if config.servers.is_empty() {
        let file = own.file.display();
        return Err(Failure::Argument(format!("{file} has no servers; add some with `kennel add` or `kennel import`")));
    }
    if let Some(unknown) = wanted.iter().find(|name| !config.servers.contains_key(name.as_str())) {
        let near = crate::commands::asking::did_you_mean(unknown, config.servers.keys().map(AsRef::as_ref));
        return Err(Failure::Argument(format!("{} has no server `{unknown}`{near}", own.file.display())));
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    for (name, server) in config.servers.iter().filter(|(name, _)| is_wanted(name.as_str())) {
        match entry_of(name, server, Path::new(&own.file)) {
            Ok(entry) => entries.push(entry),
            Err(error) => left_out.push(error.to_string()),
        }
    }
    Ok((entries, left_out))
}
