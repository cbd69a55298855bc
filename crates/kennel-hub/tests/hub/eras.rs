//! In which era processes are opened: as their clients talk, as the server can, and as was found out before.

use crate::callers::{answer, ask, request};
use crate::support::{Plan, Profile, Scene, calm};
use kennel_hub::{Caller, CatalogPlace, Principal, ProcessModel};
use kennel_state::Store;
use kennel_wire::Era;
use serde_json::{Value, json};

fn scene(era: Era, model: ProcessModel, catalog: Option<CatalogPlace>) -> Scene {
    let plan = Plan { era: None, catalog, ..calm(model) };
    Scene::with(plan, move |_| Profile { era, ..Profile::default() })
}

/// Asks a server what it is, as a client without a session.
async fn discovered(scene: &Scene, principal: &str) -> Value {
    let caller = Caller::new(Principal::new(principal));
    let (asked, mailbox) = ask(scene, &caller, request(1, "server/discover", &json!({})));
    let discovered = answer(&mailbox).await;
    asked.answered();
    discovered
}

#[tokio::test(start_paused = true)]
async fn a_client_with_a_session_reaches_a_modern_server_by_its_second_process() {
    let scene = scene(Era::Modern, ProcessModel::PerSession, None);
    let client = scene.guest("ann", json!({})).await;
    assert_eq!(client.introduction["result"]["serverInfo"]["name"], "fake");
    scene.process().await.ended().await;
    let _second = scene.process().await;
    scene.starts_nothing().await;
    // The next one knows.
    let _other = scene.guest("bob", json!({ "roots": {} })).await;
    let _third = scene.process().await;
    scene.starts_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_session_reaches_an_old_server_by_its_second_process() {
    let scene = scene(Era::Legacy, ProcessModel::PerSession, None);
    let said = discovered(&scene, "ann").await;
    assert_eq!(said["result"]["supportedVersions"][0], "2026-07-28", "{said}");
    scene.process().await.ended().await;
    let _second = scene.process().await;
    scene.starts_nothing().await;
    discovered(&scene, "bob").await;
    let _third = scene.process().await;
    scene.starts_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_found_out_is_remembered() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession] {
        let place = CatalogPlace { store: Store::in_memory(), fingerprint: "f".to_owned() };
        let first = scene(Era::Legacy, model, Some(place.clone()));
        discovered(&first, "ann").await;
        first.process().await.ended().await;
        first.process().await;
        first.end().await;
        let second = scene(Era::Legacy, model, Some(place));
        // From memory, and then with the right process at once.
        assert_eq!(discovered(&second, "ann").await["result"]["capabilities"]["tools"], json!({ "listChanged": true }));
        let _process = second.process().await;
        second.starts_nothing().await;
        second.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn clients_of_both_eras_share_a_process() {
    for era in [Era::Legacy, Era::Modern] {
        let scene = scene(era, ProcessModel::Shared, None);
        let old = scene.guest("ann", json!({})).await;
        let stream = old.call(1, "echo");
        let caller = Caller::new(Principal::new("bob"));
        let (asked, mailbox) = ask(&scene, &caller, request(1, "tools/call", &json!({})));
        let (mut process, first) = scene.process_that_hears("tools/call").await;
        let second: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
        for call in [&first, &second] {
            let result = json!({ "resultType": "complete", "content": [{ "type": "text", "text": call["id"] }] });
            process.answer(call, result).await;
        }
        let one = stream.response().await["result"]["content"][0]["text"].clone();
        let other = answer(&mailbox).await["result"]["content"][0]["text"].clone();
        assert_ne!(one, other);
        asked.answered();
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_shared_process_speaks_what_is_known_to_be_spoken() {
    let place = CatalogPlace { store: Store::in_memory(), fingerprint: "f".to_owned() };
    let first = scene(Era::Legacy, ProcessModel::PerSession, Some(place.clone()));
    first.guest("ann", json!({})).await;
    first.end().await;
    let second = scene(Era::Legacy, ProcessModel::Shared, Some(place));
    discovered(&second, "ann").await;
    let _process = second.process().await;
    second.starts_nothing().await;
    second.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_gave_no_sign_is_not_waited_for_again() {
    let plan = Plan { era: None, ..calm(ProcessModel::PerSession) };
    let scene = Scene::with(plan, |_| Profile { is_shy: true, ..Profile::default() });
    discovered(&scene, "ann").await;
    scene.process().await.ended().await;
    let _second = scene.process().await;
    // Another caller's process is opened in the right era at once.
    discovered(&scene, "bob").await;
    let introduction = scene.process().await.introduction().await;
    assert_eq!(introduction["protocolVersion"], "2025-11-25", "{introduction}");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_for_everybody_is_not_told_from_memory() {
    for scope in ["public", "private"] {
        let place = CatalogPlace { store: Store::in_memory(), fingerprint: "f".to_owned() };
        let tools = vec![json!({ "tools": [], "resultType": "complete", "ttlMs": 1, "cacheScope": scope })];
        let make = |held| {
            let tools = tools.clone();
            let plan = Plan { era: None, catalog: Some(place.clone()), ..calm(ProcessModel::Shared) };
            Scene::with(plan, move |_| Profile { era: Era::Modern, tools: tools.clone(), held, ..Profile::default() })
        };
        let first = make(false);
        discovered(&first, "ann").await;
        first.end().await;
        let second = make(true);
        let caller = Caller::new(Principal::new("bob"));
        let (asked, mailbox) = ask(&second, &caller, request(1, "tools/list", &json!({})));
        crate::support::settle().await;
        assert_eq!(mailbox.try_next().is_some(), scope == "public", "{scope}");
        drop(asked);
        second.end().await;
    }
}
