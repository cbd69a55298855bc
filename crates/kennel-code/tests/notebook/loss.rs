use crate::support::{Bench, OWNER, finished, has_note, holder, until};
use kennel_code::cell::Status;
use std::time::Duration;

async fn is_lost(bench: &Bench, code: &str, reason: &str) {
    assert_eq!(bench.value("kept = 1; kept").await, "1");
    let result = bench.run(code).await;
    assert_eq!(result.status, Status::Error, "{code}: {result:?}");
    let error = result.error.clone().unwrap();
    assert!(error.kind == "InterpreterEnded" && error.message.contains(reason), "{code}: {error:?}");
    has_note(&result, &format!("state lost: {reason}"));
    let result = bench.run("'kept' in globals()").await;
    assert_eq!(result.value, "False", "{code}: {result:?}");
    assert_eq!(result.notes, [format!("state lost: {reason}")], "{code}");
}

pub(crate) async fn an_interpreter_that_ends_says_how_and_the_next_cell_has_a_new_one() {
    let bench = Bench::new().await;
    is_lost(&bench, "import os\nprint('last')\nos._exit(3)", "exited with code 3").await;
    is_lost(&bench, "import os\nos.kill(os.getpid(), 9)", "killed by signal 9").await;
    is_lost(&bench, "import ctypes\nctypes.string_at(0)", "killed by signal 11").await;
    bench.shutdown().await;
}

pub(crate) async fn what_was_written_before_a_death_is_returned() {
    let bench = Bench::new().await;
    let result = bench.run("import os\nos.write(1, b'x' * 30_000)\nos.write(2, b'dying')\nos._exit(0)").await;
    assert_eq!((result.status, &*result.stderr), (Status::Error, "dying"));
    assert!(result.stdout.starts_with("xxx") && result.stdout.contains("20,000 bytes left out"));
    bench.shutdown().await;
}

pub(crate) async fn a_death_between_cells_is_told_to_the_next() {
    let bench = Bench::new().await;
    bench.value("import threading, os, time\ngo = threading.Event()\n1").await;
    let code = "threading.Thread(target=lambda: (time.sleep(0.05), os._exit(4)), daemon=True).start()";
    bench.run(code).await;
    until("the interpreter goes on", || bench.registry.count().1 == 0).await;
    let result = bench.run("'go' in globals()").await;
    assert_eq!((&*result.value, &result.notes), ("False", &vec!["state lost: exited with code 4".to_owned()]));
    bench.shutdown().await;
}

pub(crate) async fn an_idle_interpreter_is_stopped_and_the_next_cell_says_so() {
    let bench = Bench::with(|settings| settings.notebook.idle = Duration::from_millis(200)).await;
    bench.value("kept = 1; kept").await;
    until("the interpreter stays", || bench.registry.count() == (1, 0)).await;
    let result = bench.run("'kept' in globals()").await;
    assert_eq!((&*result.value, &result.notes), ("False", &vec!["state lost: idle for 200 ms".to_owned()]));
    bench.shutdown().await;
}

pub(crate) async fn a_cell_that_runs_longer_than_the_idle_time_is_not_idle() {
    let bench = Bench::with(|settings| settings.notebook.idle = Duration::from_millis(100)).await;
    let result = bench.run("import time\ntime.sleep(0.5)\n'there'").await;
    assert_eq!((result.status, &*result.value), (Status::Success, "'there'"), "{result:?}");
    bench.shutdown().await;
}

pub(crate) async fn the_end_of_a_notebook_ends_its_cells() {
    let bench = Bench::new().await;
    let running = bench.start("while True: pass");
    let waiting = bench.start("1");
    assert!(bench.registry.end(holder(OWNER).owner(), "main").await);
    assert!(!bench.registry.end(holder(OWNER).owner(), "main").await);
    let (running, waiting) = (finished(&running).await, finished(&waiting).await);
    assert_eq!((running.status, waiting.status), (Status::Error, Status::Error), "{running:?} {waiting:?}");
    assert_eq!(waiting.error.unwrap().kind, "NotebookClosed");
    // A new one of the same name begins without a word.
    assert!(bench.run("1").await.notes.is_empty());
    bench.shutdown().await;
}
