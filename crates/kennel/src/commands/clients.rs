//! Owns the commands about lists of servers: Kennel's own, and those of other clients.

mod adding;
mod change;
mod exporting;
mod importing;
mod installing;
mod listing;

use crate::cli::{ClientCommand, OwnFile};
use crate::failure::Failure;
use kennel_config::Config;
use kennel_config::clients::{Surroundings, read_text, usual_file};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use adding::{add, remove};
pub(crate) use exporting::export;
pub(crate) use importing::import;

/// Does what is said about other clients.
pub(crate) fn client(command: ClientCommand) -> Result<ExitCode, Failure> {
    match command {
        ClientCommand::List { json, file } => listing::list(json, &file),
        ClientCommand::Install(flags) => installing::install(&flags),
        ClientCommand::Remove { client, consent, records } => installing::remove(client, &consent, &records),
        ClientCommand::Undo { client, records } => installing::undo(client, &records),
    }
}

/// Kennel's own file, and what is in it.
struct Own {
    file: PathBuf,
    /// `None` if it is not there.
    text: Option<String>,
}

impl Own {
    fn find(flag: &OwnFile) -> Result<Self, Failure> {
        let absolute = |path: &Path| {
            std::path::absolute(path).map_err(|source| Failure::System { what: "finding --config", source })
        };
        let file = match &flag.config {
            Some(file) => absolute(file)?,
            None => usual_file().ok_or_else(|| {
                Failure::Argument("you have no home directory; say with -c which file is Kennel's".to_owned())
            })?,
        };
        let text = if file.exists() { Some(read_text(&file)?) } else { None };
        Ok(Self { file, text })
    }

    /// What the file says; what counts without one if there is none.
    fn config(&self) -> Result<Config, Failure> {
        Ok(match &self.text {
            Some(text) => Config::parse(text.as_bytes(), &self.file)?,
            None => Config::default(),
        })
    }

    /// By which hosts and ports clients reach Kennel, as far as the file says.
    fn addresses(&self) -> Vec<String> {
        // A broken file is told of by whoever needs more of it.
        let gateway = self.config().unwrap_or_default().gateway;
        let port = gateway.listen.port();
        let named = gateway.allow_hosts.iter().map(|host| format!("{host}:{port}"));
        [gateway.listen.to_string(), format!("127.0.0.1:{port}")].into_iter().chain(named).collect()
    }
}

fn surroundings() -> Result<Surroundings, Failure> {
    Surroundings::current()
        .ok_or_else(|| Failure::Argument("you have no home directory, where clients keep their files".to_owned()))
}
