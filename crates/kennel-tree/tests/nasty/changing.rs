//! Trees that are changed while they are looked at.

use crate::scene::{Scene, block_on, generous};
use kennel_tree::{Bound, Bounds, TreeError};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Does something again and again while something else is done.
fn meanwhile(again: impl Fn() + Sync, work: impl FnOnce()) {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                again();
            }
        });
        work();
        ended.store(true, Ordering::Relaxed);
    });
}

pub(crate) fn a_file_that_grows_is_read_to_its_bound() {
    let scene = Scene::new();
    let path = scene.tree().join("log");
    fs::write(&path, "").unwrap();
    let full = 200 << 20;
    let grow = || {
        let mut file = File::options().append(true).open(&path).unwrap();
        if file.metadata().unwrap().len() < full {
            file.write_all(&vec![b'x'; 1 << 16]).unwrap();
        }
    };
    meanwhile(grow, || {
        let outcome = block_on(async {
            let bounds = Bounds { bytes: 1 << 20, ..generous() };
            let mut session = scene.open(bounds).await;
            loop {
                let _ = fs::remove_file(scene.root.join("files"));
                if let Err(error) = session.record(Path::new("tree"), Path::new("files")).await {
                    return error;
                }
            }
        });
        assert!(matches!(outcome, TreeError::Exceeded { bound: Bound::Bytes, .. }), "{outcome}");
    });
    scene.assert_removable();
}

pub(crate) fn a_directory_that_becomes_a_link_leads_nowhere() {
    for _ in 0..5 {
        let scene = Scene::new();
        let (one, other) = (scene.tree().join("one"), scene.tree().join("other"));
        fs::create_dir_all(one.join("a/b")).unwrap();
        for number in 0..300 {
            fs::write(one.join(format!("a/{number}")), "").unwrap();
            fs::write(one.join(format!("a/b/{number}")), "").unwrap();
        }
        symlink(&scene.outside, &other).unwrap();
        let swap = || {
            // Removed in the middle of it.
            let _ = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
        };
        meanwhile(swap, || {
            block_on(async {
                let mut session = scene.open(generous()).await;
                for round in 0..20 {
                    let list = format!("files-{round}");
                    // It may say that something vanished; it must end, and read nothing that is outside.
                    let _ = session.record(Path::new("tree"), Path::new(&list)).await;
                    let list = fs::read_to_string(scene.root.join(&list)).unwrap_or_default();
                    assert!(!list.contains("secret"), "{list}");
                    let read = session.read(Path::new("tree/one/secret"), 100).await;
                    assert!(!matches!(read, Ok(Some(_))), "{read:?}");
                }
                let _ = session.remove(Path::new("tree")).await;
            });
        });
        scene.assert_untouched();
        scene.assert_removable();
    }
}
