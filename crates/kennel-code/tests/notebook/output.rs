use crate::support::{Bench, PATIENCE, finished, has_note, holder, printed};
use kennel_code::cell::Status;
use kennel_code::notebook::Stage;
use std::time::Duration;
use tokio::time::Instant;

pub(crate) async fn a_cell_returns_what_it_prints_and_its_value_and_leaves_its_variables() {
    let bench = Bench::new().await;
    let result = bench.run("import sys\nx = 20\nprint('out')\nprint('err', file=sys.stderr)\nx + 1").await;
    assert_eq!(
        (result.status, &*result.stdout, &*result.stderr, &*result.value),
        (Status::Success, "out\n", "err\n", "21")
    );
    assert_eq!((result.cell.len(), &*result.session, &result.error), (27, "main", &None));
    assert!(result.notes.is_empty(), "{result:?}");
    assert_eq!(bench.value("x").await, "20");
    bench.shutdown().await;
}

pub(crate) async fn an_exception_is_an_error_and_costs_no_state() {
    let bench = Bench::new().await;
    let result = bench.run("y = 1\nraise ValueError('bad')").await;
    let error = result.error.unwrap();
    assert_eq!((result.status, &*error.kind, &*error.message), (Status::Error, "ValueError", "bad"));
    assert!(error.traceback.contains("raise ValueError('bad')"), "{}", error.traceback);
    assert_eq!(bench.run("import sys; sys.exit(1)").await.status, Status::Error);
    assert_eq!(bench.run("sys.exit(0)").await.status, Status::Success);
    assert_eq!(bench.run("def f(:").await.error.unwrap().kind, "SyntaxError");
    assert_eq!(bench.value("y").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn a_hundred_megabytes_are_read_shown_in_part_and_kept_in_part() {
    let bench = Bench::new().await;
    let code = "print('begin')\nfor _ in range(100):\n    print('x' * 999_999)\nprint('end')";
    let result = bench.run(code).await;
    assert_eq!(result.status, Status::Success);
    let (head, rest) = result.stdout.split_once('…').unwrap();
    let (note, tail) = rest.split_once('…').unwrap();
    assert!(head.starts_with("begin\nxxx") && tail.ends_with("xxx\nend\n"));
    // 100,000,010 bytes in all, of which 10,000 are shown.
    assert!(note.contains("99,990,010 bytes left out, the first and last 2,097,152 kept: kennel://result/"), "{note}");
    assert!(result.stdout.chars().count() < 10_200);
    let uri = note.trim().rsplit(' ').next().unwrap();
    let page = bench.results.read(&holder("alice"), &format!("{uri}?limit=100000")).unwrap();
    assert!(page.text.starts_with("begin\n") && page.text.len() == 100_000 && page.length > 4 << 20);
    let end = bench.results.read(&holder("alice"), &format!("{uri}?offset={}", page.length - 6)).unwrap();
    assert_eq!((&*end.text, end.next), ("x\nend\n", None));
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn what_is_left_out_can_be_read_in_pages() {
    let bench = Bench::new().await;
    let result = bench.run("print(*range(10_000), sep='\\n')").await;
    let uri = result.stdout.split("all kept: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let (mut all, mut next) = (String::new(), Some(uri));
    while let Some(uri) = next {
        let page = bench.results.read(&holder("alice"), &uri).unwrap();
        all += &page.text;
        next = page.next;
    }
    assert!(all.lines().eq((0..10_000).map(|number| number.to_string())), "{all}");
    bench.shutdown().await;
}

pub(crate) async fn long_lines_and_raw_descriptors_break_nothing() {
    let bench = Bench::new().await;
    let result = bench.run("print('a' * 70_000)").await;
    assert!(result.stdout.ends_with("aaa\n") && result.stdout.contains("bytes left out"));
    let result = bench.run("import os\nprint('b' * 1_000_000)\nos.write(2, b'c' * 200_000)").await;
    assert_eq!((result.status, &*result.value), (Status::Success, "200000"));
    assert!(result.stdout.starts_with("bbb") && result.stderr.starts_with("ccc") && result.stderr.len() < 4_200);
    let result = bench.run("os.write(1, b'one\\n')\nos.write(2, b'two\\n')\nprint('three')").await;
    assert_eq!((&*result.stdout, &*result.stderr), ("one\nthree\n", "two\n"));
    bench.shutdown().await;
}

pub(crate) async fn bytes_that_are_no_text_are_shown_as_such() {
    let bench = Bench::new().await;
    let result = bench.run("import os\n_ = os.write(1, b'\\xff\\x00kennel:\\xc3\\xa4')").await;
    assert_eq!(result.stdout, "\u{fffd}\0kennel:ä");
    assert_eq!(bench.run("print('next')").await.stdout, "next\n");
    bench.shutdown().await;
}

pub(crate) async fn a_reader_gets_each_byte_once_and_others_get_them_too() {
    let bench = Bench::new().await;
    let handle = bench.start(
        "import sys\nprint('one')\nsys.stdin.close()\nwait = await mcp.runtime.list_saved_tools()\nprint('two')",
    );
    // Wherever the cell is, nothing comes twice.
    let (mut all, mut stage) = (String::new(), Stage::Queued);
    while stage != Stage::Done {
        let progress = handle.wait(Instant::now() + Duration::from_millis(1)).await;
        all += &progress.result.stdout;
        stage = progress.stage;
    }
    assert_eq!(all, "one\ntwo\n");
    assert_eq!(handle.wait(Instant::now() + PATIENCE).await.result.stdout, "");
    assert_eq!(handle.reader().progress().result.stdout, "one\ntwo\n");
    bench.shutdown().await;
}

pub(crate) async fn what_is_left_out_while_a_cell_runs_can_be_had_when_it_is_over() {
    let bench = Bench::new().await;
    let request = bench.with_servers("print('x' * 50_000, flush=True)\nawait mcp_fix.hold()\nprint('end')");
    let handle = bench.start_with(request);
    bench.fixture.open.subscribe().wait_for(|open| *open == 1).await.unwrap();
    let reader = handle.reader();
    let mut seen = String::new();
    while !seen.contains("left out") {
        seen += &reader.wait(Instant::now() + Duration::from_millis(5)).await.result.stdout;
    }
    assert!(seen.contains("kept when the cell has ended"), "{seen}");
    bench.fixture.release.notify_one();
    let result = tokio::time::timeout(PATIENCE, reader.finished()).await.unwrap();
    assert!(result.stdout.ends_with("end\n") && result.stdout.len() < 100, "{}", result.stdout);
    has_note(&result, "all of stdout: kennel://result/");
    bench.shutdown().await;
}

pub(crate) async fn output_between_cells_belongs_to_the_next() {
    let bench = Bench::new().await;
    let code = "import threading\ngo, gone = threading.Event(), threading.Event()\n\
        def later():\n    go.wait()\n    print('late', flush=True)\n    gone.set()\n\
        threading.Thread(target=later, daemon=True).start()\nprint('first')";
    assert_eq!(bench.run(code).await.stdout, "first\n");
    assert_eq!(bench.run("go.set()\ngone.wait()\nprint('second')").await.stdout, "late\nsecond\n");
    bench.shutdown().await;
}

pub(crate) async fn descriptors_that_were_closed_or_turned_away_cost_only_their_own_output() {
    let bench = Bench::new().await;
    for code in [
        "import os\nos.close(1)",
        "import os\nos.close(1); os.close(2)",
        "import os, sys\nsys.stdout = None",
        "import os\nos.dup2(os.open('/dev/null', os.O_WRONLY), 1)",
        "import os\nos.closerange(0, 3)",
    ] {
        let result = bench.run(code).await;
        assert_ne!(result.status, Status::Running, "{code}");
        let result = bench.run("import sys\nprint('again')\nprint('and', file=sys.stderr)").await;
        assert_eq!((&*result.stdout, &*result.stderr), ("again\n", "and\n"), "after {code}: {result:?}");
        assert!(result.notes.is_empty(), "{result:?}");
    }
    bench.shutdown().await;
}

pub(crate) async fn nothing_is_waited_for_where_marks_come() {
    let long = Duration::from_hours(1);
    let bench = Bench::with(|settings| (settings.output.quiet, settings.output.settle) = (long, long)).await;
    for _ in 0..20 {
        assert_eq!(bench.run("print('x')\n1").await.stdout, "x\n");
    }
    // Nor where a stream has ended with its interpreter.
    assert_eq!(bench.run("import os\nos._exit(0)").await.status, Status::Error);
    bench.shutdown().await;
}

pub(crate) async fn a_value_has_what_output_leaves_of_the_budget() {
    let bench = Bench::with(|settings| settings.output.shown_chars = 1000).await;
    let result = bench.run("print('x' * 399)\n'y' * 5000").await;
    let [head, note, tail] = result.value.split('…').collect::<Vec<_>>()[..] else { panic!("{}", result.value) };
    assert!(head.starts_with("'yyy") && note.contains("all kept: kennel://result/") && tail.ends_with("yyy'"));
    assert_eq!((head.matches('y').count(), tail.matches('y').count()), (299, 299));
    bench.shutdown().await;
}

pub(crate) async fn a_cell_that_runs_can_be_watched() {
    let bench = Bench::new().await;
    let handle = bench.start_with(bench.with_servers("print('begun', flush=True)\nawait mcp_fix.hold()\n7"));
    assert_eq!(printed(&handle, "begun").await, "begun\n");
    let progress = handle.progress();
    assert_eq!((progress.stage, progress.result.status), (Stage::Running, Status::Running));
    bench.fixture.release.notify_one();
    assert_eq!(finished(&handle).await.value, "7");
    assert_eq!(bench.registry.cell(&holder("alice"), handle.id()).unwrap().progress().stage, Stage::Done);
    assert!(bench.registry.cell(&holder("bob"), handle.id()).is_none());
    bench.shutdown().await;
}

pub(crate) async fn output_that_was_kept_goes_when_newer_output_needs_its_room() {
    let bench = Bench::with(|settings| settings.results.owner_bytes = 150_000).await;
    let first = bench.start("print('a' * 100_000)");
    let uri = finished(&first).await.stdout.split("all kept: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(bench.results.read(&holder("alice"), &uri).is_ok());
    bench.run("print('b' * 100_000)").await;
    let error = bench.results.read(&holder("alice"), &uri).unwrap_err().to_string();
    assert!(error.contains("150,000 bytes are kept for one owner"), "{error}");
    // What is shown of it does not go.
    let again = first.reader().progress().result.stdout;
    assert!(again.starts_with("aaa") && again.contains("90,001 bytes left out") && again.ends_with("aaa\n"), "{again}");
    bench.shutdown().await;
}
