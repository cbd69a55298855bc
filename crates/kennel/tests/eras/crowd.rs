//! Many clients of all versions, all with a question in flight at the same time, round after round.

use crate::clients::{Client, MODERN};
use crate::support::gateway::Gateway;
use crate::support::processes::{processes_with, unique_mark};
use crate::support::programs::fixture;
use crate::support::waiting::holds_soon;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicUsize, Ordering};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-06-18", "2025-11-25", MODERN];
/// How many clients of each version there are.
const EACH: usize = 6;
/// With three scenes more than a thousand questions.
const ROUNDS: usize = 14;

/// Whether clients without sessions tell each other apart by their names. To a legacy process those of one kind are one
/// client, and whose call it is that it asks for it does not say.
#[derive(Clone, Copy)]
enum Names {
    Own,
    Shared,
}

/// Does the same with each client, all at once, and waits for all of them.
fn all(clients: &mut [(String, Client)], act: impl Fn(&str, &mut Client) + Sync) {
    std::thread::scope(|scope| {
        for (name, client) in clients {
            let act = &act;
            scope.spawn(move || act(name, client));
        }
    });
}

fn everyone_gets_their_own(options: &[&str], model: &str, names: Names) {
    let mark = unique_mark();
    let mut command = vec![fixture().as_os_str()];
    command.extend(options.iter().map(OsStr::new));
    command.extend([OsStr::new("--state-dir"), OsStr::new(&mark)]);
    // What is lost is told before patience ends.
    let gateway = Gateway::start(&["--model", model, "--call-timeout", "60"], &command);
    let all_names = (0..EACH).flat_map(|number| VERSIONS.map(|version| (number, version)));
    let mut clients: Vec<_> = all_names
        .map(|(number, version)| {
            let name = format!("{version} client {number}");
            let told = match names {
                Names::Own => name.as_str(),
                Names::Shared => "test",
            };
            let client = Client::open(&gateway.address, version, told);
            (name, client)
        })
        .collect();
    let finished = AtomicUsize::new(0);
    for round in 0..ROUNDS {
        all(&mut clients, |name, client| client.begin(&format!("{name} round {round}")));
        // Now every client has been asked, and none has answered.
        all(&mut clients, |name, client| {
            client.finish(&format!("{name} round {round}"));
            finished.fetch_add(1, Ordering::Relaxed);
        });
    }
    assert_eq!(finished.into_inner(), VERSIONS.len() * EACH * ROUNDS);
    let (status, log) = gateway.stop();
    assert!(status.success(), "{status}: {log}");
    assert!(holds_soon(|| processes_with(&mark).is_empty()), "nothing remains");
}

#[test]
fn all_versions_ask_a_legacy_process_each() {
    everyone_gets_their_own(&[], "per-session", Names::Own);
}

#[test]
fn all_versions_ask_a_modern_process_each() {
    everyone_gets_their_own(&["--era", "modern"], "per-session", Names::Shared);
}

#[test]
fn all_versions_ask_a_shared_modern_process() {
    everyone_gets_their_own(&["--era", "modern"], "shared", Names::Shared);
}
