//! Health, readiness, measurements, and addresses where there is nothing.

use crate::support::{SOON, Scene, echo, initialize};
use serde_json::json;
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn readiness_follows_the_server_and_health_does_not() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let ready = connection.ask("GET", "/readyz", &[], "").await;
    assert_eq!((ready.status, &ready.json()["ready"]), (200, &json!(true)));
    scene.engine.refuse(Some("there is no room"));
    let failed = scene.connect().await.post(&[], &initialize("2025-11-25")).await;
    assert!(failed.json()["error"].is_object());
    assert_eq!(connection.ask("GET", "/healthz", &[], "").await.status, 200);
    scene.hub.shutdown().await;
    let unready = connection.ask("GET", "/readyz", &[], "").await;
    assert_eq!(unready.status, 503);
    assert_eq!(unready.json()["servers"], json!({ "ready": 0, "starting": 0, "failed": 0, "closing": 1 }));
    assert_eq!(unready.json()["not_ready"][0]["state"], "closing", "{unready:?}");
    assert_eq!(connection.ask("GET", "/healthz", &[], "").await.status, 200);
    assert_eq!(connection.ask("POST", "/healthz", &[], "").await.status, 405);
    scene.end().await;
}

#[tokio::test]
async fn a_probe_needs_no_known_host() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(connection.ask("GET", path, &[("host", "kennel.namespace.svc")], "").await.status, 200);
    }
    scene.end().await;
}

#[tokio::test]
async fn measurements_count_what_happened() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    client.post(&echo(1, "one")).await;
    client.connection.ask("GET", "/nowhere", &[], "").await;
    let page = client.connection.ask("GET", "/metrics", &[], "").await;
    assert!(page.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let text = page.text();
    for line in [
        "kennel_http_requests_total{door=\"mcp\",status=\"2xx\"} 3",
        "kennel_http_requests_total{door=\"other\",status=\"4xx\"} 1",
        "kennel_http_connections 1",
        "kennel_http_sessions 1",
        "# TYPE kennel_requests_total counter",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    }
    drop(client);
    let closed = async {
        let mut connection = scene.connect().await;
        while !connection.ask("GET", "/metrics", &[], "").await.text().contains("kennel_http_connections 1\n") {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, closed).await.expect("a closed connection is counted as closed");
    scene.end().await;
}

#[tokio::test]
async fn where_there_is_nothing_the_way_is_shown() {
    let scene = Scene::new().await;
    for path in ["/", "/sse", "/mcp/", "/nowhere"] {
        let response = scene.connect().await.ask("GET", path, &[], "").await;
        assert_eq!(response.status, 404, "{path}");
        assert!(response.text().contains("/mcp"), "{path}");
    }
    scene.end().await;
}
