//! Clients without sessions and processes of the old era: what the process asks becomes rounds of the request.

use crate::callers::{answer, ask, request, with};
use crate::support::{Plan, Process, Profile, Scene, calm};
use kennel_hub::{Asked, Caller, Limits, Mailbox, OutgoingKind, Principal, ProcessModel, Timeouts};
use kennel_wire::Era;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

fn caller() -> Caller {
    Caller::new(Principal::new("ann"))
}

fn able() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

/// Asks for a tool and has the process ask back; returns the process, the call as it has it, and the question.
async fn asked_back(scene: &Scene, caller: &Caller) -> (Process, Value, Value) {
    let (asked, mailbox) = ask(scene, caller, request(1, "tools/call", &able()));
    let mut process = scene.process().await;
    let call = process.expect("tools/call").await;
    process.ask(json!("q"), "elicitation/create", json!({ "message": "name?" })).await;
    let question = answer(&mailbox).await;
    asked.answered();
    (process, call, question)
}

/// The request once more, with the state and these answers by the names in the question.
fn back(scene: &Scene, caller: &Caller, question: &Value, answers: &Value) -> (Asked, Arc<Mailbox>) {
    let further = json!({ "requestState": question["result"]["requestState"], "inputResponses": answers });
    ask(scene, caller, with(request(2, "tools/call", &able()), &further))
}

fn names(question: &Value) -> Vec<String> {
    question["result"]["inputRequests"].as_object().expect("questions").keys().cloned().collect()
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

#[tokio::test(start_paused = true)]
async fn a_question_of_the_process_is_answered_with_the_next_round() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared, ProcessModel::PerUser, ProcessModel::PerCall] {
        let scene = Scene::new(calm(model));
        let (mut process, call, question) = asked_back(&scene, &caller()).await;
        assert_eq!(question["id"], 1);
        assert_eq!(question["result"]["resultType"], "input_required");
        let name = names(&question).remove(0);
        let asked = json!({ "method": "elicitation/create", "params": { "message": "name?" } });
        assert_eq!(question["result"]["inputRequests"][&name], asked);
        let (asked, mailbox) = back(&scene, &caller(), &question, &json!({ name: { "action": "accept" } }));
        let said: Value = serde_json::from_str(&process.line().await.expect("an answer")).unwrap();
        assert_eq!(said, json!({ "jsonrpc": "2.0", "id": "q", "result": { "action": "accept" } }));
        process.answer(&call, text("done")).await;
        let answer = answer(&mailbox).await;
        assert_eq!((&answer["id"], &answer["result"]["resultType"]), (&json!(2), &json!("complete")));
        assert_eq!(answer["result"]["content"], text("done")["content"]);
        asked.answered();
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_at_once_comes_at_once_and_what_is_not_answered_comes_again() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (asked, mailbox) = ask(&scene, &caller(), request(1, "tools/call", &able()));
    let mut process = scene.process().await;
    let call = process.expect("tools/call").await;
    process.ask(json!(0), "elicitation/create", json!({ "message": "name?" })).await;
    process.ask(json!(1), "roots/list", json!({})).await;
    let question = answer(&mailbox).await;
    asked.answered();
    let names = names(&question);
    assert_eq!(names.len(), 2, "{question}");
    let (asked, mailbox) =
        back(&scene, &caller(), &question, &json!({ names[0].clone(): { "action": "decline" }, "other": 1 }));
    let again = answer(&mailbox).await;
    asked.answered();
    assert_eq!(self::names(&again), [names[1].clone()], "{again}");
    assert_ne!(again["result"]["requestState"], question["result"]["requestState"]);
    let (stale, refused) = back(&scene, &caller(), &question, &json!({ names[1].clone(): { "roots": [] } }));
    assert!(answer(&refused).await["error"]["message"].as_str().unwrap().contains("used already"));
    stale.answered();
    let (asked, mailbox) = back(&scene, &caller(), &again, &json!({ names[1].clone(): { "roots": [] } }));
    assert!(process.line().await.unwrap().contains("decline"));
    assert!(process.line().await.unwrap().contains("roots"));
    process.answer(&call, text("done")).await;
    assert_eq!(answer(&mailbox).await["result"]["content"][0]["text"], "done");
    asked.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_client_brings_unasked_is_at_hand_when_it_is_asked() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let brought = json!({ "inputResponses": { "q": { "action": "accept" }, "other": { "action": "decline" } } });
    let (asked, mailbox) = ask(&scene, &caller(), with(request(1, "tools/call", &able()), &brought));
    let mut process = scene.process().await;
    let call = process.expect("tools/call").await;
    assert_eq!(call["params"].get("inputResponses"), None);
    process.ask(json!("q"), "elicitation/create", json!({ "message": "name?" })).await;
    let said: Value = serde_json::from_str(&process.line().await.expect("an answer")).unwrap();
    assert_eq!(said, json!({ "jsonrpc": "2.0", "id": "q", "result": { "action": "accept" } }));
    // Once: the same question again is one.
    process.ask(json!("q"), "elicitation/create", json!({ "message": "name?" })).await;
    assert_eq!(names(&answer(&mailbox).await), ["q"]);
    asked.answered();
    process.answer(&call, text("done")).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_while_nobody_waits_is_kept() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (process, call, question) = asked_back(&scene, &caller()).await;
    process.answer(&call, text("without you")).await;
    sleep(Duration::from_secs(1)).await;
    let (asked, mailbox) = back(&scene, &caller(), &question, &json!({}));
    assert_eq!(answer(&mailbox).await["result"]["content"][0]["text"], "without you");
    asked.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_state_counts_once_for_its_owner_and_its_request() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (mut process, call, question) = asked_back(&scene, &caller()).await;
    let refused = async |asked: (Asked, Arc<Mailbox>), why: &str| {
        let answer = answer(&asked.1).await;
        asked.0.answered();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32602)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    };
    let mut tampered = question.clone();
    let state = question["result"]["requestState"].as_str().unwrap();
    tampered["result"]["requestState"] =
        json!(format!("{}{}", if state.starts_with('A') { "B" } else { "A" }, &state[1..]));
    refused(back(&scene, &caller(), &tampered, &json!({})), "was not issued here, or was changed").await;
    refused(back(&scene, &Caller::new(Principal::new("bob")), &question, &json!({})), "somebody else").await;
    let further = json!({ "requestState": state, "inputResponses": {}, "name": "other" });
    refused(ask(&scene, &caller(), with(request(2, "tools/call", &able()), &further)), "another request").await;
    process.hears_nothing().await;
    // Nothing of this has harmed the request itself.
    let (asked, mailbox) =
        back(&scene, &caller(), &question, &json!({ names(&question).remove(0): { "action": "accept" } }));
    process.line().await.expect("the answer");
    refused(back(&scene, &caller(), &question, &json!({})), "used already").await;
    process.answer(&call, text("done")).await;
    assert_eq!(answer(&mailbox).await["result"]["content"][0]["text"], "done");
    asked.answered();
    refused(back(&scene, &caller(), &question, &json!({})), "used already").await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_come_back_in_time_is_given_up() {
    let timeouts = Timeouts { round: Duration::from_secs(30), ..Timeouts::default() };
    let scene = Scene::new(Plan { timeouts, ..calm(ProcessModel::PerSession) });
    let (mut process, call, question) = asked_back(&scene, &caller()).await;
    let refusal: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
    assert_eq!((&refusal["id"], refusal["error"].is_object()), (&json!("q"), true), "{refusal}");
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], call["id"]);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(scene.metric("requests_in_flight"), 0);
    let (asked, mailbox) = back(&scene, &caller(), &question, &json!({}));
    assert!(answer(&mailbox).await["error"]["message"].as_str().unwrap().contains("expired"));
    asked.answered();
    process.hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_was_asked_is_not_forgotten() {
    let (caller_kept, round) = (Duration::from_secs(10), Duration::from_mins(5));
    let timeouts = Timeouts { caller: caller_kept, round, ..Timeouts::default() };
    let scene = Scene::new(Plan { timeouts, ..calm(ProcessModel::PerSession) });
    let (mut process, call, question) = asked_back(&scene, &caller()).await;
    sleep(Duration::from_mins(1)).await;
    let (asked, mailbox) = back(&scene, &caller(), &question, &json!({ "q": { "action": "accept" } }));
    process.line().await.expect("the answer");
    process.answer(&call, text("done")).await;
    assert_eq!(answer(&mailbox).await["result"]["content"][0]["text"], "done");
    asked.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_state_ends_with_the_process() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (process, _, question) = asked_back(&scene, &caller()).await;
    process.die().await;
    let next = scene.process().await;
    sleep(Duration::from_secs(1)).await;
    let (asked, mailbox) = back(&scene, &caller(), &question, &json!({}));
    let answer = answer(&mailbox).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("restarted"), "{answer}");
    asked.answered();
    drop(next);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_is_not_asked_what_it_cannot_do() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (asked, mailbox) = ask(&scene, &caller(), request(1, "tools/call", &json!({ "roots": {} })));
    let mut process = scene.process().await;
    let call = process.expect("tools/call").await;
    process.ask(json!("q"), "elicitation/create", json!({ "message": "name?" })).await;
    let refusal: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
    assert_eq!(refusal["error"]["code"], -32601, "{refusal}");
    process.answer(&call, text("then not")).await;
    assert_eq!(answer(&mailbox).await["result"]["content"][0]["text"], "then not");
    asked.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_address_to_open_first_is_a_question_and_the_request_is_made_once_more() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (asked, mailbox) = ask(&scene, &caller(), request(1, "tools/call", &able()));
    let mut process = scene.process().await;
    let call = process.expect("tools/call").await;
    let elicitation = json!({ "mode": "url", "elicitationId": "e", "url": "https://a.example", "message": "go" });
    let error = json!({ "code": -32042, "message": "first", "data": { "elicitations": [elicitation] } });
    process.say(json!({ "jsonrpc": "2.0", "id": call["id"], "error": error }).to_string()).await;
    let question = answer(&mailbox).await;
    asked.answered();
    let name = names(&question).remove(0);
    assert_eq!(question["result"]["inputRequests"][&name]["params"]["url"], "https://a.example");
    let (asked, mailbox) = back(&scene, &caller(), &question, &json!({ name: { "action": "accept" } }));
    let again = process.expect("tools/call").await;
    assert_ne!(again["id"], call["id"]);
    assert_eq!(again["params"], json!({ "name": "echo", "_meta": {} }));
    process.answer(&again, text("done")).await;
    assert_eq!(answer(&mailbox).await["result"]["content"][0]["text"], "done");
    asked.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn progress_and_logs_come_before_the_answer_and_only_where_they_are_wanted() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let further = json!({ "_meta": { "progressToken": "mine", "io.modelcontextprotocol/logLevel": "warning" } });
    let (asked, mailbox) = ask(&scene, &caller(), with(request(1, "tools/call", &able()), &further));
    let mut process = scene.process().await;
    assert_eq!(process.expect("logging/setLevel").await["params"]["level"], "warning");
    let call = process.expect("tools/call").await;
    assert_eq!(call["params"]["_meta"], json!({ "progressToken": call["id"] }));
    for level in ["info", "error"] {
        process.notify("notifications/message", json!({ "level": level, "data": "x" })).await;
    }
    process.notify("notifications/progress", json!({ "progressToken": call["id"], "progress": 1 })).await;
    process.notify("notifications/tools/list_changed", json!({})).await;
    process.notify("notifications/unheard/of", json!({ "level": "error" })).await;
    process.answer(&call, text("done")).await;
    assert_eq!(answer(&mailbox).await["params"]["level"], "error");
    assert_eq!(answer(&mailbox).await["params"]["progressToken"], "mine");
    let last = mailbox.next().await.unwrap();
    assert_eq!(last.kind, OutgoingKind::Response);
    asked.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_state_of_a_modern_process_passes_as_it_is_and_only_for_its_owner() {
    let plan = Plan { era: Some(Era::Modern), ..calm(ProcessModel::Shared) };
    let scene = Scene::with(plan, |_| Profile::modern(json!({ "tools": {} })));
    let (asked, mailbox) = ask(&scene, &caller(), request(1, "tools/call", &able()));
    let (mut process, call) = scene.process_that_hears("tools/call").await;
    let state = "\u{e9}\"\\ {}";
    process.answer(&call, json!({ "resultType": "input_required", "requestState": state })).await;
    let question = answer(&mailbox).await;
    assert_eq!(question["result"], json!({ "resultType": "input_required", "requestState": state }));
    asked.answered();
    let (asked, mailbox) = back(&scene, &Caller::new(Principal::new("bob")), &question, &json!({}));
    assert!(answer(&mailbox).await["error"]["message"].as_str().unwrap().contains("somebody else"));
    asked.answered();
    process.hears_nothing().await;
    let (_asked, _mailbox) = back(&scene, &caller(), &question, &json!({ "a": { "b": 1.0 } }));
    let again = process.expect("tools/call").await;
    assert_eq!(
        (&again["params"]["requestState"], &again["params"]["inputResponses"]),
        (&json!(state), &json!({ "a": { "b": 1.0 } }))
    );
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_state_counts_only_with_the_process_that_it_is_of() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    // The same principal as two kinds of client: two processes, and each has asked about its first request.
    let (_first, _, question) = asked_back(&scene, &caller()).await;
    let other = json!({ "elicitation": {} });
    let (asked, mailbox) = ask(&scene, &caller(), request(1, "tools/call", &other));
    let mut second = scene.process().await;
    second.expect("tools/call").await;
    second.ask(json!("q"), "elicitation/create", json!({ "message": "age?" })).await;
    answer(&mailbox).await;
    asked.answered();
    let further = json!({ "requestState": question["result"]["requestState"], "inputResponses": { "q": {} } });
    let (asked, mailbox) = ask(&scene, &caller(), with(request(2, "tools/call", &other), &further));
    assert!(answer(&mailbox).await["error"]["message"].as_str().unwrap().contains("restarted"));
    asked.answered();
    second.hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_request_that_carries_it() {
    let limits = Limits { server_requests: 1, ..Limits::default() };
    let scene = Scene::new(Plan { limits, ..calm(ProcessModel::PerSession) });
    let (asked, mailbox) = ask(&scene, &caller(), request(1, "tools/call", &able()));
    let mut process = scene.process().await;
    let call = process.expect("tools/call").await;
    // The process goes on without an answer.
    process.ask(json!("q"), "elicitation/create", json!({})).await;
    process.answer(&call, text("never mind")).await;
    assert_eq!(answer(&mailbox).await["result"]["content"][0]["text"], "never mind");
    asked.answered();
    // There is room for another question.
    let (_asked, mailbox) = ask(&scene, &caller(), request(3, "tools/call", &able()));
    process.expect("tools/call").await;
    process.ask(json!("s"), "elicitation/create", json!({})).await;
    assert_eq!(names(&answer(&mailbox).await), ["s"]);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_an_answer_is_asked_for_again() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (mut process, _, question) = asked_back(&scene, &caller()).await;
    let (asked, mailbox) = back(&scene, &caller(), &question, &json!({ "q": 5 }));
    assert_eq!(names(&answer(&mailbox).await), ["q"]);
    asked.answered();
    process.hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn questions_go_with_requests_in_their_order() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (first, first_mailbox) = ask(&scene, &caller(), request(1, "tools/call", &able()));
    let (_other, listed) = ask(&scene, &caller(), request(2, "completion/complete", &able()));
    let (second, second_mailbox) = ask(&scene, &caller(), request(3, "tools/call", &able()));
    let mut process = scene.process().await;
    process.expect("tools/call").await;
    for name in ["one", "two", "three"] {
        process.ask(json!(name), "elicitation/create", json!({})).await;
    }
    assert_eq!(names(&answer(&first_mailbox).await), ["one"]);
    assert_eq!(names(&answer(&second_mailbox).await), ["three", "two"]);
    first.answered();
    second.answered();
    assert!(listed.try_next().is_none(), "its answer cannot ask");
    // Where nobody waits, the newest has it when its client is back.
    process.ask(json!("four"), "elicitation/create", json!({})).await;
    scene.end().await;
}

/// A request that cannot be said in the words of the process is refused also where the process becomes ready in the very
/// moment in which it is made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_state_is_refused_whenever_the_process_becomes_ready() {
    for _ in 0..40 {
        let server = kennel_testkit::fake::McpServer::default();
        let scene = Scene::scripted(calm(ProcessModel::Shared), move |child| server.clone().run(child));
        let (hub, runtime) = (scene.hub.clone(), tokio::runtime::Handle::current());
        let asking = (0..3).map(|_| {
            let (hub, runtime) = (hub.clone(), runtime.clone());
            tokio::task::spawn_blocking(move || {
                let _entered = runtime.enter();
                let foreign = with(request(1, "tools/call", &able()), &json!({ "requestState": "foreign" }));
                let asked = (0..150).map(|_| {
                    let mailbox = Mailbox::new(kennel_hub::MailboxLimits::default());
                    (hub.ask(&caller(), foreign.clone(), &mailbox), mailbox)
                });
                asked.collect::<Vec<_>>()
            })
        });
        for asked in asking.collect::<Vec<_>>() {
            for (asked, mailbox) in asked.await.unwrap() {
                let refused = tokio::time::timeout(Duration::from_mins(1), answer(&mailbox)).await.expect("an answer");
                assert!(refused["error"]["message"].as_str().unwrap().contains("not issued here"), "{refused}");
                asked.answered();
            }
        }
        scene.end().await;
    }
}
