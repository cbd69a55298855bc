//! Owns the memory of what Kennel changed in clients' files, so that it can be taken back.

use super::client::Client;
use super::file::{WriteError, Written, replace};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How many changes of one client are remembered.
const MOST: usize = 20;

/// One change of a client's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The file.
    pub file: PathBuf,
    /// The copy of what was there; `None` if nothing was.
    pub backup: Option<PathBuf>,
    /// SHA-256 of what Kennel wrote.
    pub written: String,
}

/// Why a change was not taken back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// Nothing is known.
    #[error("Kennel has changed no file of {client} that it knows of; `kennel client remove {}` takes its entry out", .client.word())]
    Nothing {
        /// The client.
        client: Client,
    },
    /// The file is no longer what Kennel wrote.
    #[error(
        "{} was changed since Kennel wrote it, so it was left as it is; {}, or run `kennel client remove {}`",
        .record.file.display(), kept(.record), .client.word()
    )]
    Changed {
        /// The client.
        client: Client,
        /// The change.
        record: Record,
    },
    /// The copy is gone.
    #[error("the copy {} of what was in {} cannot be read: {source}", .backup.display(), .file.display())]
    Backup {
        /// The file.
        file: PathBuf,
        /// The copy.
        backup: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file could not be put back.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// What is remembered cannot be read or written.
    #[error("the record of changes {} cannot be used: {problem}", .file.display())]
    Record {
        /// The record.
        file: PathBuf,
        /// Why.
        problem: String,
    },
}

fn kept(record: &Record) -> String {
    match &record.backup {
        Some(backup) => format!("what was there before is in {}", backup.display()),
        None => "it was not there before".to_owned(),
    }
}

/// The memory, in a directory of its own.
#[derive(Debug)]
pub struct Records {
    directory: PathBuf,
}

impl Records {
    /// That of a directory, which need not be there yet.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn file(&self, client: Client) -> PathBuf {
        self.directory.join(format!("{}.json", client.word()))
    }

    fn read(&self, client: Client) -> Result<Vec<Record>, UndoError> {
        let file = self.file(client);
        match fs::read(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(UndoError::Record { file, problem: error.to_string() }),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| UndoError::Record { file, problem: format!("{error}; remove it to go on") }),
        }
    }

    fn write(&self, client: Client, records: &[Record]) -> Result<(), UndoError> {
        let file = self.file(client);
        let failed = |problem: String| UndoError::Record { file: file.clone(), problem };
        let bytes = serde_json::to_vec_pretty(records).map_err(|error| failed(error.to_string()))?;
        fs::create_dir_all(&self.directory).map_err(|error| failed(error.to_string()))?;
        let new = tempfile::NamedTempFile::new_in(&self.directory).map_err(|error| failed(error.to_string()))?;
        fs::write(new.path(), bytes).map_err(|error| failed(error.to_string()))?;
        new.persist(&file).map_err(|error| failed(error.to_string()))?;
        Ok(())
    }

    /// Remembers a change.
    pub fn remember(&self, client: Client, written: &Written, after: &[u8]) -> Result<(), UndoError> {
        let mut records = self.read(client)?;
        let Written { file, backup } = written.clone();
        records.push(Record { file, backup, written: digest(after) });
        let old = records.len().saturating_sub(MOST);
        self.write(client, &records[old..])
    }

    /// Takes the last change of a client's file back, if nobody has changed the file since.
    pub fn undo(&self, client: Client, now: SystemTime) -> Result<Record, UndoError> {
        let mut records = self.read(client)?;
        let Some(record) = records.pop() else { return Err(UndoError::Nothing { client }) };
        let current = fs::read(&record.file).ok();
        let Some(current) = current.filter(|bytes| digest(bytes) == record.written) else {
            return Err(UndoError::Changed { client, record });
        };
        match &record.backup {
            Some(backup) => restore(&record.file, backup, &current, now)?,
            None => fs::remove_file(&record.file).map_err(|source| WriteError::System {
                file: record.file.clone(),
                what: "removing it",
                source,
            })?,
        }
        self.write(client, &records)?;
        Ok(record)
    }
}

fn restore(file: &Path, backup: &Path, current: &[u8], now: SystemTime) -> Result<(), UndoError> {
    let old = fs::read(backup).map_err(|source| UndoError::Backup {
        file: file.to_owned(),
        backup: backup.to_owned(),
        source,
    })?;
    let written = replace(file, Some(current), &old, now)?;
    // What Kennel wrote is of no use to anybody, and what was there is there again.
    for copy in written.backup.iter().map(PathBuf::as_path).chain([backup]) {
        let _ = fs::remove_file(copy);
    }
    Ok(())
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
