//! What lets servers do more is taken up only from a file that nobody but the operator can write.

use crate::scene::{Payload, Serving, script};
use crate::support::alone;
use crate::support::caller::callers;
use crate::support::ground::Ground;
use crate::support::waiting::{PATIENCE, settle};
use std::os::unix::fs::{PermissionsExt, symlink};

/// The operator moves the file to where a box can write it, in one of several ways.
#[derive(Debug, Clone, Copy)]
enum Moved {
    /// Into a directory that was granted, and a symlink to it is left.
    IntoTheGrant,
    /// With the granted directory, which goes to where the file is looked for.
    WithTheGrant,
}

#[test]
fn a_wider_definition_waits_where_a_box_can_write_the_file() {
    let _alone = alone();
    for caller in callers() {
        for moved in [Moved::IntoTheGrant, Moved::WithTheGrant] {
            let ground = Ground::new(caller);
            for name in ["data", "conf", "open"] {
                ground.make_directory(name);
            }
            let payload = Payload::new(&ground);
            // In the box the grant stays where it was.
            let inside = ground.path("open/kennel.toml");
            let keys = format!("box = {{ write = [{:?}] }}", ground.text("open"));
            let notes = script("notes", &payload.added_to(&inside), &keys);
            let file = ground.make_file("conf/kennel.toml", notes, 0o644);
            let mut serving = Serving::start(&ground, &file, &[]);
            // The box runs.
            settle(PATIENCE, || {
                let status = serving.status();
                (status["servers"][0]["processes"] != 1).then(|| status.to_string())
            })
            .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(500));
            match moved {
                Moved::IntoTheGrant => {
                    symlink("../open/kennel.toml", ground.path("conf/new")).unwrap();
                    ground.make_file("open/temporary", std::fs::read(&file).unwrap(), 0o644);
                    std::fs::rename(ground.path("open/temporary"), ground.path("open/kennel.toml")).unwrap();
                }
                Moved::WithTheGrant => {
                    ground.make_file("open/temporary", std::fs::read(&file).unwrap(), 0o644);
                    std::fs::rename(ground.path("open/temporary"), ground.path("open/kennel.toml")).unwrap();
                    std::fs::rename(ground.path("open"), ground.path("elsewhere")).unwrap();
                    symlink("../elsewhere/kennel.toml", ground.path("conf/new")).unwrap();
                }
            }
            std::fs::rename(ground.path("conf/new"), &file).unwrap();
            // What the box adds is seen within a second, and would run at once.
            let waits = serving.event("reload_waits");
            let text = waits["text"].as_str().unwrap_or_default().to_owned() + &waits.to_string();
            assert!(text.contains("evil") && text.contains("without a box"), "{caller:?} {moved:?}: {waits}");
            assert!(text.contains("notes"), "it says whose box: {waits}");
            let status = serving.status();
            assert_eq!(status["servers"].as_array().unwrap().len(), 1, "{status}");
            let number = status["waiting"]["number"].as_u64().expect("ps says what waits");
            let refused = serving.kennel(&["reload"]);
            assert_eq!(refused.code, Some(1), "{refused:?}");
            assert!(refused.err().contains("evil: is new, and runs without a box"), "{refused:?}");
            let shown = serving.kennel(&["ps"]).fine();
            assert!(shown.contains("kennel reload --accept") && shown.contains("evil"), "{shown}");
            let other = serving.kennel(&["reload", &format!("--accept={}", number + 7)]);
            assert_eq!(other.code, Some(1), "{other:?}");
            assert!(!payload.has_run(), "{}", serving.said());
            // The operator's word.
            let accepted = serving.kennel(&["reload", "--accept"]);
            assert!(accepted.fine().contains("added: evil"), "{accepted:?}");
            settle(PATIENCE, || (!payload.has_run()).then(|| "the accepted server did not run".to_owned())).unwrap();
            assert_eq!(serving.status()["waiting"], serde_json::Value::Null);
        }
    }
}

#[test]
fn a_file_that_other_users_can_write_may_only_take_away() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("data");
        ground.make_directory("conf");
        let payload = Payload::new(&ground);
        let plain = |name: &str| format!("[servers.{name}]\ncommand = \"true\"\n");
        let file = ground.make_file("conf/kennel.toml", plain("one") + &plain("two"), 0o644);
        let serving = Serving::start(&ground, &file, &[]);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
        std::fs::write(&file, plain("one") + "box = { write = [\"/srv\"] }\n" + &payload.text).unwrap();
        let waits = serving.kennel(&["reload"]);
        assert_eq!(waits.code, Some(1), "{waits:?}");
        assert!(waits.err().contains("other users can write") && waits.err().contains("evil"), "{waits:?}");
        let inspected = serving.kennel(&["inspect", "one"]).fine();
        assert!(inspected.contains("waits") && inspected.contains("may write `/srv`"), "{inspected}");
        let names = || -> Vec<String> {
            let status = serving.status();
            let servers = status["servers"].as_array().unwrap().clone();
            servers.iter().map(|server| server["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(), ["one", "two"], "all or nothing");
        std::fs::write(&file, plain("one")).unwrap();
        serving.kennel(&["reload"]).fine();
        assert_eq!(names(), ["one"]);
        assert!(!payload.has_run());
        // Nobody else can write it any more, so it is taken at its word.
        std::fs::write(&file, plain("one") + &plain("three")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        serving.kennel(&["reload"]).fine();
        assert_eq!(names(), ["one", "three"]);
    }
}

#[test]
fn a_file_that_is_replaced_by_a_pipe_keeps_nobody_waiting() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("data");
        let file = ground.make_file("work/kennel.toml", "[servers.one]\ncommand = \"true\"\n", 0o644);
        let serving = Serving::start(&ground, &file, &[]);
        std::fs::remove_file(&file).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let refused = serving.kennel(&["reload"]);
        assert!(refused.code == Some(1) && refused.err().contains("no regular file"), "{caller:?}: {refused:?}");
        assert_eq!(serving.status()["servers"][0]["name"], "one");
    }
}
