//! Broken files: said with file, line, column and key, and nothing is taken from them.

use crate::scene::files;
use kennel_config::clients::{Client, Entry, entry_for_kennel, export, read_path, read_text};
use std::fs;
use std::path::Path;

#[test]
fn each_break_is_named_with_its_place() {
    let cases = [
        ("comma.json", ":3:28: ", "comma"),
        ("command.json", ":3:23: `mcpServers.a.command` must be a text, but it is a number", ""),
        ("argument.json", ":4:42: `mcpServers.a.args[1]` must be a text, but it is a table", ""),
        ("list.json", ":1:17: `mcpServers` must be a table, but it is a list", ""),
        ("env.json", ":1:49: `mcpServers.a.env` must be a table, but it is a text", ""),
        ("time.toml", ":3:23: `mcp_servers.a.startup_timeout_sec` is no length of time", ""),
        ("quote.toml", ":2:13: ", "string"),
        ("bytes.json", ":1:20: this is no UTF-8 text", ""),
        ("end.json", ":1:17: ", ""),
        ("nothing.json", "nothing.json has no list of servers", ""),
        ("number.json", "number.json has no list of servers", ""),
        ("missing.json", "missing.json could not be read", ""),
    ];
    for (file, place, word) in cases {
        let gathered = read_path(&files().join("broken").join(file), None);
        assert!(gathered.found.entries.is_empty(), "{file}");
        let [problem] = gathered.problems.as_slice() else { panic!("{file}: {:?}", gathered.problems) };
        let said = problem.to_string();
        assert!(said.contains(place) && said.to_lowercase().contains(word), "{file}: {said}");
        assert!(said.contains(file), "{file}: {said}");
    }
}

#[test]
fn a_broken_file_takes_nothing_from_the_others() {
    let directory = tempfile::tempdir().expect("a directory");
    for file in ["broken/comma.json", "broken/argument.json", "directory/one.json"] {
        fs::copy(files().join(file), directory.path().join(Path::new(file).file_name().unwrap())).expect("a copy");
    }
    let gathered = read_path(directory.path(), None);
    let names: Vec<&str> = gathered.found.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((names, gathered.problems.len()), (vec!["one"], 2));
}

#[test]
fn broken_files_are_never_written() {
    let entry = |client| -> Entry { entry_for_kennel(client, "http://127.0.0.1:7330/mcp", Path::new("kennel"), None) };
    let broken = [
        (Client::Common, "comma.json"),
        (Client::Common, "list.json"),
        (Client::Common, "end.json"),
        (Client::Common, "number.json"),
        (Client::Codex, "quote.toml"),
    ];
    for (client, file) in broken {
        let file = files().join("broken").join(file);
        let before = read_text(&file).expect("text");
        assert!(export(client, &file, Some(before), &[entry(client)]).is_err(), "{}", file.display());
    }
}

#[test]
fn what_is_no_plain_file_is_not_waited_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let pipe = directory.path().join("pipe.json");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(status.success());
    let said = read_path(&pipe, None).problems[0].to_string();
    assert!(said.contains("no plain file"), "{said}");
}
