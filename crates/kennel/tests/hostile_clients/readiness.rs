//! What `/readyz` says of many servers.

use crate::host::Host;
use crate::support::alone;
use crate::support::caller::myself;
use crate::support::gateway::Connection;
use crate::support::waiting::{PATIENCE, settle};
use serde_json::Value;

fn ready(host: &Host) -> (u16, Value) {
    let mut connection = Connection::open(&host.address).unwrap();
    let response = connection.request("GET", "/readyz", &[], b"").unwrap();
    (response.status, serde_json::from_slice(&response.body).unwrap_or_else(|_| panic!("{}", response.text())))
}

#[test]
fn a_gateway_whose_servers_have_all_failed_is_not_ready() {
    let _alone = alone();
    let broken = |fixture: &str, name: &str| {
        format!(
            "[servers.{name}]\ncommand = {fixture:?}\nargs = [\"--exit-at-start\", \"3\"]\nstart = \"eager\"\nmodel = \"shared\"\nrestarts = 0\n"
        )
    };
    let host = Host::serve(myself(), |fixture| broken(fixture, "one") + &broken(fixture, "two"), "-n 4096");
    let last = settle(PATIENCE, || match ready(&host) {
        (503, body) if body["servers"]["failed"] == 2 => None,
        other => Some(format!("{other:?}")),
    });
    last.expect("it is not ready when both have failed");
    let (_, body) = ready(&host);
    assert_eq!(body["ready"], false);
    let told = body["not_ready"].as_array().unwrap();
    assert!(told.iter().all(|one| one["state"] == "failed" && one["reason"].is_string()), "{body}");
    host.end();

    let host = Host::serve(
        myself(),
        |fixture| broken(fixture, "one") + &format!("[servers.two]\ncommand = {fixture:?}\n"),
        "-n 4096",
    );
    let last = settle(PATIENCE, || match ready(&host) {
        (200, body) if body["servers"]["failed"] == 1 => None,
        other => Some(format!("{other:?}")),
    });
    last.expect("one that can be used is enough");
    host.end();
}
