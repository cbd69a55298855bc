use crate::support::{Bench, OWNER, finished, has_note, holder, printed};
use kennel_code::cell::{CellRequest, Status};
use kennel_code::notebook::RunError;
use std::time::Duration;

pub(crate) async fn cells_of_a_notebook_run_one_after_the_other() {
    let bench = Bench::new().await;
    bench.value("order = []; busy = False; 1").await;
    let code = |number: u32| {
        format!(
            "import time\nassert not busy\nbusy = True\norder.append({number})\nprint({number})\n\
             time.sleep(0.01)\nbusy = False"
        )
    };
    let handles = (0..8).map(|number| bench.start(&code(number))).collect::<Vec<_>>();
    for (number, handle) in handles.iter().enumerate() {
        let result = finished(handle).await;
        assert_eq!((result.status, result.stdout), (Status::Success, format!("{number}\n")));
    }
    assert_eq!(bench.value("order").await, "[0, 1, 2, 3, 4, 5, 6, 7]");
    bench.shutdown().await;
}

pub(crate) async fn a_full_queue_refuses_and_takes_again() {
    let bench = Bench::with(|settings| settings.notebook.queue = 2).await;
    let first = bench.start("print('runs', flush=True)\nimport time\nwhile True: time.sleep(0.01)");
    printed(&first, "runs").await;
    let waiting = [bench.start("1"), bench.start("2")];
    let error = bench.registry.run(&holder(OWNER), "main", bench.request("3")).err();
    assert_eq!(error, Some(RunError::QueueFull { session: "main".to_owned(), limit: 2 }));
    waiting[0].cancel();
    let third = bench.start("3");
    first.cancel();
    assert_eq!((finished(&waiting[1]).await.value, finished(&third).await.value), ("2".to_owned(), "3".to_owned()));
    bench.shutdown().await;
}

pub(crate) async fn notebooks_run_at_once_and_share_nothing() {
    let bench = Bench::new().await;
    let run =
        |owner: &str, name: &str, code: &str| bench.registry.run(&holder(owner), name, bench.request(code)).unwrap();
    let first = run(OWNER, "one", "x = 1\nprint('runs', flush=True)\nwhile True: pass");
    printed(&first, "runs").await;
    assert_eq!(finished(&run(OWNER, "two", "'x' in globals()")).await.value, "False");
    assert_eq!(finished(&run("bob", "one", "'x' in globals()")).await.value, "False");
    first.cancel();
    assert_eq!(finished(&run(OWNER, "one", "x")).await.value, "1");
    bench.shutdown().await;
}

pub(crate) async fn the_notebook_that_is_idle_longest_makes_room() {
    let bench = Bench::with(|settings| settings.registry.owner_notebooks = 2).await;
    let run = |name: &str, code: &str| bench.registry.run(&holder(OWNER), name, bench.request(code));
    for name in ["one", "two"] {
        finished(&run(name, "x = 1").unwrap()).await;
    }
    // Another owner has room of its own.
    finished(&bench.registry.run(&holder("bob"), "one", bench.request("x = 1")).unwrap()).await;
    finished(&run("one", "1").unwrap()).await;
    finished(&run("three", "1").unwrap()).await;
    assert_eq!(finished(&run("one", "x").unwrap()).await.value, "1");
    // Two had to go, and now three, since one was used after it.
    let result = finished(&run("two", "'x' in globals()").unwrap()).await;
    assert_eq!(result.value, "False");
    has_note(&result, "state lost: closed to make room for other notebooks");
    assert_eq!(finished(&run("one", "x").unwrap()).await.value, "1");
    assert_eq!(bench.registry.count().0, 3);
    bench.shutdown().await;
}

pub(crate) async fn notebooks_at_work_do_not_make_room() {
    let bench = Bench::with(|settings| {
        settings.registry.owner_notebooks = 1;
        settings.registry.notebooks = 2;
    })
    .await;
    let held = |owner: &str| bench.registry.run(&holder(owner), "held", bench.request("while True: pass")).unwrap();
    let alice = held(OWNER);
    assert_eq!(
        bench.registry.run(&holder(OWNER), "more", bench.request("1")).err(),
        Some(RunError::OwnerFull { limit: 1 })
    );
    let bob = held("bob");
    assert_eq!(
        bench.registry.run(&holder("carol"), "more", bench.request("1")).err(),
        Some(RunError::Full { limit: 2 })
    );
    alice.cancel();
    finished(&alice).await;
    assert_eq!(finished(&bench.registry.run(&holder("carol"), "more", bench.request("1")).unwrap()).await.value, "1");
    bob.cancel();
    finished(&bob).await;
    bench.shutdown().await;
}

pub(crate) async fn what_cannot_be_run_is_refused_with_its_bound() {
    let bench = Bench::new().await;
    let long = bench.request(&" ".repeat((1 << 20) + 1));
    let error = bench.registry.run(&holder(OWNER), "main", long).err().unwrap();
    assert_eq!(error.to_string(), "the code has 1,048,577 bytes, and at most 1,048,576 are run");
    let error = bench.registry.run(&holder(OWNER), &"n".repeat(200), bench.request("1")).err().unwrap();
    assert_eq!(error.to_string(), "the name of a session may have 128 bytes, and this one has 200");
    let slow = CellRequest { timeout: Some(Duration::from_mins(10)), ..bench.request("1") };
    let error = bench.registry.run(&holder(OWNER), "main", slow).err().unwrap();
    assert_eq!(error.to_string(), "a timeout of 600 s is too long; the longest is 120 s");
    bench.shutdown().await;
}

pub(crate) async fn old_cells_are_forgotten_and_running_ones_are_not() {
    let bench = Bench::with(|settings| settings.notebook.recent = 2).await;
    let ids = [bench.run("1").await.cell, bench.run("2").await.cell, bench.run("3").await.cell];
    let found = ids.map(|id| bench.registry.cell(&holder(OWNER), &id).is_some());
    assert_eq!(found, [false, true, true]);
    let running = bench.start("import time\nwhile True: time.sleep(0.01)");
    let others = [bench.start("1"), bench.start("2"), bench.start("3")];
    assert!(others.iter().chain([&running]).all(|handle| bench.registry.cell(&holder(OWNER), handle.id()).is_some()));
    running.cancel();
    finished(&others[2]).await;
    bench.shutdown().await;
}

pub(crate) async fn nothing_runs_after_the_shutdown() {
    let bench = Bench::new().await;
    let handle = bench.start("while True: pass");
    bench.registry.shutdown().await;
    assert_eq!(finished(&handle).await.status, Status::Error);
    assert_eq!(bench.registry.run(&holder(OWNER), "main", bench.request("1")).err(), Some(RunError::Closed));
}

pub(crate) async fn interpreters_that_were_kept_ready_are_fresh() {
    let bench = Bench::pooled().await;
    for _ in 0..3 {
        assert_eq!(bench.value("'kept' in globals()").await, "False");
        assert_eq!(bench.run("kept = 1\nprint('kept')").await.stdout, "kept\n");
        assert_eq!(bench.run("import os\nos._exit(1)").await.status, Status::Error);
    }
    bench.shutdown().await;
}
