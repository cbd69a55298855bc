//! Clients that share a process and all choose the same ids.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use serde_json::json;
use support::gateway::{Client, Gateway};
use support::programs::fixture;

const CLIENTS: usize = 64;
const CALLS: usize = 100_000;

#[test]
fn clients_that_all_send_id_1_get_their_own_answers() {
    let gateway = Gateway::start(&["--model", "shared"], &[fixture().as_os_str()]);
    let answers: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let address = &gateway.address;
                scope.spawn(move || {
                    let mut client = Client::open(address, json!({})).unwrap();
                    let calls = CALLS / CLIENTS + usize::from(number < CALLS % CLIENTS);
                    for call in 0..calls {
                        let message = format!("client {number} call {call}");
                        let messages = client.call(json!(1), "echo", json!({ "message": message })).unwrap();
                        assert_eq!(messages.len(), 1, "one answer: {messages:?}");
                        assert_eq!(messages[0]["id"], 1);
                        assert_eq!(messages[0]["result"]["content"][0]["text"], message.as_str());
                    }
                    calls
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert_eq!(answers, CALLS);
    let (status, log) = gateway.stop();
    assert!(status.success(), "{status}: {log}");
}
