//! What becomes of boxes when their helper is ended or out of memory.

use crate::scene::{block_on, engine, helpers, plan, sh, signal};
use kennel_box::{BoxError, BoxSpec, Engine};
use rustix::process::Signal;
use std::process::Command;
use std::time::Duration;

pub(crate) fn boxes_live_on_without_their_helper() {
    block_on(async {
        let (engine, plan) = (engine(), plan(&BoxSpec::default()));
        let first = engine.create(&plan).await.unwrap();
        let helper = helpers()[0];
        signal(helper, Signal::KILL);
        assert_eq!(sh(&*first, "echo alive").await.1, "alive\n");
        let second = engine.create(&plan).await.unwrap();
        assert_eq!(sh(&*second, "echo new").await.1, "new\n");
        assert_ne!(helpers(), [helper]);
        second.destroy().await.unwrap();
        first.destroy().await.unwrap();
    });
}

pub(crate) fn a_box_is_an_error_when_its_helper_dies_over_it() {
    block_on(async {
        let (engine, plan) = (engine(), plan(&BoxSpec::default()));
        engine.create(&plan).await.unwrap().destroy().await.unwrap();
        let helper = helpers()[0];
        signal(helper, Signal::STOP);
        // It gets the request, and never comes to answer it.
        let (asked, ()) = tokio::join!(engine.create(&plan), async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            signal(helper, Signal::KILL);
        });
        let error = asked.err().expect("nobody can have made the box");
        assert!(matches!(error, BoxError::Jail(_)), "{error}");
        let next = engine.create(&plan).await.unwrap();
        assert_eq!(sh(&*next, "echo new").await.1, "new\n");
        next.destroy().await.unwrap();
    });
}

pub(crate) fn a_helper_without_memory_is_an_error_and_no_end() {
    block_on(async {
        let (engine, plan) = (engine(), plan(&BoxSpec::default()));
        let first = engine.create(&plan).await.unwrap();
        let helper = helpers()[0];
        for size in ["1", "30000000", "40000000", "60000000"] {
            limit_memory(helper, size);
            // Whatever the helper can still do, there is an answer, and never a box that is not whole.
            match engine.create(&plan).await {
                Ok(made) => {
                    made.destroy().await.unwrap();
                }
                Err(error) => assert!(matches!(error, BoxError::Jail(_)), "{error}"),
            }
        }
        limit_memory(helper, "unlimited");
        let next = engine.create(&plan).await.unwrap();
        assert_eq!(sh(&*next, "echo new").await.1, "new\n");
        assert_eq!(sh(&*first, "echo alive").await.1, "alive\n");
        next.destroy().await.unwrap();
        first.destroy().await.unwrap();
    });
}

/// It may be gone, and then there is nothing to be limited.
fn limit_memory(pid: i32, size: &str) {
    let _ = Command::new("prlimit").args([format!("--pid={pid}"), format!("--as={size}:")]).output().unwrap();
}
