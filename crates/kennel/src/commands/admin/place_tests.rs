use super::*;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;

fn place(directory: &Path) -> SocketPlace {
    SocketPlace(directory.join("deep/admin.sock"))
}

#[test]
fn the_socket_is_for_its_user_alone_and_goes_with_its_owner() {
    let directory = tempfile::tempdir().unwrap();
    let place = place(directory.path());
    let taken = place.take().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(place.path()), mode(place.path().parent().unwrap())), (0o600, 0o700));
    UnixStream::connect(place.path()).unwrap();
    drop(taken);
    assert!(!place.path().exists());
}

#[test]
fn a_second_owner_is_refused_and_a_dead_one_followed() {
    let directory = tempfile::tempdir().unwrap();
    let place = place(directory.path());
    let first = place.take().unwrap();
    let refused = place.take().unwrap_err().to_string();
    assert!(refused.contains("already serves") && refused.contains("--socket"), "{refused}");
    UnixStream::connect(place.path()).expect("the first one goes on");
    drop(first);
    // What `kill -9` leaves behind: a socket that nobody listens to.
    drop(UnixListener::bind(place.path()).unwrap());
    let _second = place.take().unwrap();
    UnixStream::connect(place.path()).unwrap();
}

#[test]
fn a_path_that_is_too_long_is_refused_with_the_way_out() {
    let directory = tempfile::tempdir().unwrap();
    let refused = SocketPlace(directory.path().join("x".repeat(120))).take().unwrap_err().to_string();
    assert!(refused.contains("too long") && refused.contains("--socket"), "{refused}");
}
