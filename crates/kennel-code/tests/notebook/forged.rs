//! Code that goes after the channel itself.

use crate::support::{Bench, finished, has_note};
use kennel_code::cell::Status;
use std::time::Duration;

/// Speaks in the channel's own form, with tokens that the code was not given.
const FORGE: &str = r"
import socket, struct, json, os
def send(token, message, number=10_000_000):
    body = json.dumps(message).encode()
    s = socket.socket(fileno=1000)
    try:
        s.sendmsg([token + struct.pack('<IBxxx', number, 0) + body])
    finally:
        s.detach()
";

pub(crate) async fn packets_with_a_wrong_token_change_nothing() {
    let bench = Bench::new().await;
    bench.run(FORGE).await;
    let code = "for token in (bytes(16), os.urandom(16)):\n\
        \x20   send(token, {'t': 'end', 'cell': 'c2', 'status': 'success', 'value': 'forged'})\n\
        \x20   send(token, {'t': 'ask', 'n': 1, 'op': 'call_tool', 'alias': 'fix', 'tool': 'echo', 'arguments': {}})\n'real'";
    let result = bench.run(code).await;
    assert_eq!((result.status, &*result.value), (Status::Success, "'real'"), "{result:?}");
    assert!(bench.fixture.asked.lock().unwrap().is_empty());
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn noise_on_the_channel_changes_nothing() {
    let bench = Bench::new().await;
    let code = "import socket, os\ns = socket.socket(fileno=1000)\n\
        for n in (1, 15, 16, 23, 24, 25, 1000, 65_000):\n    s.sendmsg([os.urandom(n)])\ns.detach()\n'real'";
    assert_eq!(bench.value(code).await, "'real'");
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}

pub(crate) async fn marks_of_other_cells_are_output() {
    let bench = Bench::new().await;
    let code = "import os\nprint('\\0kennel:' + 'ab' * 16 + '\\0', end='')\nprint('after')";
    let result = bench.run(code).await;
    assert_eq!(result.stdout, format!("\0kennel:{}\0after\n", "ab".repeat(16)));
    let handle = bench.start("print('next')");
    assert_eq!(finished(&handle).await.stdout, "next\n");
    bench.shutdown().await;
}

pub(crate) async fn closing_every_descriptor_harms_only_the_notebook_itself() {
    let bench = Bench::new().await;
    let result = bench.run("import os\nos.closerange(0, 1000)").await;
    assert_ne!(result.status, Status::Running, "{result:?}");
    // Whatever is left of it, the notebook goes on.
    assert_eq!(bench.value("1 + 1").await, "2");
    bench.shutdown().await;
}

/// Code cannot be kept from what its own process holds. It can end its own cell early, and make itself unheard.
pub(crate) async fn code_that_finds_its_token_harms_only_itself() {
    let bench = Bench::with(|settings| settings.notebook.grace = Duration::from_millis(500)).await;
    bench.run(FORGE).await;
    let code = "import sys\nframe = sys._getframe()\nwhile not isinstance(frame.f_locals.get('token'), bytes):\n\
        \x20   frame = frame.f_back\ntoken = frame.f_locals['token']\n\
        send(token, {'t': 'end', 'cell': 'c1', 'status': 'success', 'value': 'of another cell'})\n\
        send(token, {'t': 'end', 'cell': 'c2', 'status': 'success', 'value': 'forged'}, 10_000_001)\n'real'";
    let result = bench.run(code).await;
    assert_eq!((result.status, &*result.value), (Status::Success, "forged"), "{result:?}");
    // Nothing that it says after such a number counts, so this is its last cell.
    let result = bench.run_for("1", Duration::from_millis(500)).await;
    assert_eq!(result.status, Status::Timeout, "{result:?}");
    has_note(&result, "state lost: killed because it did not stop");
    assert_eq!(bench.value("1").await, "1");
    bench.shutdown().await;
}
