//! What the fuzz targets check about this crate's parsers: any bytes may be given, and a finding is a panic.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use crate::clients::{self, Client, Entry, KENNEL_NAME, Outcome, ReadError, Scope};
use crate::{Changes, Config};
use std::path::Path;

/// Any bytes as Kennel's own file, or as one with `mcpServers`: what is read is read again the same, with the mark of an
/// editor too, and what is wrong has a place in the file.
pub fn config(data: &[u8]) {
    let file = Path::new("/etc/kennel/kennel.toml");
    let read = Config::parse(data, file);
    let marked = [b"\xef\xbb\xbf", data].concat();
    match &read {
        Ok(config) => {
            assert!(config.servers.len() <= 1000 && config.views.len() <= 1000, "more than is taken");
            let changes = Changes::between(config, config);
            let quiet = !(changes.views || changes.code || changes.gateway);
            let lists = [&changes.added, &changes.removed, &changes.changed, &changes.shown_otherwise];
            assert!(quiet && lists.iter().all(|list| list.is_empty()), "it differs from itself");
            let Ok(again) = Config::parse(&marked, file) else { panic!("a byte order mark is in the way") };
            assert!(again.servers == config.servers && again.views == config.views, "a byte order mark counts");
        }
        Err(error) => {
            let lines = data.split(|byte| *byte == b'\n').count();
            assert!(!error.to_string().is_empty());
            assert!(error.problems().iter().all(|problem| problem.line <= lines), "a problem beyond the file");
        }
    }
}

/// Any bytes as a file of the client that the first byte names: what is read is not changed by being written again;
/// Kennel's own entry can be put in and taken out, and everything else stays; what is imported is a file that Kennel reads.
pub fn clients(data: &[u8]) {
    let Some((which, data)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    let all = Client::ALL.into_iter().chain([Client::Common]).collect::<Vec<_>>();
    let client = all[usize::from(*which) % all.len()];
    let file = Path::new(if client == Client::Codex { "/home/f/config.toml" } else { "/home/f/mcp.json" });
    let read = |text: &str| clients::read_known(file, client, &Scope::User, text).map(|found| found.entries);
    let Ok(entries) = read(text) else {
        // What cannot be read is not changed either, or becomes what can.
        let kennel = [clients::entry_for_kennel(client, "http://127.0.0.1:7330/mcp", Path::new("/bin/kennel"), None)];
        if let Ok(export) = clients::export(client, file, Some(text.to_owned()), &kennel) {
            assert!(!matches!(read(&export.after), Err(ReadError::Syntax { .. })), "the file was broken");
        }
        return;
    };
    let own: Vec<Entry> = entries.iter().filter(|entry| entry.origin.scope == Scope::User).cloned().collect();
    if let Ok(export) = clients::export(client, file, Some(text.to_owned()), &own) {
        assert_eq!(export.after, text, "the same entries changed the file");
    }
    with_kennel(client, file, text, &entries, &read);
    let imported = clients::plan(Path::new("/home/f/kennel.toml"), None, entries, &[]);
    let Ok(plan) = imported else { return };
    let Ok(config) = Config::parse(plan.after.as_bytes(), &plan.file) else { panic!("a file that Kennel cannot read") };
    for item in &plan.items {
        if let Outcome::Added { name } | Outcome::Renamed { name, .. } | Outcome::Same { name } = &item.outcome {
            assert!(config.servers.keys().any(|known| known.as_str() == name), "what was added is not there");
        }
    }
}

fn with_kennel(
    client: Client,
    file: &Path,
    text: &str,
    entries: &[Entry],
    read: &impl Fn(&str) -> Result<Vec<Entry>, ReadError>,
) {
    let kennel = clients::entry_for_kennel(client, "http://127.0.0.1:7330/mcp", Path::new("/bin/kennel"), None);
    let Ok(export) = clients::export(client, file, Some(text.to_owned()), std::slice::from_ref(&kennel)) else {
        return;
    };
    if !export.left_out.is_empty() {
        return;
    }
    let Ok(after) = read(&export.after) else { panic!("the file cannot be read any more") };
    assert!(after.iter().any(|entry| entry.name == KENNEL_NAME), "the entry is not there");
    let others = |entries: &[Entry]| -> Vec<Entry> {
        entries.iter().filter(|entry| entry.name != KENNEL_NAME).cloned().collect()
    };
    let same = |left: &[Entry], right: &[Entry]| {
        left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.says_the_same(right))
    };
    assert!(same(&others(entries), &others(&after)), "other entries changed");
    let Ok(without) = clients::without(client, file, export.after, KENNEL_NAME) else {
        panic!("it cannot be taken out")
    };
    let Ok(after) = read(&without.after) else { panic!("the file cannot be read any more") };
    assert!(same(&others(entries), &others(&after)), "other entries changed");
    let is_own = |entry: &&Entry| entry.origin.scope == Scope::User && entry.name == KENNEL_NAME;
    assert_eq!(after.iter().find(is_own).map(|entry| &entry.origin), None, "it is still there");
}

#[cfg(test)]
mod tests {
    use kennel_testkit::replay_corpus;

    #[test]
    fn the_corpora_of_the_fuzzer_have_no_findings() {
        replay_corpus("config", super::config).unwrap();
        replay_corpus("clients", super::clients).unwrap();
    }
}
