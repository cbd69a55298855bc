//! Helpers that fail, lie or are late, and who ends them.

use crate::generator::wide;
use crate::scene::{Scene, block_on, generous};
use kennel_tree::{Bound, Bounds, TreeError, Trees};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The first argument of this program when it is to be killed in the middle of its work.
pub(crate) const CALLER: &str = "__caller";

/// A program that does as a script says when it should be a helper.
fn script(scene: &Scene, text: &str) -> Trees {
    let path = scene.outside.with_file_name("helper");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Trees::with_program(path)
}

/// Asks a helper for something.
fn asked(scene: &Scene, trees: &Trees, time: Duration) -> TreeError {
    block_on(async {
        let mut session = match trees.open(&scene.root, Bounds { time, ..generous() }).await {
            Ok(session) => session,
            Err(error) => return error,
        };
        session.read(Path::new("tree/file"), 100).await.unwrap_err()
    })
}

const LONG: Duration = Duration::from_mins(2);

pub(crate) fn a_helper_that_fails_is_an_error() {
    let scene = Scene::new();
    for (text, how) in [("exit 7", "7"), ("kill -9 $$", "9"), ("kill -ABRT $$", "6"), ("exec /bin/true", "0")] {
        let error = asked(&scene, &script(&scene, text), LONG);
        assert!(matches!(&error, TreeError::Ended { how: said, .. } if said.contains(how)), "{text}: {error}");
        assert!(error.is_transient());
    }
    let error = asked(&scene, &Trees::with_program("/nonexistent"), LONG);
    assert!(matches!(error, TreeError::Start { .. }), "{error}");
}

pub(crate) fn a_helper_that_answers_nonsense_is_an_error() {
    let scene = Scene::new();
    for text in [
        "printf '\\377\\377\\377\\377'; sleep 60",
        "printf '\\003\\000\\000\\000\\377\\377\\377'; sleep 60",
        // An answer to another question: `Done`.
        "printf '\\001\\000\\000\\000\\000'; sleep 60",
        // A file of many bytes, of which there is one.
        "printf '\\007\\000\\000\\000\\002\\001\\377\\377\\377\\177x'; sleep 60",
    ] {
        let error = asked(&scene, &script(&scene, text), LONG);
        assert!(matches!(error, TreeError::Garbage { .. }), "{text}: {error}");
    }
    let error = asked(&scene, &script(&scene, "cat /dev/zero"), LONG);
    assert!(matches!(error, TreeError::Garbage { .. }), "{error}");
}

pub(crate) fn a_helper_that_is_late_is_killed() {
    let scene = Scene::new();
    let pid = scene.outside.with_file_name("pid");
    let trees = script(&scene, &format!("echo $$ > {}; exec sleep 600", pid.display()));
    let error = asked(&scene, &trees, Duration::from_millis(500));
    assert!(matches!(error, TreeError::Timeout { .. }), "{error}");
    assert_ends(fs::read_to_string(&pid).unwrap().trim());
}

pub(crate) fn a_helper_says_that_its_time_is_over() {
    let scene = Scene::new();
    wide(&scene.tree().join("wide"), 20_000);
    block_on(async {
        let bounds = Bounds { time: Duration::from_millis(5), ..generous() };
        let error = scene.open(bounds).await.remove(Path::new("tree")).await.unwrap_err();
        assert!(matches!(error, TreeError::Exceeded { bound: Bound::Time, .. } | TreeError::Timeout { .. }), "{error}");
    });
    scene.assert_removable();
}

pub(crate) fn a_helper_ends_when_it_is_dropped() {
    let scene = Scene::new();
    block_on(async {
        let session = scene.open(generous()).await;
        let children = children_of(std::process::id(), &scene);
        assert_eq!(children.len(), 1, "{children:?}");
        drop(session);
        // In the runtime, which reaps it.
        tokio::task::spawn_blocking(move || assert_ends(&children[0])).await.unwrap();
    });
}

pub(crate) fn a_helper_ends_with_its_caller() {
    let scene = Scene::new();
    wide(&scene.tree().join("wide"), 1000);
    let mut caller = Command::new(std::env::current_exe().unwrap());
    caller.arg(CALLER).arg(&scene.root).stdout(Stdio::piped());
    let mut caller = caller.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(caller.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let children = children_of(caller.id(), &scene);
    assert_eq!(children.len(), 1, "{line}: {children:?}");
    caller.kill().unwrap();
    caller.wait().unwrap();
    assert_ends(&children[0]);
}

/// Has a helper work for ever.
pub(crate) fn run_as_caller() {
    let root = PathBuf::from(std::env::args_os().nth(2).unwrap());
    block_on(async {
        let mut session = Trees::default().open(&root, generous()).await.unwrap();
        println!("open");
        loop {
            session.measure(Path::new("tree")).await.unwrap();
        }
    });
}

pub(crate) fn a_helper_has_limits_and_sees_nothing_else() {
    let scene = Scene::new();
    block_on(async {
        let mut session = scene.open(generous()).await;
        session.measure(Path::new("tree")).await.unwrap();
        let children = children_of(std::process::id(), &scene);
        let read = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", children[0])).unwrap();
        let limits = read("limits");
        let limit = |name: &str| {
            let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
            line[name.len()..].split_whitespace().next().unwrap().to_owned()
        };
        assert_eq!(limit("Max core file size"), "0");
        assert_eq!(limit("Max address space"), (1_u64 << 30).to_string());
        assert_eq!(limit("Max open files"), "512");
        assert!(read("status").contains("NoNewPrivs:\t1"));
        assert_eq!(read("environ"), "");
        assert_eq!(read("cmdline"), "kennel\0__tree-helper\0");
    });
}

/// The helpers of a process that have this scene's root open.
fn children_of(pid: u32, scene: &Scene) -> Vec<String> {
    let begin = Instant::now();
    loop {
        let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_child = |child: &String| {
            let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
            status.contains(&format!("\nPPid:\t{pid}\n"))
        };
        let has_open = |child: &String| {
            let links = fs::read_dir(format!("/proc/{child}/fd")).into_iter().flatten().flatten();
            links.filter_map(|link| fs::read_link(link.path()).ok()).any(|link| link == scene.root)
        };
        let found = all.filter(is_child).filter(has_open).collect::<Vec<_>>();
        if !found.is_empty() || begin.elapsed() > LONG {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for the end of a process.
#[track_caller]
fn assert_ends(pid: &str) {
    let begin = Instant::now();
    let lives = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("State:\tZ")
    };
    while lives() {
        assert!(begin.elapsed() < LONG, "{pid} still lives");
        std::thread::sleep(Duration::from_millis(5));
    }
}
