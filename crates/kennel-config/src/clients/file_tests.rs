use super::*;
use std::os::unix::fs::symlink;
use std::time::Duration;

fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_hours(498_564)
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn times_are_written_as_calendars_have_them() {
    let cases = [
        (0, "19700101T000000Z"),
        (951_782_400, "20000229T000000Z"),
        (1_794_830_400, "20261116T120000Z"),
        (4_102_444_799, "20991231T235959Z"),
    ];
    for (seconds, expected) in cases {
        assert_eq!(stamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
    }
}

#[test]
fn what_was_there_is_kept_with_its_mode() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("list.json");
    fs::write(&file, "old").expect("a file");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("a mode");
    let written = replace(&file, Some(b"old"), b"new", noon()).expect("a change");
    let backup = written.backup.expect("a copy");
    assert_eq!(backup.file_name().expect("a name"), "list.json.bak-20261116T120000Z");
    assert_eq!((fs::read(&file).expect("new"), fs::read(&backup).expect("old")), (b"new".to_vec(), b"old".to_vec()));
    for file in [&file, &backup] {
        assert_eq!(fs::metadata(file).expect("a file").permissions().mode() & 0o7777, 0o640);
    }
    // In the same second again.
    replace(&file, Some(b"new"), b"newer", noon()).expect("a change");
    let expected = ["list.json", "list.json.bak-20261116T120000Z", "list.json.bak-20261116T120000Z-2"];
    assert_eq!(names(directory.path()), expected);
}

#[test]
fn a_new_file_is_private_and_has_no_copy() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("deep/er/kennel.toml");
    let written = replace(&file, None, b"x", noon()).expect("a file");
    assert_eq!(written, Written { file: file.clone(), backup: None });
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o7777, 0o600);
}

#[test]
fn links_stay_links() {
    let directory = tempfile::tempdir().expect("a directory");
    let (real, link) = (directory.path().join("real.json"), directory.path().join("link.json"));
    fs::write(&real, "old").expect("a file");
    symlink("real.json", &link).expect("a link");
    let written = replace(&link, Some(b"old"), b"new", noon()).expect("a change");
    assert_eq!(written.file, real);
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert_eq!(fs::read(&real).expect("new"), b"new");
    // A link to what is not there yet.
    let dangling = directory.path().join("dangling.json");
    symlink("made.json", &dangling).expect("a link");
    replace(&dangling, None, b"made", noon()).expect("a file");
    assert_eq!(fs::read(directory.path().join("made.json")).expect("made"), b"made");
    // Links in a circle.
    let (one, two) = (directory.path().join("one"), directory.path().join("two"));
    symlink("two", &one).expect("a link");
    symlink("one", &two).expect("a link");
    assert!(matches!(replace(&one, None, b"", noon()), Err(WriteError::System { .. })));
}

#[test]
fn a_file_that_changed_meanwhile_is_left_as_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("list.json");
    fs::write(&file, "other").expect("a file");
    assert!(matches!(replace(&file, Some(b"old"), b"new", noon()), Err(WriteError::Changed { .. })));
    assert!(matches!(replace(&file, None, b"new", noon()), Err(WriteError::Changed { .. })));
    assert_eq!(fs::read(&file).expect("a file"), b"other");
    assert_eq!(names(directory.path()), ["list.json"]);
}
