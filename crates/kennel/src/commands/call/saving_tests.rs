use super::{Folder, extension};

#[test]
fn nothing_is_written_over() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("echo-1.png"), "mine").unwrap();
    std::os::unix::fs::symlink("/no/such/target", directory.path().join("echo-2.png")).unwrap();
    let mut folder = Folder::open(directory.path(), "echo").unwrap();
    assert_eq!(folder.save(b"new", "png").unwrap(), directory.path().join("echo-3.png"));
    assert_eq!(std::fs::read(directory.path().join("echo-1.png")).unwrap(), b"mine");
    assert_eq!(std::fs::read(directory.path().join("echo-3.png")).unwrap(), b"new");
}

#[test]
fn a_file_is_no_folder() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Folder::open(file.path(), "echo").is_err());
}

#[test]
fn extensions_come_from_the_type_alone() {
    for (mime, expected) in [
        ("image/png", "png"),
        ("IMAGE/JPEG", "jpg"),
        ("text/html; charset=utf-8", "html"),
        ("text/x-python", "txt"),
        ("application/../../x", "bin"),
        ("", "bin"),
    ] {
        assert_eq!(extension(mime), expected, "{mime}");
    }
}
