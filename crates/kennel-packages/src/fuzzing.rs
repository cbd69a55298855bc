//! What the fuzz targets check about this crate's parsers: any bytes may be given, and a finding is a panic.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use crate::command::Request;
use crate::output::{InstallProgress, Observer, hint};
use crate::spec::{Ecosystem, PackageSpec};
use crate::{npm, python};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

struct Nobody;

impl InstallProgress for Nobody {
    fn step(&self, text: &str) {
        assert!(text.len() <= 3 * 8192, "a step is longer than a line");
        assert!(!text.contains(is_unfit), "control letters are shown: {text:?}");
    }
}

/// A tab does no harm; every other control letter may.
fn is_unfit(letter: char) -> bool {
    letter.is_control() && letter != '\t'
}

/// What an installer prints: few lines of it are kept, short ones, and none with control letters.
pub fn installer_output(data: &[u8]) {
    let observer = Observer::new(&Nobody);
    let mut context = Context::from_waker(Waker::noop());
    // Bytes are always there, so that nothing is waited for.
    assert_eq!(pin!(observer.follow(data)).poll(&mut context), Poll::Ready(()));
    let words = observer.take_last_words();
    assert!(words.0.len() <= 20, "too many lines are kept");
    assert!(words.0.iter().all(|line| line.chars().count() <= 400), "a line is too long");
    assert!(!words.0.iter().any(|line| line.contains(is_unfit)), "control letters are kept");
    let _ = hint(&words);
}

/// What a package says about itself, as the file that the first byte chooses: npm's lock, `package.json`, pip's report,
/// `METADATA` with `RECORD`, or the name of a package, which means the same when it is written again.
pub fn package_files(data: &[u8]) {
    let Some((which, data)) = data.split_first() else { return };
    match which % 6 {
        0 => {
            let packages = npm::lock_packages(data);
            assert!(packages.is_none_or(|packages| packages.len() <= data.len()));
        }
        1 => {
            let Some(programs) = npm::described_programs("@scope/name", data) else { return };
            assert!(programs.values().all(|place| !place.as_os_str().is_empty()), "a program without a place");
        }
        2 => {
            let packages = python::report_packages(data);
            assert!(packages.is_none_or(|packages| packages.len() <= data.len()));
        }
        3 => {
            let (metadata, record) = data.split_at(data.len() / 2);
            let package = python::described(metadata, record);
            assert!(!package.version.contains('\n') && package.integrity.starts_with("record-sha256:"));
            let programs = python::recorded_programs(record);
            assert!(programs.iter().all(|program| !program.contains(['\n', ','])), "more than a name");
        }
        4 => spec(data, Ecosystem::Npm, PackageSpec::npm),
        _ => spec(data, Ecosystem::Python, PackageSpec::python),
    }
}

fn spec(data: &[u8], ecosystem: Ecosystem, read: impl Fn(&str) -> Result<PackageSpec, String>) {
    let text = String::from_utf8_lossy(data);
    let Ok(spec) = read(&text) else { return };
    let written = spec.to_text(ecosystem);
    assert!(!written.starts_with('-'), "it could be taken for a flag: {written}");
    assert!(!written.contains(char::is_control), "control letters: {written:?}");
    assert_eq!(read(&written).as_ref(), Ok(&spec), "it means something else when it is written again");
    let request = Request { ecosystem, packages: vec![spec], python: None, prereleases: false };
    assert_eq!(request.texts(), [written]);
}

#[cfg(test)]
mod tests {
    use kennel_testkit::replay_corpus;

    #[test]
    fn the_corpora_of_the_fuzzer_have_no_findings() {
        replay_corpus("installer_output", super::installer_output).unwrap();
        replay_corpus("package_files", super::package_files).unwrap();
    }
}
