//! The Python side as it is part of this program.

use super::Source;

/// The files in the order in which they are joined.
const FILES: [&str; 15] = [
    include_str!("../../python/00_base.py"),
    include_str!("../../python/10_json.py"),
    include_str!("../../python/20_errors.py"),
    include_str!("../../python/30_channel.py"),
    include_str!("../../python/40_asks.py"),
    include_str!("../../python/50_results.py"),
    include_str!("../../python/60_signatures.py"),
    include_str!("../../python/65_servers.py"),
    include_str!("../../python/70_saved.py"),
    include_str!("../../python/75_helpers.py"),
    include_str!("../../python/80_streams.py"),
    include_str!("../../python/85_display.py"),
    include_str!("../../python/90_interrupts.py"),
    include_str!("../../python/95_cells.py"),
    include_str!("../../python/99_main.py"),
];

impl Source {
    /// The one that is part of this program.
    #[must_use]
    pub fn embedded() -> Self {
        Self { boot: include_str!("../../python/boot.py").into(), runtime: FILES.join("\n").into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn all_files_are_joined_in_the_order_of_their_names() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
        let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let is_part = |path: &Path| path.file_name().unwrap().as_encoded_bytes()[0].is_ascii_digit();
        let mut files: Vec<_> = files.filter(|path| path.is_file() && is_part(path)).collect();
        files.sort();
        let texts: Vec<_> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert_eq!(texts, FILES);
    }
}
