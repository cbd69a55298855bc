//! Trees of chance, and all that can be asked about them.

use crate::generator::{make, tree};
use crate::scene::{Scene, block_on, generous};
use kennel_tree::{Bounds, Place, Session, TreeError};
use proptest::test_runner::{Config, TestRunner};
use std::path::{Path, PathBuf};

pub(crate) fn any_tree_is_listed_read_and_removed() {
    let config = Config { cases: 48, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let outcome = TestRunner::new(config).run(&tree(), |nodes| {
        let scene = Scene::in_memory();
        make(&scene.tree(), &scene.outside, &nodes);
        block_on(look_at(&scene));
        scene.assert_removable();
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Asks everything; whatever is answered, it is answered.
async fn look_at(scene: &Scene) {
    let tree = Path::new("tree");
    let mut session = scene.open(generous()).await;
    let recorded = session.record(tree, Path::new("files")).await;
    match &recorded {
        Ok(recorded) => {
            let compared = session.compare(tree, Path::new("files")).await.unwrap();
            assert_eq!((compared.digest, compared.changes), (recorded.digest.clone(), Vec::new()));
        }
        Err(error) => assert!(matches!(error, TreeError::Exceeded { .. }), "{error}"),
    }
    assert_bounded(&session.measure(tree).await);
    assert_bounded(&session.find_set_id(tree).await);
    read_all(&mut session, scene).await;
    // The same with bounds that nearly every tree exceeds.
    let small = Bounds { depth: 2, entries: 3, bytes: 100, names: 50, ..generous() };
    let mut session = scene.open(small).await;
    assert_bounded(&session.record(tree, Path::new("other")).await);
    assert_bounded(&session.measure(tree).await);
}

#[track_caller]
fn assert_bounded<T: std::fmt::Debug>(outcome: &Result<T, TreeError>) {
    assert!(matches!(outcome, Ok(_) | Err(TreeError::Exceeded { .. })), "{outcome:?}");
}

/// Resolves and reads every name of the first levels, and lists what is a directory.
async fn read_all(session: &mut Session, scene: &Scene) {
    let mut directories = vec![PathBuf::from("tree")];
    while let Some(directory) = directories.pop() {
        // Closed to an ordinary user, where it says so.
        let Ok(Some(names)) = session.names(&directory, "").await else { continue };
        for name in names.into_iter().take(30) {
            let path = directory.join(name);
            let place = session.resolve(&path).await;
            let content = session.read(&path, 1 << 20).await;
            match (&place, &content) {
                (Ok(Place::Outside { .. }), content) => assert!(content.is_err(), "{}: {content:?}", path.display()),
                (_, Ok(Some(content))) => {
                    assert!(
                        scene.root.join(&path).canonicalize().unwrap().starts_with(&scene.root),
                        "{}",
                        path.display()
                    );
                    assert!(content.len() < 1 << 20);
                }
                _ => {}
            }
            // Neither links nor chains, which have no end.
            let is_directory = scene.root.join(&path).symlink_metadata().is_ok_and(|there| there.is_dir());
            if is_directory && path.components().count() < 6 {
                directories.push(path);
            }
        }
    }
}
