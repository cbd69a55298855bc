//! How many requests a process gets at once: the others wait for their turn, in order, and each end of one lets the next go.

use crate::callers::{ask, request};
use crate::support::{Guest, Plan, Process, Profile, Scene, Stream, calm, settle};
use kennel_box::ExitReport;
use kennel_hub::{Caller, Limits, OutgoingKind, Principal, ProcessModel, Timeouts};
use kennel_supervisor::Settings;
use kennel_testkit::fake::Child;
use kennel_wire::Era;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// A plan in which a process gets this many requests at once.
pub(crate) fn narrow(model: ProcessModel, concurrency: usize) -> Plan {
    let limits = Limits { concurrency: NonZeroUsize::new(concurrency), ..Limits::default() };
    Plan { limits, ..calm(model) }
}

/// Calls a tool with an argument by which the process tells it from others.
pub(crate) fn call(client: &Guest, id: i64) -> Stream {
    client.request(id, "tools/call", json!({ "name": "echo", "arguments": { "mark": id } }))
}

/// The next call that the process hears, which must be this one, and must not have waited for anything else.
pub(crate) async fn hears(process: &mut Process, mark: i64) -> Value {
    let before = Instant::now();
    let call = process.hears("tools/call").await;
    assert!(before.elapsed() < Duration::from_secs(1), "on a clock that jumps: {:?}", before.elapsed());
    assert_eq!(call["params"]["arguments"]["mark"], mark, "{call}");
    call
}

/// Checks that the process has heard of no further call.
pub(crate) async fn hears_no_call(process: &mut Process) {
    settle().await;
    while let Some(line) = process.try_line() {
        assert!(!line.contains("tools/call"), "the process heard {line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_gets_so_many_at_once_and_the_others_in_their_order() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared, ProcessModel::PerUser] {
        for era in [Era::Legacy, Era::Modern] {
            let plan = Plan { era: Some(era), ..narrow(model, 2) };
            let scene = Scene::with(plan, move |_| Profile { era, ..Profile::default() });
            let client = scene.client().await;
            // Some come before the process is ready, the others after.
            let mut streams = vec![call(&client, 0), call(&client, 1), call(&client, 2)];
            let mut process = scene.process().await;
            let mut at_work = vec![hears(&mut process, 0).await, hears(&mut process, 1).await];
            streams.extend((3..6).map(|number| call(&client, number)));
            hears_no_call(&mut process).await;
            for number in 2..6 {
                // The newer of both is done first, so that it is seen that any place does.
                let done = at_work.remove(1);
                process.answer(&done, json!({ "resultType": "complete", "content": [] })).await;
                at_work.push(hears(&mut process, number).await);
                hears_no_call(&mut process).await;
            }
            for call in &at_work {
                process.answer(call, json!({ "resultType": "complete", "content": [] })).await;
            }
            for stream in &streams {
                assert_eq!(stream.response().await["result"]["content"], json!([]));
            }
            scene.end().await;
        }
    }
}

/// The ways in which a request ends, as far as its process has something to do with it.
#[derive(Debug, Clone, Copy)]
enum End {
    Answered,
    Failed,
    TooLong,
    NoMessage,
    Cancelled,
    Late,
    Left,
}

#[tokio::test(start_paused = true)]
async fn each_end_of_a_request_lets_the_next_one_go() {
    for end in [End::Answered, End::Failed, End::TooLong, End::NoMessage, End::Cancelled, End::Late, End::Left] {
        let timeouts = Timeouts { inactivity: Duration::from_secs(100), ..Timeouts::default() };
        let narrow = narrow(ProcessModel::Shared, 1);
        let supervision = Settings { line_bytes: 5000, ..narrow.supervision };
        let scene = Scene::new(Plan { timeouts, supervision, ..narrow });
        let (client, other) = (scene.client().await, scene.client().await);
        let mut process = scene.process().await;
        let first = call(&client, 1);
        let request = hears(&mut process, 1).await;
        let second = call(&other, 2);
        hears_no_call(&mut process).await;
        let id = &request["id"];
        match end {
            End::Answered => process.answer(&request, json!({})).await,
            End::Failed => process.fail(&request, -32603).await,
            End::TooLong => {
                let long = "x".repeat(6000);
                process.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"{long}"}}"#)).await;
            }
            End::NoMessage => process.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{}}}}"#)).await,
            End::Cancelled => client.notify("notifications/cancelled", json!({ "requestId": 1 })),
            End::Late => drop(first.error(-31003).await),
            End::Left => client.session.close(),
        }
        let request = hears(&mut process, 2).await;
        process.answer(&request, json!({})).await;
        assert_eq!(second.response().await["result"], json!({}), "after {end:?}");
        // There is one place again, and not two.
        let _third = call(&other, 3);
        hears(&mut process, 3).await;
        let _fourth = call(&other, 4);
        hears_no_call(&mut process).await;
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_lets_the_next_one_go() {
    let scene = Scene::new(narrow(ProcessModel::Shared, 1));
    let caller = Caller::new(Principal::new("ann"));
    let (gone, _nobody) = ask(&scene, &caller, request(1, "tools/call", &json!({})));
    let mut process = scene.process().await;
    let first = process.expect("tools/call").await;
    let (unheard, _nobody) = ask(&scene, &caller, request(2, "tools/call", &json!({})));
    let (asked, mailbox) = ask(&scene, &caller, request(3, "tools/call", &json!({})));
    drop(unheard);
    process.hears_nothing().await;
    drop(gone);
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], first["id"]);
    let call = process.expect("tools/call").await;
    process.answer(&call, json!({ "content": [] })).await;
    assert_eq!(crate::callers::answer(&mailbox).await["id"], 3);
    asked.answered();
    process.hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_while_it_waits_never_reaches_the_process() {
    let plan = narrow(ProcessModel::Shared, 1);
    let scene = Scene::new(Plan { limits: Limits { waiting_requests: 4, ..plan.limits }, ..plan });
    let (client, leaving) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    let streams = [call(&client, 1), call(&client, 2), call(&client, 5), call(&leaving, 3), call(&leaving, 4)];
    let mut request = hears(&mut process, 1).await;
    client.notify("notifications/cancelled", json!({ "requestId": 2 }));
    assert_eq!(streams[1].outgoing().await.kind, OutgoingKind::Withdrawn);
    leaving.session.close();
    // They have made room for as many.
    let more = [call(&client, 6), call(&client, 7), call(&client, 8)];
    process.hears_nothing().await;
    for (number, stream) in [(5, &streams[0]), (6, &streams[2]), (7, &more[0]), (8, &more[1])] {
        process.answer(&request, json!({})).await;
        assert_eq!(stream.response().await["result"], json!({}));
        request = hears(&mut process, number).await;
    }
    process.answer(&request, json!({})).await;
    more[2].response().await;
    process.hears_nothing().await;
    let heard = process.all_heard();
    let calls = heard.iter().filter(|message| message["method"] == "tools/call").count();
    assert_eq!(calls, 5, "{heard:?}");
    assert_eq!(scene.metric("requests_in_flight"), 0);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_waited_goes_to_the_next_process_and_there_in_turn() {
    let scene = Scene::new(narrow(ProcessModel::Shared, 2));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let lost = call(&client, 1);
    // Looking does no harm, so it is done once more, and before all that waited.
    let again = client.request(2, "resources/read", json!({ "uri": "test://a" }));
    let streams: Vec<_> = (3..6).map(|number| call(&client, number)).collect();
    hears(&mut process, 1).await;
    process.expect("resources/read").await;
    process.hears_nothing().await;
    process.die().await;
    lost.error(-31001).await;
    let mut process = scene.process().await;
    let read = process.expect("resources/read").await;
    let mut at_work = hears(&mut process, 3).await;
    process.hears_nothing().await;
    process.answer(&read, json!({ "contents": [] })).await;
    again.response().await;
    for number in 4..6 {
        let next = hears(&mut process, number).await;
        process.answer(&at_work, json!({})).await;
        at_work = next;
    }
    process.answer(&at_work, json!({})).await;
    for stream in &streams {
        assert_eq!(stream.response().await["result"], json!({}));
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_turn_is_bounded() {
    let plan = narrow(ProcessModel::Shared, 1);
    let limits = Limits { waiting_requests: 2, message_bytes: 1000, ..plan.limits };
    let scene = Scene::new(Plan { limits, ..plan });
    let client = scene.client().await;
    let mut process = scene.process().await;
    let streams = [call(&client, 1), call(&client, 2), call(&client, 3)];
    let error = call(&client, 4).error(-31004).await;
    let text = error["error"]["message"].as_str().unwrap();
    assert!(text.contains("2 requests waiting for their turn at the server"), "{text}");
    let request = hears(&mut process, 1).await;
    process.answer(&request, json!({})).await;
    streams[0].response().await;
    // That made room for one, but not of any size.
    let large = json!({ "name": "echo", "arguments": "x".repeat(2000) });
    let error = client.request(5, "tools/call", large).error(-31004).await;
    let text = error["error"]["message"].as_str().unwrap();
    assert!(text.contains("1000 bytes of requests waiting for their turn at the server"), "{text}");
    let last = call(&client, 6);
    for (number, stream) in [(2, &streams[1]), (3, &streams[2]), (6, &last)] {
        let request = hears(&mut process, number).await;
        process.answer(&request, json!({})).await;
        stream.response().await;
    }
    // One by itself may be as large as it likes, and when it has gone, its bytes wait no more.
    let _first = call(&client, 7);
    let _large = client.request(8, "tools/call", json!({ "name": "echo", "arguments": "x".repeat(2000) }));
    let request = hears(&mut process, 7).await;
    process.answer(&request, json!({})).await;
    process.expect("tools/call").await;
    let waiting = [call(&client, 9), call(&client, 10)];
    for stream in &waiting {
        stream.is_quiet().await;
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_queue_what_finds_no_place_is_refused_at_once() {
    let plan = narrow(ProcessModel::Shared, 1);
    let scene = Scene::new(Plan { limits: Limits { waiting_requests: 0, ..plan.limits }, ..plan });
    let client = scene.client().await;
    let mut process = scene.process().await;
    for number in [1, 3] {
        let stream = call(&client, number);
        let request = hears(&mut process, number).await;
        call(&client, number + 1).error(-31004).await;
        process.answer(&request, json!({})).await;
        stream.response().await;
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_counts_from_its_turn() {
    let timeouts =
        Timeouts { inactivity: Duration::from_secs(100), call: Duration::from_secs(150), ..Timeouts::default() };
    let scene = Scene::new(Plan { timeouts, ..narrow(ProcessModel::Shared, 1) });
    let client = scene.client().await;
    let mut process = scene.process().await;
    let (first, second) = (call(&client, 1), call(&client, 2));
    let request = hears(&mut process, 1).await;
    sleep(Duration::from_secs(90)).await;
    process.answer(&request, json!({})).await;
    first.response().await;
    let request = hears(&mut process, 2).await;
    sleep(Duration::from_secs(90)).await;
    process.answer(&request, json!({})).await;
    assert_eq!(second.response().await["result"], json!({}));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_waits_for_its_turn_for_ever() {
    let timeouts = Timeouts { start: Duration::from_secs(10), call: Duration::from_secs(150), ..Timeouts::default() };
    let scene = Scene::new(Plan { timeouts, ..narrow(ProcessModel::Shared, 1) });
    let client = scene.client().await;
    let mut process = scene.process().await;
    let first = call(&client, 1);
    hears(&mut process, 1).await;
    sleep(Duration::from_secs(100)).await;
    let (second, third) = (call(&client, 2), call(&client, 3));
    // The process is ready, so the time for a start has no say.
    sleep(Duration::from_secs(40)).await;
    second.is_quiet().await;
    // The first one is over before them, and its place is taken by the second.
    first.error(-31003).await;
    hears(&mut process, 2).await;
    let error = third.error(-31003).await;
    let text = error["error"]["message"].as_str().unwrap();
    assert!(text.contains("`concurrency`") && text.contains("150 s") && text.contains("not made"), "{text}");
    hears_no_call(&mut process).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_has_waited_for_long_has_the_time_of_a_start_for_the_next_process() {
    let timeouts = Timeouts { start: Duration::from_mins(1), ..Timeouts::default() };
    let profile = |number| Profile { held: number > 1, ..Profile::default() };
    let scene = Scene::with(Plan { timeouts, ..narrow(ProcessModel::Shared, 1) }, profile);
    let client = scene.client().await;
    let mut process = scene.process().await;
    let (first, second) = (call(&client, 1), call(&client, 2));
    hears(&mut process, 1).await;
    sleep(Duration::from_secs(100)).await;
    process.die().await;
    first.error(-31001).await;
    let mut process = scene.process().await;
    sleep(Duration::from_secs(30)).await;
    second.is_quiet().await;
    process.open().await;
    hears(&mut process, 2).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_has_waited_for_a_start_has_the_whole_time_for_its_turn() {
    let call_total = Duration::from_secs(20);
    let timeouts = Timeouts { start: Duration::from_secs(200), call: call_total, ..Timeouts::default() };
    let profile = |number| Profile { held: number > 1, ..Profile::default() };
    let scene = Scene::with(Plan { timeouts, ..narrow(ProcessModel::Shared, 1) }, profile);
    let client = scene.client().await;
    scene.process().await.die().await;
    settle().await;
    let (first, second) = (call(&client, 1), call(&client, 2));
    let mut process = scene.process().await;
    sleep(call_total * 2).await;
    process.open().await;
    let request = hears(&mut process, 1).await;
    sleep(call_total / 2).await;
    second.is_quiet().await;
    process.answer(&request, json!({})).await;
    first.response().await;
    hears(&mut process, 2).await;
    scene.end().await;
}

/// A process that works on all that it has until nothing more comes, and notes how much that is at most.
async fn works_on_all(mut child: Child, most: Arc<AtomicUsize>) -> ExitReport {
    let mut at_work = VecDeque::new();
    loop {
        let line = match timeout(Duration::from_millis(1), child.line()).await {
            Ok(Some(line)) => line,
            Ok(None) => return Child::exit(0),
            Err(_) => {
                if let Some((id, arguments)) = at_work.pop_front() {
                    child.say(&json!({ "jsonrpc": "2.0", "id": id, "result": arguments }).to_string()).await;
                }
                continue;
            }
        };
        let message: Value = serde_json::from_str(&line).unwrap();
        match message["method"].as_str() {
            Some("initialize") => {
                let result = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} });
                child.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()).await;
            }
            Some("tools/call") => {
                at_work.push_back((message["id"].clone(), message["params"]["arguments"].clone()));
                most.fetch_max(at_work.len(), Ordering::Relaxed);
            }
            Some("notifications/cancelled") => at_work.retain(|(id, _)| *id != message["params"]["requestId"]),
            _ => {}
        }
    }
}

/// Many callers in several sessions on several threads, some of which cancel: all others are answered, and the process
/// never has more than it should.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_callers_of_one_process_take_turns() {
    for concurrency in [1, 3] {
        let most = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&most);
        let scene = Scene::scripted(narrow(ProcessModel::Shared, concurrency), move |child| {
            works_on_all(child, Arc::clone(&seen))
        });
        let mut sessions = Vec::new();
        for number in 0..8 {
            sessions.push(Arc::new(scene.guest(&format!("user {number}"), json!({})).await));
        }
        let mut callers = tokio::task::JoinSet::new();
        for number in 0..200_i64 {
            let session = Arc::clone(&sessions[usize::try_from(number).unwrap() % sessions.len()]);
            callers.spawn(async move {
                let id = number * 2;
                let cancelled = (number % 5 == 0).then(|| {
                    let stream = call(&session, id + 1);
                    session.notify("notifications/cancelled", json!({ "requestId": id + 1 }));
                    stream
                });
                assert_eq!(call(&session, id).response().await["result"], json!({ "mark": id }));
                if let Some(stream) = cancelled {
                    assert_eq!(stream.outgoing().await.kind, OutgoingKind::Withdrawn);
                }
            });
        }
        while let Some(outcome) = callers.join_next().await {
            outcome.unwrap();
        }
        let most = most.load(Ordering::Relaxed);
        assert_eq!((scene.engine.started(), scene.metric("requests_in_flight")), (1, 0));
        assert!((1..=concurrency).contains(&most), "the process had {most} at once");
        scene.end().await;
    }
}
