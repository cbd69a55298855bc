//! Owns the replay of fuzzing corpora in ordinary tests.

use std::path::Path;
use std::{fs, io};

/// Gives every input in `fuzz/corpus/TARGET` to what the fuzz target of that name runs, which panics at a finding.
///
/// # Errors
/// The corpus cannot be read, or is empty: then nothing would be tested.
pub fn replay_corpus(target: &str, run: impl Fn(&[u8])) -> io::Result<()> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let failed = |error: io::Error| io::Error::other(format!("{}: {error}", directory.display()));
    let mut count = 0;
    for entry in fs::read_dir(&directory).map_err(failed)? {
        let path = entry?.path();
        let input = fs::read(&path)?;
        // Shown only if the input is a finding.
        println!("{}", path.display());
        run(&input);
        count += 1;
    }
    if count == 0 { Err(failed(io::Error::other("the corpus is empty"))) } else { Ok(()) }
}
