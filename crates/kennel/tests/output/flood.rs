//! A server that writes to its standard error as fast as it can.

use crate::scene::Scene;
use crate::support::gateway::{Connection, HEADERS};
use crate::support::programs::fixture;
use crate::support::running::run;
use crate::support::waiting::PATIENCE;
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long the server floods.
const FLOOD: Duration = Duration::from_secs(6);
/// More than a server may make Kennel write in that time, however slow the machine, and far less than it would like to.
const MOST_WRITTEN: usize = 4 << 20;

/// What `kennel serve` has written to its standard error: how much in all, and its last lines.
#[derive(Default)]
struct Written {
    bytes: usize,
    text: String,
}

#[test]
fn a_flood_of_standard_error_is_cut_to_a_share_and_counted_and_delays_nobody() {
    let scene = Scene::mine();
    let fixture = scene.ground.add_program(fixture());
    let file = scene.table("flood", "flood", "model = \"shared\"")
        + &format!("[servers.calm]\ncommand = {:?}\nmodel = \"shared\"\n", fixture.to_str().unwrap());
    scene.ground.make_file("work/kennel.toml", &file, 0o644);
    let config = scene.ground.text("work/kennel.toml");
    let mut serve: Command = scene.kennel(&["serve", "--listen", "127.0.0.1:0", "-c", &config]);
    serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut kept = crate::support::running::Kept::start(serve);
    let stderr = kept.stderr();
    let written = Arc::new(Mutex::new(Written::default()));
    let collected = Arc::clone(&written);
    let reading = std::thread::spawn(move || {
        let mut stderr = BufReader::new(stderr);
        let mut line = Vec::new();
        while stderr.read_until(b'\n', &mut line).unwrap_or(0) > 0 {
            let mut written = collected.lock().unwrap();
            written.bytes += line.len();
            if !line.windows(11).any(|part| part == b"flood flood") {
                written.text.push_str(&String::from_utf8_lossy(&line));
            }
            line.clear();
        }
    });
    let said = |text: &str| written.lock().unwrap().text.contains(text);
    let start = Instant::now();
    while !said("servers are served at http://") {
        assert!(start.elapsed() < PATIENCE, "it does not serve: {}", written.lock().unwrap().text);
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = written.lock().unwrap().text.clone();
    let address = text.split("http://").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let quiet = calls(&address, Duration::from_secs(2));
    run(scene.kennel(&["start", "flood"])).fine();
    let busy = calls(&address, FLOOD);
    assert!(busy.0 > 0 && quiet.0 > 0, "calls of another server go on: {busy:?}, {quiet:?}");
    // Both share two processors with the flooding server itself.
    assert!(busy.1 < quiet.1 * 20 + Duration::from_millis(20), "calls take {busy:?} instead of {quiet:?}");
    let bytes = written.lock().unwrap().bytes;
    assert!((100_000..MOST_WRITTEN).contains(&bytes), "Kennel wrote {bytes} bytes to its standard error");
    assert!(said("not shown"), "nobody was told: {}", written.lock().unwrap().text);
    let logs = run(scene.kennel(&["logs", "flood"])).fine();
    assert!(logs.lines().count() > 100 && logs.contains("flood flood"), "the newest are kept: {}", logs.len());
    kept.signal(Signal::TERM);
    let status = kept.end(&mut []);
    reading.join().unwrap();
    assert!(status.success(), "{status}");
    scene.ground.assert_clean();
}

/// Calls the other server for so long: how often, and how long half of the calls took at most.
fn calls(address: &str, time: Duration) -> (usize, Duration) {
    let mut connection = Connection::open(address).unwrap();
    let body =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}"#;
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < time {
        let begin = Instant::now();
        let response = connection.request("POST", "/servers/calm/rpc", &HEADERS, body).unwrap();
        assert!(response.text().contains("\"result\""), "{}", response.text());
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    (times.len(), times[times.len() / 2])
}
