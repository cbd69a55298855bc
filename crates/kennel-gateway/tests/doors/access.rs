//! Who is let in, over the wire.

use crate::support::{Scene, initialize};
use kennel_gateway::{AccessSettings, Settings, Token};
use kennel_hub::Principal;

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_with_a_reason() {
    let scene = Scene::new().await;
    let own = scene.address.to_string();
    let own_origin = format!("http://{own}");
    let evil = ("host", "evil.example.com");
    let evil_origin = ("origin", "http://evil.example.com");
    let own_name = format!("http://localhost:{}", scene.address.port());
    // A page of another program on this machine.
    let neighbour = ("origin", "http://localhost:5173");
    for (headers, status) in [
        (vec![evil, evil_origin], 403),
        (vec![evil], 403),
        (vec![evil_origin], 403),
        (vec![("origin", own_origin.as_str())], 200),
        (vec![("origin", own_name.as_str())], 200),
        (vec![neighbour], 403),
        (vec![("host", "localhost"), neighbour], 403),
        (vec![], 200),
    ] {
        let response = scene.connect().await.post(&headers, &initialize("2025-11-25")).await;
        assert_eq!(response.status, status, "{headers:?}");
        if status == 403 {
            let text = response.text();
            assert!(text.contains("evil.example.com") || text.contains("localhost:5173"), "{text}");
        }
    }
    // All doors are guarded, also the one that starts with GET.
    let mut connection = scene.connect().await;
    for path in ["/ws", "/rpc", "/metrics", "/", "/mcp"] {
        assert_eq!(connection.ask("GET", path, &[evil], "").await.status, 403, "{path}");
        assert_eq!(connection.ask("GET", path, &[neighbour], "").await.status, 403, "{path}");
    }
    scene.end().await;
}

#[tokio::test]
async fn a_token_is_asked_for_where_there_are_tokens() {
    let tokens = vec![Token { secret: "open sesame".into(), principal: Principal::new("ali") }];
    let access = AccessSettings { tokens, ..AccessSettings::default() };
    let scene = Scene::of(Settings { access, ..Settings::default() }).await;
    let mut connection = scene.connect().await;
    for path in ["/mcp", "/ws", "/rpc", "/metrics"] {
        let refused = connection.ask("GET", path, &[], "").await;
        assert_eq!(
            (refused.status, refused.header("www-authenticate")),
            (401, Some("Bearer realm=\"kennel\"")),
            "{path}"
        );
    }
    let wrong = connection.post(&[("authorization", "Bearer open barley")], &initialize("2025-11-25")).await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.header("www-authenticate").unwrap().contains("invalid_token"));
    let right = connection.post(&[("authorization", "Bearer open sesame")], &initialize("2025-11-25")).await;
    assert_eq!(right.status, 200);
    assert_eq!(connection.ask("GET", "/healthz", &[], "").await.status, 200, "probes have no token");
    scene.end().await;
}
