//! A server that prints what it was given, in every spelling and at every length.

use crate::scene::Scene;
use crate::support::running::{Ran, run};
use rustix::process::Signal;

const LINES: [&str; 3] = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ",
    "C7VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6+d",
    "Vx0pYkPz0JX2aGxDhB+Y7uO3Jd7mQx==",
];
/// No piece of the secret as long as this may be seen.
const LONGEST_SEEN: usize = 12;

fn key() -> String {
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", LINES.join("\n"))
}

/// All that may not be seen: every piece of the key, as it is and in base64 at each alignment.
fn pieces() -> Vec<String> {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    let mut texts: Vec<String> = LINES.iter().map(|line| (*line).to_owned()).collect();
    for before in ["", "u", "us"] {
        texts.push(STANDARD.encode(format!("{before}{}", key())));
        texts.push(URL_SAFE.encode(format!("{before}{}", key())));
    }
    let escaped: String = LINES.iter().map(|line| line.replace('/', "%2F").replace('+', "%2B")).collect();
    texts.push(escaped);
    texts
        .iter()
        .flat_map(|text| text.as_bytes().windows(LONGEST_SEEN).map(|piece| String::from_utf8_lossy(piece).into_owned()))
        .collect()
}

#[track_caller]
fn assert_hidden(what: &str, shown: &str) {
    // What a key file says of itself is everybody's, in base64 too.
    let armour = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t";
    for piece in pieces().iter().filter(|piece| !armour.contains(piece.as_str()) && !piece.contains("----")) {
        let line = shown.lines().find(|line| line.contains(piece.as_str()));
        assert!(line.is_none(), "{what} shows {piece}: {}", line.unwrap_or_default());
    }
}

/// The same of what does show that something was there.
#[track_caller]
fn assert_redacted(what: &str, shown: &str) {
    assert_hidden(what, shown);
    assert!(shown.contains("[redacted]"), "{what}: {shown}");
}

#[test]
fn a_secret_of_several_lines_is_seen_in_no_spelling_and_at_no_cut() {
    for scene in Scene::of_all() {
        for mode in ["tell", "tell-and-die"] {
            let mut command = scene.kennel(&["tools", "--env", "SECRET", "--run", &scene.server(mode)]);
            command.env("SECRET", key());
            let ran: Ran = run(command);
            assert_redacted(mode, &ran.err());
            assert_hidden(mode, &ran.out());
        }
    }
}

#[test]
fn logs_events_and_reports_of_a_gateway_show_no_part_of_a_secret() {
    let scene = Scene::mine();
    scene.ground.make_file("work/key.pem", key(), 0o600);
    let env = "env = { SECRET = { from-file = \"key.pem\" } }";
    let file = scene.table("tells", "tell", env) + &scene.table("dies", "tell-and-die", env);
    scene.ground.make_file("work/kennel.toml", &file, 0o644);
    let config = scene.ground.text("work/kennel.toml");
    for json in [&[][..], &["--json"]] {
        let words = [&["serve", "--listen", "127.0.0.1:0", "-c", &config][..], json].concat();
        let mut serving = scene.at_terminal(&words);
        serving.wait_for("servers are served");
        run(scene.kennel(&["start", "tells"])).fine();
        let failed = run(scene.kennel(&["start", "dies"]));
        assert_ne!(failed.code, Some(0));
        for json in [&[][..], &["--json"]] {
            for words in [&["logs", "tells"][..], &["logs", "dies"], &["events"]] {
                assert_redacted(&format!("{words:?}"), &run(scene.kennel(&[words, json].concat())).fine());
            }
            for words in [&["inspect", "dies"][..], &["ps"]] {
                assert_hidden(&format!("{words:?}"), &run(scene.kennel(&[words, json].concat())).fine());
            }
        }
        serving.kept.signal(Signal::TERM);
        let (_, screen) = serving.finish_with_bytes();
        assert_redacted("serve", &String::from_utf8_lossy(&screen));
    }
}
