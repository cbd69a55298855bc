//! Owns what is read when a client, a file or a directory is named: which files, and what is found in them.

use super::client::Client;
use super::document::{Document, Language, Node, Value};
use super::entry::Scope;
use super::error::{ReadError, Spot};
use super::lists::{List, client_of, lists};
use super::places::{Place, Surroundings, project_of};
use super::plugins::read_plugins;
use super::read::{Found, read_list};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a file may have; Claude Code keeps much else in the same file.
const LARGEST: u64 = 64 << 20;
/// What a directory of files may hold.
const MOST_FILES: usize = 1000;

/// What was found in many files. A broken file gives nothing, and takes nothing from the others.
#[derive(Debug, Default)]
pub struct Gathered {
    /// What was found.
    pub found: Found,
    /// What is wrong, for each broken file.
    pub problems: Vec<ReadError>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
}

impl Gathered {
    pub(crate) fn add(&mut self, file: &Path, read: Result<Found, ReadError>) {
        match read {
            Ok(found) => {
                self.files.push(file.to_owned());
                self.found.append(found);
            }
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// Reads all files of a client that are there.
#[must_use]
pub fn read_client(client: Client, surroundings: &Surroundings) -> Gathered {
    let mut gathered = Gathered::default();
    for Place { client, scope, file } in surroundings.places(client) {
        if file.exists() {
            let read = read_text(&file).and_then(|text| read_known(&file, client, &scope, &text));
            gathered.add(&file, read);
        }
    }
    if client == Client::ClaudeCode {
        read_plugins(surroundings, &mut gathered);
    }
    gathered
}

/// Reads a file that was named, or every file of a directory.
#[must_use]
pub fn read_path(path: &Path, surroundings: Option<&Surroundings>) -> Gathered {
    let mut gathered = Gathered::default();
    if !path.is_dir() {
        gathered.add(path, read_file(path, surroundings));
        return gathered;
    }
    match files_of(path) {
        Err(problem) => gathered.problems.push(problem),
        Ok(files) => {
            for file in files {
                match read_file(&file, surroundings) {
                    // A directory may hold other files too.
                    Err(error @ ReadError::NoServers { .. }) => gathered.found.notes.push(error.to_string()),
                    read => gathered.add(&file, read),
                }
            }
        }
    }
    gathered
}

fn files_of(directory: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let failed = |source| ReadError::File { file: directory.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let ending = file.extension().unwrap_or_default().to_ascii_lowercase();
        if (ending == "json" || ending == "jsonc" || ending == "toml") && file.is_file() {
            files.push(file);
        }
        if files.len() > MOST_FILES {
            return Err(ReadError::TooMany { directory: directory.to_owned(), limit: MOST_FILES });
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file whose client is known by its place or by what is in it.
fn read_file(file: &Path, surroundings: Option<&Surroundings>) -> Result<Found, ReadError> {
    let text = read_text(file)?;
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let places = surroundings.map(|known| Client::ALL.into_iter().flat_map(|client| known.places(client)));
    if let Some(place) = places.into_iter().flatten().find(|place| place.file == absolute) {
        return read_known(file, place.client, &place.scope, &text);
    }
    let document = Document::parse(file, Language::of(file), &text)?;
    let client = client_of(file, &document.root);
    let scope = project_of(client, &absolute).map_or(Scope::File, Scope::Project);
    let lists = lists(client, &scope, file, &document.root);
    if let Some(found) = read_single(file, &document, &scope)? {
        return Ok(found);
    }
    if lists.is_empty() {
        return Err(ReadError::NoServers { file: file.to_owned() });
    }
    read_lists(&document, client, &lists)
}

/// A file that is one server, called after the file.
fn read_single(file: &Path, document: &Document<'_>, scope: &Scope) -> Result<Option<Found>, ReadError> {
    let is_text = |name| document.root.get(name).is_some_and(|node| node.as_text().is_some());
    if !is_text("command") && !is_text("url") {
        return Ok(None);
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let node: Node = Value::Table(vec![(name, document.root.clone())]).into();
    let list = List { key: "(file)".to_owned(), node: &node, scope: scope.clone(), off: Vec::new() };
    read_list(document, Client::Common, &list).map(Some)
}

/// Reads a file of a client that is known.
pub fn read_known(file: &Path, client: Client, scope: &Scope, text: &str) -> Result<Found, ReadError> {
    let document = Document::parse(file, Language::of(file), text)?;
    read_lists(&document, client, &lists(client, scope, file, &document.root))
}

fn read_lists(document: &Document<'_>, client: Client, lists: &[List<'_>]) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for list in lists {
        found.append(read_list(document, client, list)?);
    }
    Ok(found)
}

/// The text of a file.
pub fn read_text(file: &Path) -> Result<String, ReadError> {
    let failed = |source| ReadError::File { file: file.to_owned(), source };
    // A pipe would be waited for without end.
    if !fs::metadata(file).map_err(failed)?.is_file() {
        return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no plain file")));
    }
    let mut bytes = Vec::new();
    let open = fs::File::open(file).map_err(failed)?;
    open.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LARGEST {
        return Err(ReadError::TooLarge { file: file.to_owned(), limit: LARGEST });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
        ReadError::NotText { spot: Spot::find(file, &text, valid) }
    })
}
