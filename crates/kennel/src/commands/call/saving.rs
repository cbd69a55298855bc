//! Owns the files that a result is written to: under names that Kennel chooses, and never over what is there.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How many names are tried before giving up.
const MOST_TRIED: u32 = 10_000;
/// How much of a tool's name a file name begins with.
const LONGEST_STEM: usize = 48;

/// Where files go.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    stem: String,
    last: u32,
}

impl Folder {
    /// Opens a folder, making it if it is not there; the files are named after a tool.
    pub(crate) fn open(path: &Path, tool: &str) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
        let stem: String = tool.chars().map(plain).take(LONGEST_STEM).collect();
        Ok(Self { path: path.to_owned(), stem, last: 0 })
    }

    /// Writes a new file and returns its path.
    pub(crate) fn save(&mut self, data: &[u8], extension: &str) -> io::Result<PathBuf> {
        while self.last < MOST_TRIED {
            self.last += 1;
            let path = self.path.join(format!("{}-{}.{extension}", self.stem, self.last));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => return file.write_all(data).map(|()| path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{} holds too many files of this name", self.path.display())))
    }
}

/// The usual end of a file name for a MIME type.
pub(crate) fn extension(mime: &str) -> &'static str {
    let plain = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match plain.as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "application/json" => "json",
        "application/pdf" => "pdf",
        "application/gzip" => "gz",
        "application/zip" => "zip",
        "text/html" => "html",
        "text/markdown" => "md",
        "text/csv" => "csv",
        text if text.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
#[path = "saving_tests.rs"]
mod tests;
