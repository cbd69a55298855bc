//! A granted path that somebody else, such as another box that may write beside it, makes lead elsewhere.

use crate::scene::{block_on, engine, plan, sh};
use kennel_box::{AccessMode, BoxError, BoxSpec, Engine, MountSpec};
use kennel_jail::JailError;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

/// Boxes that are made at most until both sides of the race were seen.
const MOST: usize = 400;

pub(crate) fn a_swapped_path_shows_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for name in ["shared", "shared/inner", "shared/other", "private"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    fs::write(root.join("shared/inner/file"), "granted\n").unwrap();
    fs::write(root.join("private/file"), "private\n").unwrap();
    fs::write(root.join("shared/other/file"), "other\n").unwrap();
    symlink(root.join("private"), root.join("shared/link")).unwrap();
    let inner = root.join("shared/inner");
    let mount = MountSpec { host_path: inner.clone(), mount_path: Some("/granted".into()), mode: AccessMode::ReadOnly };
    let plan = plan(&BoxSpec { mounts: vec![mount], ..BoxSpec::default() });
    let over = AtomicBool::new(false);
    let (mut right, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let swap = |name: &str| {
                renameat_with(CWD, &inner, CWD, root.join("shared").join(name), RenameFlags::EXCHANGE).unwrap();
            };
            while !over.load(Ordering::Relaxed) {
                for name in ["link", "link", "other", "other"] {
                    swap(name);
                    std::thread::sleep(std::time::Duration::from_micros(300));
                }
            }
        });
        block_on(async {
            let engine = engine();
            for _ in 0..MOST {
                match engine.create(&plan).await {
                    Ok(made) => {
                        let (_, text) = sh(&*made, "cat /granted/file").await;
                        over.store(text != "granted\n", Ordering::Relaxed);
                        assert_eq!(text, "granted\n");
                        right += 1;
                        made.destroy().await.unwrap();
                    }
                    Err(BoxError::Jail(JailError::Refused(_))) => refused += 1,
                    Err(error) => {
                        over.store(true, Ordering::Relaxed);
                        panic!("{error}");
                    }
                }
                if right > 5 && refused > 5 {
                    break;
                }
            }
            over.store(true, Ordering::Relaxed);
        });
    });
    assert!(right > 0 && refused > 0, "no race: {right} boxes, {refused} refused");
}
