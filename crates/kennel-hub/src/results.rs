//! Results that are too large to pass, kept on disk to be read in pages.

use crate::client::{Client, ClientKey};
use crate::sync::lock;
use bytes::Bytes;
use kennel_wire::{ErrorCode, Id, ProtocolVersion, RawJson};
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::fault::Fault;

/// What the addresses of kept results begin with.
const PREFIX: &str = "kennel://results/";
/// Where a part of a kept result says which one follows.
pub(crate) const NEXT: &str = "kennel/next";
/// How many results are kept at once, each of which has a file open.
const MOST_KEPT: usize = 64;
/// The most bytes of a kept result that one reading returns.
const MOST_PAGE: u64 = 1 << 20;

/// The results that are kept.
#[derive(Debug)]
pub(crate) struct Results {
    directory: Option<PathBuf>,
    most_bytes: u64,
    archive: Mutex<Archive>,
}

#[derive(Debug, Default)]
struct Archive {
    kept: VecDeque<Kept>,
    bytes: u64,
    next: u64,
}

/// One kept result. Its file has no name, so it goes with the last hold on it, also when Kennel is killed.
#[derive(Debug, Clone)]
struct Kept {
    number: u64,
    owner: ClientKey,
    file: Arc<File>,
    length: u64,
}

impl Results {
    pub(crate) fn new(directory: Option<PathBuf>, most_bytes: u64) -> Self {
        Self { directory, most_bytes, archive: Mutex::default() }
    }

    /// Keeps a result and returns the response that stands for it.
    pub(crate) async fn keep(&self, client: &Arc<Client>, result: RawJson, id: &Id) -> io::Result<Bytes> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Result {
            is_error: Option<bool>,
        }
        let is_error = serde_json::from_slice::<Result>(result.as_bytes()).ok().and_then(|result| result.is_error);
        let length = result.as_bytes().len() as u64;
        let directory = self.directory.clone();
        let bytes = result.into_bytes();
        let file = tokio::task::spawn_blocking(move || {
            let file = match directory {
                Some(directory) => tempfile::tempfile_in(directory)?,
                None => tempfile::tempfile()?,
            };
            file.write_all_at(&bytes, 0)?;
            Ok::<_, io::Error>(file)
        });
        let uri = self.shelve(client.key, Arc::new(file.await??), length);
        if client.is_closed() {
            // Too late for what forgets with the session.
            self.forget(client.key);
        }
        let text = format!(
            "The result has {length} bytes, more than pass at once. It is kept as {uri}: read that resource for its \
             first part as JSON text; each part names the next one."
        );
        let mut content = vec![json!({ "type": "text", "text": text })];
        // Links to resources came with 2025-06-18.
        if client.version.get().is_none_or(|version| *version >= ProtocolVersion::V2025_06_18) {
            let name = "result".to_owned();
            content.push(json!({
                "type": "resource_link", "uri": uri, "name": name, "mimeType": "application/json", "size": length
            }));
        }
        let mut result = json!({ "content": content });
        if let Some(members) = result.as_object_mut() {
            members.extend(is_error.map(|is_error| ("isError".to_owned(), is_error.into())));
            // Every result says so since 2026-07-28.
            members.extend(client.is_modern().then(|| ("resultType".to_owned(), "complete".into())));
        }
        Ok(response_of(id, &result))
    }

    /// Whether this address is one of ours.
    pub(crate) fn is_ours(uri: &str) -> bool {
        uri.starts_with(PREFIX)
    }

    /// Reads the part of a kept result that an address names.
    pub(crate) async fn read(&self, client: &Client, uri: &str, id: &Id) -> Bytes {
        let Some((text, next)) = self.part(client, uri).await else {
            let text = format!("there is no kept result {uri}; it may have been dropped to make room");
            return Fault::refused(ErrorCode::RESOURCE_NOT_FOUND, text).response(id);
        };
        let mut contents = json!({ "uri": uri, "mimeType": "text/plain", "text": text });
        if let (Some(next), Some(members)) = (next, contents.as_object_mut()) {
            members.insert("_meta".to_owned(), json!({ NEXT: next }));
        }
        response_of(id, &json!({ "contents": [contents] }))
    }

    /// Drops what was kept for a session.
    pub(crate) fn forget(&self, owner: ClientKey) {
        let mut archive = lock(&self.archive);
        archive.kept.retain(|kept| kept.owner != owner);
        archive.bytes = archive.kept.iter().map(|kept| kept.length).sum();
    }

    fn shelve(&self, owner: ClientKey, file: Arc<File>, length: u64) -> String {
        let mut archive = lock(&self.archive);
        archive.next += 1;
        let number = archive.next;
        archive.kept.push_back(Kept { number, owner, file, length });
        archive.bytes += length;
        while (archive.bytes > self.most_bytes || archive.kept.len() > MOST_KEPT) && archive.kept.len() > 1 {
            if let Some(oldest) = archive.kept.pop_front() {
                archive.bytes -= oldest.length;
            }
        }
        format!("{PREFIX}{number}")
    }

    /// The text at an address, and the address of what follows.
    async fn part(&self, client: &Client, uri: &str) -> Option<(String, Option<String>)> {
        let rest = uri.strip_prefix(PREFIX)?;
        let (number, offset) = match rest.split_once("?offset=") {
            Some((number, offset)) => (number, offset.parse().ok()?),
            None => (rest, 0),
        };
        let number: u64 = number.parse().ok()?;
        let kept = {
            let archive = lock(&self.archive);
            archive.kept.iter().find(|kept| kept.number == number && kept.owner == client.key).cloned()?
        };
        let mut bytes = vec![0; usize::try_from(kept.length.checked_sub(offset)?.min(MOST_PAGE)).ok()?];
        let file = Arc::clone(&kept.file);
        let bytes = tokio::task::spawn_blocking(move || file.read_exact_at(&mut bytes, offset).map(|()| bytes));
        let mut bytes = bytes.await.ok()?.ok()?;
        // A part ends between characters.
        let whole = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(error) => error.valid_up_to(),
        };
        bytes.truncate(whole);
        let end = offset + whole as u64;
        let next = (end < kept.length).then(|| format!("{PREFIX}{number}?offset={end}"));
        Some((String::from_utf8(bytes).ok()?, next))
    }
}

fn response_of(id: &Id, result: &serde_json::Value) -> Bytes {
    match RawJson::parse(result.to_string()) {
        Ok(result) => kennel_wire::success_response(id, &result),
        Err(_) => Fault::refused(ErrorCode::INTERNAL_ERROR, "the result could not be kept").response(id),
    }
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
