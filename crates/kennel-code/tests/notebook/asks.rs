use crate::support::{Bench, PATIENCE, finished, has_note};
use kennel_code::cell::{CellRequest, Status, Versioned};
use kennel_code::notebook::Ask;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) async fn a_tool_is_called_and_its_result_comes_as_objects() {
    let bench = Bench::new().await;
    let result = finished(&bench.start_with(bench.with_servers("(await mcp_fix.echo(a=[1, 'ä']))['a']"))).await;
    assert_eq!((&*result.value, result.calls), ("[1, 'ä']", 1), "{result:?}");
    let asked = bench.fixture.asked.lock().unwrap().clone();
    let (context, Ask::CallTool(call)) = &asked[0] else { panic!("{asked:?}") };
    assert_eq!((context.holder.owner().user(), &*context.session, &*context.cell), ("alice", "main", &*result.cell));
    assert_eq!((&*call.alias, &*call.tool), ("fix", "echo"));
    bench.shutdown().await;
}

pub(crate) async fn gathered_calls_run_at_once_but_not_too_many() {
    let bench = Bench::with(|settings| settings.notebook.asks_at_once = 4).await;
    let code = "import asyncio\nlen(await asyncio.gather(*(mcp_fix.echo(n=n) for n in range(100))))";
    let result = finished(&bench.start_with(bench.with_servers(code))).await;
    assert_eq!((&*result.value, result.calls), ("100", 100), "{result:?}");
    assert_eq!(bench.fixture.most.load(Ordering::SeqCst), 4);
    bench.shutdown().await;
}

pub(crate) async fn a_cell_may_ask_only_so_often() {
    let bench = Bench::with(|settings| settings.notebook.asks = 10).await;
    let code = "import asyncio\nr = await asyncio.gather(*(mcp_fix.echo(n=n) for n in range(30)), return_exceptions=True)\n\
        [sum(isinstance(x, MCPError) for x in r), {str(x) for x in r if isinstance(x, MCPError)}]";
    let result = finished(&bench.start_with(bench.with_servers(code))).await;
    assert!(result.value.starts_with("[20, {"), "{result:?}");
    assert!(result.value.contains("a cell may make 10 requests"), "{result:?}");
    // The next cell may again.
    let result = finished(&bench.start_with(bench.with_servers("(await mcp_fix.echo(n=1))['n']"))).await;
    assert_eq!(result.value, "1");
    bench.shutdown().await;
}

pub(crate) async fn a_server_that_is_left_out_is_refused_here_as_well() {
    let bench = Bench::new().await;
    let request = CellRequest {
        servers: Some(vec!["fix".to_owned()].into()),
        ..bench.with_servers(
            "try:\n    await mcp_other.echo(a=1)\nexcept MCPError as e:\n    print(e)\nawait mcp_fix.echo(a=1)",
        )
    };
    let result = finished(&bench.start_with(request)).await;
    assert_eq!(result.status, Status::Success, "{result:?}");
    assert!(result.stdout.contains("other"), "{result:?}");
    assert_eq!(bench.fixture.asked.lock().unwrap().len(), 1);
    bench.shutdown().await;
}

pub(crate) async fn servers_are_told_once_and_again_when_they_change() {
    let bench = Bench::new().await;
    let names = |catalog: Option<Versioned>| {
        let code = "sorted(name for name in globals() if name.startswith('mcp_'))";
        bench.start_with(CellRequest { catalog, ..bench.request(code) })
    };
    let empty = Versioned { version: 2, message: r#"{"t":"servers","servers":[]}"#.into() };
    assert_eq!(finished(&names(Some(Bench::catalog()))).await.value, "['mcp_fix', 'mcp_other']");
    assert_eq!(finished(&names(None)).await.value, "['mcp_fix', 'mcp_other']");
    // The version says whether the message is to be sent.
    let same = Versioned { version: 1, ..empty.clone() };
    assert_eq!(finished(&names(Some(same))).await.value, "['mcp_fix', 'mcp_other']");
    assert_eq!(finished(&names(Some(empty))).await.value, "[]");
    // A new interpreter is told again.
    bench.run("import os\nos._exit(0)").await;
    assert_eq!(finished(&names(Some(Bench::catalog()))).await.value, "['mcp_fix', 'mcp_other']");
    bench.shutdown().await;
}

pub(crate) async fn calls_are_called_off_with_their_cell() {
    let bench = Bench::new().await;
    let code = "import asyncio\nawait asyncio.gather(*(mcp_fix.hold() for n in range(5)))";
    let handle = bench.start_with(bench.with_servers(code));
    bench.fixture.open.subscribe().wait_for(|open| *open == 5).await.unwrap();
    handle.cancel();
    assert_eq!(finished(&handle).await.status, Status::Cancelled);
    called_off(&bench, 5).await;
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn calls_are_called_off_at_a_timeout() {
    let bench = Bench::new().await;
    let code = "kept = 1\nmcp_fix.hold.sync()";
    let request = CellRequest { timeout: Some(Duration::from_millis(300)), ..bench.with_servers(code) };
    let result = finished(&bench.start_with(request)).await;
    assert_eq!(result.status, Status::Timeout, "{result:?}");
    has_note(&result, "interrupted after 300 ms");
    called_off(&bench, 1).await;
    assert_eq!(bench.value("kept").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn a_call_whose_task_is_cancelled_is_called_off_while_the_cell_goes_on() {
    let bench = Bench::new().await;
    let code = "import asyncio\ntry:\n    await asyncio.wait_for(mcp_fix.hold(), 0.2)\nexcept asyncio.TimeoutError:\n    print('late')\n\
        await mcp_fix.hold()\n'over'";
    let handle = bench.start_with(bench.with_servers(code));
    called_off(&bench, 1).await;
    bench.fixture.open.subscribe().wait_for(|open| *open == 1).await.unwrap();
    bench.fixture.release.notify_one();
    let result = finished(&handle).await;
    assert_eq!((&*result.stdout, &*result.value), ("late\n", "'over'"), "{result:?}");
    bench.shutdown().await;
}

pub(crate) async fn calls_that_a_cell_leaves_behind_are_called_off() {
    let bench = Bench::new().await;
    let code = "import asyncio\ntask = asyncio.ensure_future(mcp_fix.hold())\nawait asyncio.sleep(0.05)\n'left'";
    let handle = bench.start_with(bench.with_servers(code));
    assert_eq!(finished(&handle).await.value, "'left'");
    called_off(&bench, 1).await;
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn large_arguments_and_results_pass() {
    let bench = Bench::new().await;
    let code = "r = await mcp_fix.echo(a='x' * 5_000_000)\nlen(r['a'])";
    assert_eq!(finished(&bench.start_with(bench.with_servers(code))).await.value, "5000000");
    let code = "import asyncio\nr = await asyncio.gather(*(mcp_fix.echo(a='x' * 9_000_000) for _ in range(12)), return_exceptions=True)\n\
        sum(isinstance(x, MCPError) for x in r) > 0 and str([x for x in r if isinstance(x, MCPError)][0])";
    let result = finished(&bench.start_with(bench.with_servers(code))).await;
    // All at once are more than may wait; whether that happens is up to how fast they are answered.
    assert!(result.value == "False" || result.value.contains("await some first"), "{result:?}");
    bench.shutdown().await;
}

async fn called_off(bench: &Bench, count: usize) {
    let mut counted = bench.fixture.called_off.subscribe();
    tokio::time::timeout(PATIENCE, counted.wait_for(|off| *off == count)).await.expect("a call goes on").unwrap();
}
