//! What a process writes reaches the receiver whole, in order, and no faster than it is taken.

use crate::support::{Scene, Told, calm};
use kennel_supervisor::{Noise, Settings};
use kennel_testkit::fake::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::sleep;

const GREETING: &str =
    r#"{"jsonrpc":"2.0","id":"kennel:1","result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;

/// What was told apart from transitions.
fn words(scene: &Scene) -> Vec<Told> {
    scene.recorder.log().into_iter().filter(|told| !matches!(told, Told::Event(_))).collect()
}

fn message(text: &str) -> Told {
    Told::Message(1, text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn messages_before_ready_and_after_are_told_in_their_order() {
    const ASKS: &str = r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#;
    const LOGS: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1.0}}"#;
    let scene = Scene::new(calm(), |mut child: Child| async move {
        // All in one write, so that nothing but care keeps the order.
        child.print(format!("{ASKS}\n{GREETING}\n{LOGS}\n").as_bytes()).await;
        while child.line().await.is_some() {}
        Child::exit(0)
    });
    let scene = scene.ready().await;
    scene.recorder.until(2, "messages", |told| matches!(told, Told::Message(..))).await;
    assert_eq!(words(&scene), [message(ASKS), Told::Ready(1), message(LOGS)]);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_last_words_of_a_process_come_before_its_end() {
    const LAST: &str = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    let scene = Scene::new(calm(), |mut child: Child| async move {
        child.say(GREETING).await;
        sleep(Duration::from_secs(1)).await;
        child.complain("goodbye").await;
        child.print(LAST.as_bytes()).await;
        Child::exit(1)
    });
    let scene = scene.ready().await;
    scene.recorder.until(1, "gone", |told| matches!(told, Told::Gone(1, _))).await;
    let words = words(&scene);
    assert_eq!(words[0], Told::Ready(1));
    assert!(words[1..3].contains(&message(LAST)) && words[1..3].contains(&Told::Diagnostics(1, "goodbye".to_owned())));
    assert!(matches!(words[3], Told::Gone(1, _)));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn batches_come_apart_and_noise_is_told_as_such() {
    let scene = Scene::new(Settings { line_bytes: 200, ..calm() }, |mut child: Child| async move {
        child.say("Starting up").await;
        child.say("").await;
        child.say(GREETING).await;
        child.say(r#"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":2,"result":2}]"#).await;
        child.say(&"x".repeat(300)).await;
        child.say(r#"{"jsonrpc":"2.0","id":3,"result":3}"#).await;
        while child.line().await.is_some() {}
        Child::exit(0)
    });
    let scene = scene.ready().await;
    scene.recorder.until(3, "messages", |told| matches!(told, Told::Message(..))).await;
    let words = words(&scene);
    assert!(matches!(&words[0], Told::Noise(1, Noise::NotAMessage { head, .. }) if head == "Starting up"));
    assert_eq!(words[1], Told::Ready(1));
    assert_eq!(words[2], message(r#"{"jsonrpc":"2.0","id":1,"result":1}"#));
    assert_eq!(words[3], message(r#"{"jsonrpc":"2.0","id":2,"result":2}"#));
    assert!(matches!(&words[4], Told::Noise(1, Noise::TooLong { length: 300, .. })));
    assert_eq!(words[5], message(r#"{"jsonrpc":"2.0","id":3,"result":3}"#));
    assert_eq!(words.len(), 6, "{words:#?}");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_waits_for_a_slow_receiver_and_loses_nothing() {
    const MESSAGES: usize = 40_000;
    let said = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&said);
    let scene = Scene::new(calm(), move |mut child: Child| {
        let said = Arc::clone(&counter);
        async move {
            child.say(GREETING).await;
            let padding = "p".repeat(1000);
            for number in 0..MESSAGES {
                child.say(&format!(r#"{{"jsonrpc":"2.0","method":"m","params":[{number},"{padding}"]}}"#)).await;
                said.fetch_add(1, Ordering::SeqCst);
            }
            while child.line().await.is_some() {}
            Child::exit(0)
        }
    });
    scene.recorder.shut_gate();
    let scene = scene.ready().await;
    sleep(Duration::from_mins(10)).await;
    let stuck = said.load(Ordering::SeqCst);
    assert!(stuck < MESSAGES, "everything was taken in although nobody took it over");
    scene.recorder.open_gate();
    scene.recorder.until(MESSAGES, "messages", |told| matches!(told, Told::Message(..))).await;
    let numbers = scene.recorder.log().into_iter().filter_map(|told| match told {
        Told::Message(_, text) => serde_json::from_str::<serde_json::Value>(&text).unwrap()["params"][0].as_u64(),
        _ => None,
    });
    assert!(numbers.eq(0..MESSAGES as u64), "lost or out of order");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_never_takes_a_message_does_not_hold_up_a_stop() {
    let scene = Scene::new(calm(), |mut child: Child| async move {
        child.say(GREETING).await;
        loop {
            child.say(r#"{"jsonrpc":"2.0","method":"m"}"#).await;
        }
    });
    scene.recorder.shut_gate();
    let scene = scene.ready().await;
    sleep(Duration::from_secs(1)).await;
    scene.instance.restart();
    scene.recorder.until_ready(2).await;
    let began = tokio::time::Instant::now();
    scene.instance.shutdown().await;
    assert!(began.elapsed() < Settings::default().longest_stop() * 2);
    scene.end().await;
}
