//! Many servers as one: those that are slow, or broken, and those that are remembered.

use crate::support::{Plan, Profile, Scene, calm, settle};
use crate::union_support::{House, called, hear_out, list, member, rich, scene_as, scene_of, tool_names, with_tools};
use kennel_hub::{CatalogPlace, ProcessModel, UnionSettings};
use kennel_state::Store;
use kennel_testkit::fake::Child;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_secs(5);

/// A server `a` with the tool `x`, and a server `slow` that is ready only when the test says so.
fn house(model: ProcessModel) -> House {
    let slow = scene_of(model, Profile { held: true, ..with_tools(&["y"]) });
    House::new(vec![("a", scene_of(model, with_tools(&["x"]))), ("slow", slow)])
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_is_waited_for_only_so_long_and_announced_when_it_is_there() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession] {
        let house = house(model);
        let (client, other) = (house.client().await, house.client().await);
        let before = Instant::now();
        let stream = client.request(1, "tools/list", json!({}));
        let slow = house.process("slow").await;
        // Others are not held up.
        let call = other.call(1, "a__x");
        let (process, request) = house.scene("a").process_that_hears("tools/call").await;
        process.answer(&request, json!({})).await;
        call.response().await;
        assert!(before.elapsed() < PATIENCE);
        stream.is_quiet().await;
        let response = stream.response().await;
        assert_eq!(called(&response["result"], "tools", "name"), ["a__x"]);
        assert_eq!(before.elapsed(), PATIENCE);
        // Once was enough.
        let before = Instant::now();
        assert_eq!(tool_names(&other).await, ["a__x"]);
        assert_eq!(before.elapsed(), Duration::ZERO);
        // Also where other servers come and go.
        house.union.replace(vec![member("a", house.scene("a")), member("slow", house.scene("slow"))]);
        assert_eq!(tool_names(&other).await, ["a__x"]);
        assert_eq!(before.elapsed(), Duration::ZERO);
        for client in [&client, &other] {
            hear_out(client).await;
        }
        slow.open().await;
        for client in [&client, &other] {
            assert_eq!(client.unsolicited.notification().await["method"], "notifications/tools/list_changed");
            assert_eq!(tool_names(client).await, ["a__x", "slow__y"]);
            client.unsolicited.is_quiet().await;
        }
        settle().await;
        house.scene("slow").starts_nothing().await;
        house.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_keeps_no_other_from_its_turn() {
    let held = || scene_of(ProcessModel::PerSession, Profile { held: true, ..Profile::default() });
    let good = scene_of(ProcessModel::PerSession, with_tools(&["y"]));
    let settings = UnionSettings { trials: Arc::new(Semaphore::new(1)), ..UnionSettings::default() };
    let house = House::with(settings, vec![("a", held()), ("b", held()), ("c", good)]);
    let client = house.client().await;
    for _ in 0..3 {
        client.request(1, "tools/list", json!({})).response().await;
    }
    let _hanging = [house.process("a").await, house.process("b").await];
    let told = client.unsolicited.notification().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(tool_names(&client).await, ["c__y"]);
    house.scene("a").starts_nothing().await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_be_started_holds_nobody_up_and_is_left_alone_for_a_while() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared] {
        let starts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&starts);
        let crashing = Scene::scripted(calm(model), move |_child: Child| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Child::exit(1) }
        });
        let house = House::new(vec![("a", scene_of(model, with_tools(&["x"]))), ("crash", crashing)]);
        let client = house.client().await;
        let before = Instant::now();
        assert_eq!(tool_names(&client).await, ["a__x"]);
        assert!(before.elapsed() <= PATIENCE);
        let started = starts.load(Ordering::Relaxed);
        assert!(started > 0);
        let before = Instant::now();
        for _ in 0..20 {
            assert_eq!(tool_names(&client).await, ["a__x"]);
        }
        assert_eq!(before.elapsed(), Duration::ZERO, "{model:?}");
        assert_eq!(starts.load(Ordering::Relaxed), started, "{model:?}");
        house.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_could_not_be_started_is_tried_again() {
    let house = House::pair(ProcessModel::PerSession);
    house.scene("b").engine.refuse(Some("there is no room"));
    let client = house.client().await;
    let before = Instant::now();
    assert_eq!(tool_names(&client).await, ["a__x"]);
    assert!(before.elapsed() < PATIENCE, "there is nothing to wait for");
    house.scene("b").engine.refuse(None);
    sleep(Duration::from_mins(1)).await;
    hear_out(&client).await;
    // Who asks now waits for it, or hears of it.
    tool_names(&client).await;
    hear_out(&client).await;
    assert_eq!(tool_names(&client).await, ["a__x", "b__y"]);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_remembered_is_listed_at_once_and_starts_nothing() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession, ProcessModel::PerCall] {
        let store = Store::in_memory();
        let house = || {
            let scene = |name: &str, tool: &str| {
                let catalog = CatalogPlace { store: store.clone(), fingerprint: name.to_owned() };
                scene_as(Plan { catalog: Some(catalog), ..calm(model) }, rich(tool))
            };
            House::new(vec![("a", scene("a", "x.1")), ("b", scene("b", "y"))])
        };
        let first = house();
        let client = first.client().await;
        let mut known = Vec::new();
        let methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
        for method in methods {
            known.push(list(&client, method).await);
        }
        assert_eq!(called(&known[0], "tools", "name").len(), 2);
        assert_eq!(called(&known[3], "resourceTemplates", "name").len(), 2);
        drop(client);
        first.end().await;
        let again = house();
        let client = again.client().await;
        let before = Instant::now();
        for (method, known) in methods.iter().zip(&known) {
            assert_eq!(list(&client, method).await, *known, "{method}");
        }
        assert_eq!(before.elapsed(), Duration::ZERO);
        again.starts_nothing().await;
        assert_eq!(again.live(), 0);
        // And can be called, with a name that says little.
        let stream = client.call(1, known[0]["tools"][0]["name"].as_str().unwrap());
        let (process, request) = again.scene("a").process_that_hears("tools/call").await;
        assert_eq!(request["params"]["name"], "x.1");
        process.answer(&request, json!({})).await;
        stream.response().await;
        again.scene("b").starts_nothing().await;
        hear_out(&client).await;
        again.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_could_not_be_used_is_not_waited_for_after_a_restart_and_announced_when_it_can() {
    for reason in [Some("there is no room"), None] {
        let store = Store::in_memory();
        let house = || {
            let plan = |name: &str| {
                let catalog = CatalogPlace { store: store.clone(), fingerprint: name.to_owned() };
                Plan { catalog: Some(catalog), ..calm(ProcessModel::PerSession) }
            };
            let slow = Profile { held: true, ..with_tools(&["y"]) };
            House::new(vec![("a", scene_as(plan("a"), with_tools(&["x"]))), ("bad", scene_as(plan("bad"), slow))])
        };
        // It cannot be started, or is waited for in vain.
        let first = house();
        first.scene("bad").engine.refuse(reason);
        let client = first.client().await;
        assert_eq!(tool_names(&client).await, ["a__x"]);
        drop(client);
        first.end().await;
        // Now it takes its time, but it comes.
        let again = house();
        let client = again.client().await;
        let before = Instant::now();
        assert_eq!(tool_names(&client).await, ["a__x"]);
        assert_eq!(before.elapsed(), Duration::ZERO, "{reason:?}");
        let bad = again.process("bad").await;
        bad.open().await;
        assert_eq!(client.unsolicited.notification().await["method"], "notifications/tools/list_changed");
        assert_eq!(tool_names(&client).await, ["a__x", "bad__y"]);
        again.end().await;
    }
}
