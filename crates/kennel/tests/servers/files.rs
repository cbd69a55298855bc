//! The filesystem server sees the directory that its command names, and no more than that.

use crate::clients::{Answers, python};
use crate::scene::{Scene, node_server};
use serde_json::json;
use std::ffi::OsString;
use std::fs;

/// The server, allowed by its own rules to use these directories.
fn server(directories: &[&str]) -> Vec<OsString> {
    let mut server = node_server("KENNEL_TEST_SERVER_FILESYSTEM");
    server.extend(directories.iter().map(OsString::from));
    server
}

#[test]
fn what_is_outside_of_the_granted_directory_is_refused() {
    let scene = Scene::new();
    let directory = scene.ground.make_directory("work/granted");
    scene.ground.make_file("work/granted/file", "inside", 0o644);
    let secret = scene.ground.make_file("work/secret", "outside", 0o644);
    let inside = json!({ "path": scene.ground.text("work/granted/file") });
    let outside = json!({ "path": secret });
    // By the server itself, ...
    let served = scene.serve(&[], &server(&[directory.to_str().unwrap()]));
    assert_eq!(python(&served, Answers::Nothing, "read_text_file", &inside).fine(), "inside");
    let seen = python(&served, Answers::Nothing, "read_text_file", &outside);
    assert!(seen.failed() && seen.text().contains("Access denied"), "{seen:?}");
    served.stop();
    // ... and by the box where the server has no objection.
    let served = scene.serve(&[], &server(&["/", directory.to_str().unwrap()]));
    assert_eq!(python(&served, Answers::Nothing, "read_text_file", &inside).fine(), "inside");
    let seen = python(&served, Answers::Nothing, "read_text_file", &outside);
    assert!(seen.failed() && seen.text().contains("ENOENT"), "{seen:?}");
    served.stop();
    scene.ground.assert_clean();
}

#[test]
fn the_granted_directory_is_written_only_where_a_flag_says_so() {
    let scene = Scene::new();
    let directory = scene.ground.make_directory("work/granted");
    let directory = directory.to_str().unwrap();
    let file = scene.ground.path("work/granted/new");
    let arguments = json!({ "path": file, "content": "written in a box" });
    let served = scene.serve(&[], &server(&[directory]));
    let seen = python(&served, Answers::Nothing, "write_file", &arguments);
    assert!(seen.failed() && seen.text().contains("EROFS"), "{seen:?}");
    assert!(!file.exists());
    served.stop();
    let served = scene.serve(&["--write", directory], &server(&[directory]));
    python(&served, Answers::Nothing, "write_file", &arguments).fine();
    assert_eq!(fs::read_to_string(&file).unwrap(), "written in a box");
    served.stop();
    scene.ground.assert_clean();
}
