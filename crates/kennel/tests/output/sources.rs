//! The sources themselves: there is one place that prints, so that no other can forget to clean what it prints.

use std::fs;
use std::path::{Path, PathBuf};

/// What prints, or gets hold of what prints.
const PRINTING: [&str; 8] = [
    "println!",
    "print!(",
    "dbg!(",
    "io::stdout()",
    "io::stderr()",
    "stdout_locked",
    "stdio::stdout()",
    "stdio::stderr()",
];

/// Who may: the printer; a terminal that is tied to a box's; and what only looks at the caller's streams or passes them on.
const ALLOWED: [&str; 6] = [
    "kennel/src/screen.rs",
    "kennel/src/terminal.rs",
    "kennel/src/commands/exec.rs",
    "kennel/src/commands/streams.rs",
    // Descriptors of a box's own init.
    "kennel-jail/src/init.rs",
    // A helper's answers to Kennel.
    "kennel-tree/src/helper.rs",
];

#[test]
fn only_the_printer_prints() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let entry = entry.unwrap().path();
        // Programs of the tests print what they like.
        if !entry.ends_with("kennel-testkit") {
            collect(&entry.join("src"), &mut files);
        }
    }
    assert!(files.len() > 300, "the sources are not where they were: {}", files.len());
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(crates).unwrap().to_str().unwrap().to_owned();
        if ALLOWED.contains(&name.as_str()) || name.ends_with("_tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if PRINTING.iter().any(|printing| code.contains(printing)) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "print through `crate::screen`:\n{}", found.join("\n"));
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
