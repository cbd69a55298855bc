//! `kennel client install`, `remove` and `undo`: Kennel's one entry in another client's file.

use crate::cli::{Consent, Install, RecordsFlag};
use crate::commands::clients::change::Change;
use crate::commands::clients::{Own, surroundings};
use crate::commands::server::data_directory;
use crate::failure::Failure;
use crate::screen::complain;
use kennel_config::clients::{
    Client, Export, KENNEL_NAME, Records, Scope, TOKEN_VARIABLE, entry_for_kennel, export, read_known, read_text,
    without,
};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

/// Points a client at Kennel.
pub(crate) fn install(flags: &Install) -> Result<ExitCode, Failure> {
    let client = flags.client;
    let Some(file) = surroundings()?.home_of(client) else {
        return Err(Failure::Argument(format!(
            "{client} has no file of its own; see `kennel export {}`",
            client.word()
        )));
    };
    let url = match &flags.url {
        Some(url) => url.clone(),
        None => format!("http://{}/mcp", reachable(&Own::find(&flags.file)?)?),
    };
    let token = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
    let entry = entry_for_kennel(client, &url, &program()?, token.as_deref());
    let before = if file.exists() { Some(read_text(&file)?) } else { None };
    let made = export(client, &file, before, &[entry])?;
    if !made.is_change() {
        complain(&[format!("{client} uses Kennel already: {} says so", file.display())]);
        return Ok(ExitCode::SUCCESS);
    }
    apply(client, &made, &flags.consent, &flags.records)
}

/// Takes Kennel's entry out of all files of the user that have it.
pub(crate) fn remove(client: Client, consent: &Consent, records: &RecordsFlag) -> Result<ExitCode, Failure> {
    let mut code = None;
    for place in surroundings()?.places(client) {
        if place.scope != Scope::User || !place.file.exists() {
            continue;
        }
        let text = read_text(&place.file)?;
        let entries = read_known(&place.file, client, &place.scope, &text)?.entries;
        if entries.iter().any(|entry| entry.name == KENNEL_NAME && entry.origin.scope == Scope::User) {
            let made = without(client, &place.file, text, KENNEL_NAME)?;
            code = Some(apply(client, &made, consent, records)?);
        }
    }
    Ok(code.unwrap_or_else(|| {
        complain(&[format!("no file of {client} has an entry `{KENNEL_NAME}`")]);
        ExitCode::SUCCESS
    }))
}

/// Puts a client's file back as it was.
pub(crate) fn undo(client: Client, records: &RecordsFlag) -> Result<ExitCode, Failure> {
    let record = self::records(records)?.undo(client, SystemTime::now())?;
    let said = match record.backup {
        Some(_) => format!("{} is as it was before", record.file.display()),
        None => format!("{} is gone, as it was not there before", record.file.display()),
    };
    complain(&[said]);
    Ok(ExitCode::SUCCESS)
}

fn apply(client: Client, made: &Export, consent: &Consent, flag: &RecordsFlag) -> Result<ExitCode, Failure> {
    let change = Change { file: &made.file, before: made.before.as_deref(), after: &made.after };
    let records = records(flag)?;
    match change.show_and_make(consent)? {
        Some(written) => {
            records.remember(client, &written, made.after.as_bytes())?;
            complain(&[format!("start {client} anew to see it; `kennel client undo {}` takes it back", client.word())]);
            Ok(ExitCode::SUCCESS)
        }
        None if consent.dry_run => Ok(ExitCode::SUCCESS),
        None => Ok(ExitCode::FAILURE),
    }
}

fn records(flag: &RecordsFlag) -> Result<Records, Failure> {
    Ok(Records::new(data_directory(flag.data.as_deref())?.join("clients")))
}

/// Where clients on this machine reach a gateway that may listen everywhere.
fn reachable(own: &Own) -> Result<std::net::SocketAddr, Failure> {
    let mut address = own.config()?.gateway.listen;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            std::net::SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    Ok(address)
}

/// This program by the path that clients can start it by.
fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|source| Failure::System { what: "finding this program", source })
}
