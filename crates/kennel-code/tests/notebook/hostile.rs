//! Code that uses up what its box has, or turns on its own interpreter.

use crate::support::{Bench, PATIENCE, has_note};
use kennel_code::cell::Status;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(500);

pub(crate) async fn a_fork_bomb_ends_with_its_timeout() {
    let bench = Bench::new().await;
    let code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass";
    let result = bench.run_for(code, SHORT).await;
    assert_eq!(result.status, Status::Timeout, "{result:?}");
    assert_eq!(bench.value("1 + 1").await, "2");
    bench.shutdown().await;
}

pub(crate) async fn too_many_threads_are_an_error_of_the_code() {
    let bench = Bench::new().await;
    let code = "import threading\nstop = threading.Event()\nfor _ in range(1000):\n    threading.Thread(target=stop.wait, daemon=True).start()";
    let result = bench.run(code).await;
    assert_eq!((result.status, &*result.error.unwrap().kind), (Status::Error, "RuntimeError"));
    assert_eq!(bench.value("stop.set(); 1 + 1").await, "2");
    bench.shutdown().await;
}

pub(crate) async fn all_memory_is_an_error_or_costs_the_interpreter() {
    let bench = Bench::new().await;
    bench.value("kept = 1").await;
    let result = bench.run("hoard = []\nwhile True: hoard.append(bytearray(1 << 20))").await;
    assert_eq!(result.status, Status::Error, "{result:?}");
    // What holds the limit of memory decides which of the two it is.
    let next = bench.run("globals().pop('hoard', None)\n'kept' in globals()").await;
    match result.error.unwrap() {
        error if error.kind == "MemoryError" => assert_eq!((&*next.value, next.notes.len()), ("True", 0)),
        error => {
            assert!(error.message.contains("out of memory"), "{error:?}");
            assert_eq!(next.value, "False", "{next:?}");
            has_note(&next, "state lost: out of memory");
        }
    }
    bench.shutdown().await;
}

pub(crate) async fn a_full_workspace_is_an_error_of_the_code() {
    let bench = Bench::new().await;
    let code = "with open('/workspace/big', 'wb') as file:\n    for _ in range(1000): file.write(bytes(1 << 20))";
    let result = bench.run(code).await;
    assert_eq!((result.status, &*result.error.unwrap().kind), (Status::Error, "OSError"));
    assert_eq!(bench.value("import os\nos.remove('/workspace/big')\n1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn an_interpreter_that_stops_itself_is_killed() {
    let bench = Bench::with(|settings| settings.notebook.grace = SHORT).await;
    let result = bench.run_for("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", SHORT).await;
    assert_eq!(result.status, Status::Timeout, "{result:?}");
    has_note(&result, "state lost: killed because it did not stop within 500 ms");
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn an_interpreter_that_becomes_another_program_is_given_up() {
    let bench = Bench::with(|settings| settings.notebook.exit = Duration::from_millis(300)).await;
    let result = bench.run("import os\nprint('last', flush=True)\nos.execv('/bin/sleep', ['sleep', '1000'])").await;
    assert_eq!((result.status, &*result.stdout), (Status::Error, "last\n"), "{result:?}");
    has_note(&result, "state lost: it closed its channel to Kennel");
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn programs_that_are_left_behind_hold_nothing_up() {
    // Only the end of the streams can end the wait for them.
    let long = PATIENCE * 60;
    let bench = Bench::with(|settings| (settings.output.quiet, settings.output.settle) = (long, long)).await;
    let code = "import subprocess, os\nsubprocess.Popen(['sleep', '1000'])\n";
    assert_eq!(bench.run(&format!("{code}1")).await.value, "1");
    let result = bench.run(&format!("{code}print('last', flush=True)\nos._exit(5)")).await;
    assert_eq!((result.status, &*result.stdout), (Status::Error, "last\n"), "{result:?}");
    has_note(&result, "state lost: exited with code 5");
    bench.shutdown().await;
}

pub(crate) async fn killing_everything_else_harms_nothing() {
    let bench = Bench::new().await;
    let result = bench.run("kept = 1\nimport os, signal\nos.kill(-1, signal.SIGKILL)").await;
    assert_ne!(result.status, Status::Running);
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn a_flood_that_goes_on_between_cells_ends_no_cell() {
    let bench = Bench::new().await;
    let code = "import threading, os\ndef flood():\n    while True: os.write(1, b'x' * 10_000)\n\
        threading.Thread(target=flood, daemon=True).start()\n1";
    assert_eq!(bench.run(code).await.value, "1");
    for _ in 0..3 {
        let result = bench.run("print('mine')\n2").await;
        assert_eq!((result.status, &*result.value), (Status::Success, "2"), "{:?}", result.error);
    }
    bench.shutdown().await;
}
