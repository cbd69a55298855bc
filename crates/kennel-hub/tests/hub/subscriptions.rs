//! Subscriptions to resources: one with the process however many clients have it, and news for those who asked.

use crate::support::{Guest, Process, Profile, Scene, calm};
use kennel_hub::ProcessModel;
use serde_json::{Value, json};

fn scene() -> Scene {
    let profile = Profile { capabilities: json!({ "resources": { "subscribe": true } }), ..Profile::default() };
    Scene::with(calm(ProcessModel::Shared), move |_| profile.clone())
}

/// The process of a scene, after Kennel has asked it for its resources.
async fn surveyed(scene: &Scene) -> Process {
    let mut process = scene.process().await;
    let resources = process.expect("resources/list").await;
    process.answer(&resources, json!({ "resources": [] })).await;
    let templates = process.expect("resources/templates/list").await;
    process.answer(&templates, json!({ "resourceTemplates": [] })).await;
    process
}

async fn forwarded(client: &Guest, process: &mut Process, method: &str) {
    let stream = client.request(1, method, json!({ "uri": "test://a" }));
    let request = process.expect(method).await;
    assert_eq!(request["params"], json!({ "uri": "test://a" }));
    process.answer(&request, json!({})).await;
    assert_eq!(stream.response().await["result"], json!({}));
}

async fn quietly(client: &Guest, process: &mut Process, method: &str) {
    let stream = client.request(1, method, json!({ "uri": "test://a" }));
    assert_eq!(stream.response().await["result"], json!({}));
    process.hears_nothing().await;
}

async fn updated(process: &Process) {
    process.notify("notifications/resources/updated", json!({ "uri": "test://a" })).await;
}

fn is_update(message: &Value) -> bool {
    message["method"] == "notifications/resources/updated"
}

#[tokio::test(start_paused = true)]
async fn the_first_subscribes_the_last_unsubscribes_and_only_subscribers_hear() {
    let scene = scene();
    // Of different principals: what they subscribed to, they may hear of.
    let (one, two, three) =
        (scene.guest("1", json!({})).await, scene.guest("2", json!({})).await, scene.guest("3", json!({})).await);
    let mut process = surveyed(&scene).await;
    forwarded(&one, &mut process, "resources/subscribe").await;
    quietly(&two, &mut process, "resources/subscribe").await;
    updated(&process).await;
    process.notify("notifications/resources/updated", json!({ "uri": "test://b" })).await;
    for client in [&one, &two] {
        assert!(is_update(&client.unsolicited.notification().await));
        client.unsolicited.is_quiet().await;
    }
    three.unsolicited.is_quiet().await;
    quietly(&one, &mut process, "resources/unsubscribe").await;
    updated(&process).await;
    assert!(is_update(&two.unsolicited.notification().await));
    one.unsolicited.is_quiet().await;
    forwarded(&two, &mut process, "resources/unsubscribe").await;
    updated(&process).await;
    two.unsolicited.is_quiet().await;
    // A session that ends unsubscribes, unless another needs it.
    forwarded(&one, &mut process, "resources/subscribe").await;
    quietly(&two, &mut process, "resources/subscribe").await;
    one.session.close();
    process.hears_nothing().await;
    two.session.close();
    assert_eq!(process.expect("resources/unsubscribe").await["params"]["uri"], "test://a");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_subscription_does_not_hold() {
    let scene = scene();
    let (one, two) = (scene.client().await, scene.client().await);
    let mut process = surveyed(&scene).await;
    let stream = one.request(1, "resources/subscribe", json!({ "uri": "test://a" }));
    let request = process.expect("resources/subscribe").await;
    process.fail(&request, -32002).await;
    stream.error(-32002).await;
    updated(&process).await;
    one.unsolicited.is_quiet().await;
    forwarded(&two, &mut process, "resources/subscribe").await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_unsubscribes_while_another_subscribes_takes_nothing_from_it() {
    let scene = scene();
    let (one, two) = (scene.client().await, scene.client().await);
    let mut process = surveyed(&scene).await;
    // Both subscribe at once; the first gives up before the second has its answer.
    let first = one.request(1, "resources/subscribe", json!({ "uri": "test://a" }));
    let request = process.expect("resources/subscribe").await;
    let second = two.request(1, "resources/subscribe", json!({ "uri": "test://a" }));
    let another = process.expect("resources/subscribe").await;
    process.answer(&request, json!({})).await;
    first.response().await;
    quietly(&one, &mut process, "resources/unsubscribe").await;
    process.answer(&another, json!({})).await;
    second.response().await;
    // The other way round: it subscribes while the last one's farewell is on its way.
    let farewell = two.request(2, "resources/unsubscribe", json!({ "uri": "test://a" }));
    let request = process.expect("resources/unsubscribe").await;
    let stream = one.request(2, "resources/subscribe", json!({ "uri": "test://a" }));
    assert_eq!(stream.response().await["result"], json!({}));
    process.answer(&request, json!({})).await;
    farewell.response().await;
    assert_eq!(process.expect("resources/subscribe").await["params"]["uri"], "test://a");
    updated(&process).await;
    assert!(is_update(&one.unsolicited.notification().await));
    two.unsolicited.is_quiet().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn changed_lists_are_told_to_all() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let clients = [scene.guest("one", json!({})).await, scene.guest("two", json!({})).await];
    let stream = clients[0].call(1, "echo");
    let mut process = scene.process().await;
    process.expect("tools/call").await;
    process.notify("notifications/tools/list_changed", json!({})).await;
    for client in &clients {
        assert_eq!(client.unsolicited.notification().await["method"], "notifications/tools/list_changed");
    }
    stream.is_quiet().await;
    scene.end().await;
}
