use crate::support::{Bench, finished, has_note, printed};
use kennel_code::cell::Status;
use kennel_code::notebook::Stage;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(300);

pub(crate) async fn a_cell_that_takes_too_long_is_interrupted_and_its_state_stays() {
    let bench = Bench::new().await;
    assert_eq!(bench.value("kept = 'yes'; kept").await, "'yes'");
    for code in [
        "while True: pass",
        "import time\nprint('before', flush=True)\ntime.sleep(1000)",
        "import asyncio\nawait asyncio.sleep(1000)",
        "import subprocess\nsubprocess.run(['sleep', '1000'])",
        "import threading\nthreading.Event().wait()",
    ] {
        let result = bench.run_for(code, SHORT).await;
        assert_eq!(result.status, Status::Timeout, "{code}: {result:?}");
        assert!(result.notes == ["interrupted after 300 ms"], "{code}: {result:?}");
        assert_eq!(bench.value("kept").await, "'yes'", "after {code}");
    }
    bench.shutdown().await;
}

pub(crate) async fn output_before_a_timeout_is_returned() {
    let bench = Bench::new().await;
    let result = bench.run_for("import time\nprint('before')\ntime.sleep(1000)", SHORT).await;
    assert_eq!((result.status, &*result.stdout), (Status::Timeout, "before\n"));
    bench.shutdown().await;
}

pub(crate) async fn a_cell_that_does_not_stop_is_killed_and_the_next_one_hears_of_it() {
    let bench = Bench::with(|settings| {
        settings.notebook.grace = Duration::from_millis(500);
        settings.notebook.interrupt_every = Duration::from_millis(100);
    })
    .await;
    bench.value("kept = 1").await;
    for code in [
        "print('deaf', flush=True)\nimport time\nwhile True:\n    try: time.sleep(1000)\n    except BaseException: pass",
        "print('deaf', flush=True)\nimport signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\nwhile True: time.sleep(1000)",
    ] {
        let result = bench.run_for(code, SHORT).await;
        assert_eq!((result.status, &*result.stdout), (Status::Timeout, "deaf\n"), "{result:?}");
        has_note(&result, "state lost: killed because it did not stop within 500 ms");
        let result = bench.run("'kept' in globals()").await;
        assert_eq!((result.status, &*result.value), (Status::Success, "False"));
        has_note(&result, "state lost: killed because it did not stop within 500 ms");
        assert!(bench.run("1").await.notes.is_empty());
    }
    bench.shutdown().await;
}

pub(crate) async fn an_interrupt_that_is_swallowed_once_comes_again() {
    let bench = Bench::with(|settings| settings.notebook.interrupt_every = Duration::from_millis(100)).await;
    let code = "import time\nkept = 5\ntry: time.sleep(1000)\nexcept KeyboardInterrupt: pass\nwhile True: pass";
    let result = bench.run_for(code, SHORT).await;
    assert_eq!(result.status, Status::Timeout, "{result:?}");
    assert_eq!(bench.value("kept").await, "5");
    bench.shutdown().await;
}

pub(crate) async fn code_that_cleans_up_and_ends_says_so_itself() {
    let bench = Bench::new().await;
    let code = "import time\ntry: time.sleep(1000)\nexcept KeyboardInterrupt:\n    print('cleaned up')\n'done'";
    let result = bench.run_for(code, SHORT).await;
    assert_eq!((result.status, &*result.stdout, &*result.value), (Status::Success, "cleaned up\n", "'done'"));
    has_note(&result, "interrupted after 300 ms");
    bench.shutdown().await;
}

pub(crate) async fn a_running_cell_can_be_cancelled() {
    let bench = Bench::new().await;
    let handle = bench.start("kept = 3\nprint('runs', flush=True)\nwhile True: pass");
    printed(&handle, "runs").await;
    handle.cancel();
    let result = finished(&handle).await;
    assert_eq!((result.status, &*result.stdout), (Status::Cancelled, "runs\n"));
    has_note(&result, "cancelled");
    assert_eq!(bench.value("kept").await, "3");
    // Once it is over, there is nothing to cancel.
    handle.cancel();
    assert_eq!(bench.value("kept").await, "3");
    bench.shutdown().await;
}

pub(crate) async fn a_waiting_cell_can_be_cancelled_and_never_runs() {
    let bench = Bench::new().await;
    let first = bench.start("import time\nprint('runs', flush=True)\nwhile True: time.sleep(0.01)");
    let second = bench.start("seen = True");
    printed(&first, "runs").await;
    let progress = second.progress();
    assert_eq!((progress.stage, progress.result.status), (Stage::Queued, Status::Running));
    has_note(&progress.result, "not begun yet");
    second.cancel();
    let result = finished(&second).await;
    assert_eq!(result.status, Status::Cancelled);
    assert_eq!(first.progress().stage, Stage::Running);
    first.cancel();
    assert_eq!(finished(&first).await.status, Status::Cancelled);
    assert_eq!(bench.value("'seen' in globals()").await, "False");
    bench.shutdown().await;
}

pub(crate) async fn dropping_a_hold_does_not_end_the_cell() {
    let bench = Bench::new().await;
    drop(bench.start("dropped = 9"));
    assert_eq!(bench.value("dropped").await, "9");
    bench.shutdown().await;
}

pub(crate) async fn an_interrupt_that_the_code_sends_itself_is_an_error() {
    let bench = Bench::new().await;
    let result = bench.run("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass").await;
    assert_eq!(result.status, Status::Error, "{result:?}");
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}
