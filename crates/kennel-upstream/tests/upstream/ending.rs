//! What ends a conversation, how an operator hears of it, and that nothing stays open.

use crate::peer::Peer;
use crate::sessions::session;
use crate::support::{Talk, Unwatched, call, hurried, initialize, introduction, launcher, not_launched, result};
use kennel_supervisor::{LaunchFailure, Launcher, Permanence, Phase};
use kennel_upstream::{Limits, Transport, Upstream, UpstreamLauncher};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

#[tokio::test]
async fn credentials_that_are_refused_end_it_without_being_shown() {
    let mut peer = Peer::new().await;
    let upstream = Upstream::new(&format!("{}?key=from-query", peer.url())).expect("an address");
    let upstream = upstream.header("Authorization", "Bearer from-header").expect("a header");
    let mut talk = Talk::to(upstream).await;
    talk.send(&initialize());
    peer.next().await.say(401, &[], "bad token `from-header`, bad key=from-query").await;
    let (code, reason) = talk.ended().await;
    assert_eq!(code, 75);
    assert!(reason.contains("401 Unauthorized: bad token `[redacted]`") && reason.contains("`headers`"), "{reason}");
    assert!(!talk.remarks().concat().contains("from-"), "{:?}", talk.remarks());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_not_started() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    for host in [address.to_string(), "no-such-name.invalid".to_owned()] {
        let failure = not_launched(Upstream::new(&format!("http://{host}/mcp?key=hidden")).expect("an address")).await;
        assert_eq!((failure.phase, failure.permanence), (Phase::StartProcess, Permanence::Transient));
        assert!(failure.text.starts_with(&format!("http://{host} cannot be reached: ")), "{}", failure.text);
        assert!(!failure.text.contains("hidden"), "{}", failure.text);
    }
}

#[tokio::test]
async fn a_server_that_goes_away_ends_it() {
    let mut peer = Peer::new().await;
    let (mut talk, stream) = session(&mut peer).await;
    stream.say(405, &[], "").await;
    let address = peer.address;
    drop(peer);
    talk.send(&call(1));
    let (code, reason) = talk.ended().await;
    assert_eq!(code, 75);
    assert!(reason.contains(&format!("http://{address} cannot be reached: ")), "{reason}");
}

#[tokio::test]
async fn an_opening_that_fails_ends_it() {
    for (transport, status, kind, body, expected) in [
        (Transport::Auto, 503, "text/plain", "later", "503 Service Unavailable: later"),
        (Transport::Auto, 403, "text/plain", "not you", "403 Forbidden: not you"),
        (Transport::Auto, 200, "text/event-stream", ": nothing\n\n", "was lost"),
    ] {
        let mut peer = Peer::new().await;
        let upstream = Upstream::new(&peer.url()).expect("an address").transport(transport).limits(hurried());
        let mut talk = Talk::to(upstream).await;
        talk.send(&initialize());
        peer.next().await.say(status, &[("content-type", kind)], body).await;
        let (code, reason) = talk.ended().await;
        assert_eq!(code, 75, "{status} {kind}");
        assert!(reason.contains(expected), "{reason}");
    }
}

#[tokio::test]
async fn an_opening_that_is_refused_leaves_the_other_era() {
    for (transport, status, kind, body, expected) in [
        (Transport::Http, 404, "text/plain", "nothing here", "404 Not Found: nothing here"),
        (Transport::Http, 405, "text/plain", "", "405 Method Not Allowed"),
        (Transport::Auto, 415, "text/plain", "", "415"),
        (Transport::Auto, 200, "text/html", "<html>", "content type is `text/html`"),
        (Transport::Auto, 200, "application/json", "{}", "not answered"),
    ] {
        let mut peer = Peer::new().await;
        let upstream = Upstream::new(&peer.url()).expect("an address").transport(transport).limits(hurried());
        let mut talk = Talk::to(upstream).await;
        talk.send(&initialize());
        peer.next().await.say(status, &[("content-type", kind)], body).await;
        let answer = talk.heard().await;
        assert_eq!(answer["id"], 0);
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(expected)), "{answer}");
    }
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_origin_only() {
    let (mut peer, mut other) = (Peer::new().await, Peer::new().await);
    let upstream = Upstream::new(&peer.url()).expect("an address").header("X-Key", "secret").expect("a header");
    let mut talk = Talk::to(upstream.clone()).await;
    talk.send(&initialize());
    peer.next().await.say(307, &[("location", "/mcp/")], "").await;
    let followed = peer.next().await;
    assert_eq!((followed.path.as_str(), followed.header("x-key")), ("/mcp/", Some("secret")));
    assert_eq!(followed.json(), initialize());
    followed.result(introduction()).await;
    assert_eq!(talk.heard().await, result(0, introduction()));

    for status in [301, 302, 307, 308] {
        let mut talk = Talk::to(upstream.clone()).await;
        talk.send(&initialize());
        let elsewhere = format!("http://{}/mcp?key=hidden", other.address);
        peer.next().await.say(status, &[("location", &elsewhere)], "").await;
        let (code, reason) = talk.ended().await;
        assert_eq!(code, 75);
        assert!(reason.contains(&format!("to http://{};", other.address)) && !reason.contains("hidden"), "{reason}");
        assert!(!other.has_next(), "nobody else is asked");
    }

    let mut talk = Talk::to(upstream).await;
    talk.send(&initialize());
    for _ in 0..4 {
        peer.next().await.say(308, &[("location", "/round")], "").await;
    }
    let (_, reason) = talk.ended().await;
    assert!(reason.contains("without end"), "{reason}");
    // The other one is only there to be asked.
    drop(other.next());
}

#[tokio::test]
async fn a_connection_that_takes_too_long_is_given_up() {
    // Connections are made by the system, but nobody ever speaks TLS on them.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("https://{}/mcp", listener.local_addr().expect("an address"));
    let certificate = crate::tls::certificate();
    let limits = Limits { connect: Duration::from_millis(50), ..hurried() };
    let failure = not_launched(Upstream::new(&url).expect("an address").trusting(certificate.pem).limits(limits)).await;
    assert!(failure.text.contains("no connection within 0.05 s"), "{}", failure.text);
}

#[tokio::test]
async fn the_end_closes_every_connection() {
    for is_killed in [true, false] {
        let mut peer = Peer::new().await;
        let (mut talk, mut stream) = session(&mut peer).await;
        stream.events().await;
        talk.send(&call(1));
        let silent = peer.next().await;
        talk.send(&call(2));
        let mut begun = peer.next().await;
        begun.events().await;
        if is_killed {
            talk.kill().await;
        } else {
            let stopping = tokio::spawn(async move { talk.stop().await });
            peer.next().await.say(405, &[], "").await;
            assert_eq!(stopping.await.expect("it stops").0, 0);
        }
        for asked in [stream, silent, begun] {
            asked.hung_up().await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!peer.has_next(), "one that is killed says no goodbye, and nobody says it twice");
    }
}

#[tokio::test]
async fn a_goodbye_that_nobody_answers_holds_nothing_up() {
    let mut peer = Peer::new().await;
    let limits = Limits { farewell: Duration::from_millis(20), ..hurried() };
    let upstream = Upstream::new(&peer.url()).expect("an address").limits(limits);
    let (mut talk, stream) = crate::sessions::session_of(&mut peer, upstream).await;
    stream.say(405, &[], "").await;
    assert_eq!(talk.stop().await.0, 0);
    assert_eq!(peer.next().await.method, "DELETE");
}

#[tokio::test]
async fn a_server_that_cannot_be_described_is_not_started() {
    let denied = || LaunchFailure {
        phase: Phase::CreateBox,
        text: "no secret".to_owned(),
        hint: None,
        permanence: Permanence::Permanent,
        stderr: Vec::new(),
    };
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let source = move || {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                return Err(denied());
            }
            Ok(Upstream::new("https://example.org/")?.trusting("no certificate"))
        }
    };
    let launcher = UpstreamLauncher::new(kennel_exec::Limits::default(), source).expect("a launcher");
    let steps = Unwatched::default();
    assert_eq!(launcher.launch(&steps).await.err(), Some(denied()));
    let failure = launcher.launch(&steps).await.err().expect("no certificate");
    assert_eq!(failure.permanence, Permanence::Permanent);
    assert!(failure.text.contains("PEM"), "{}", failure.text);
    assert_eq!(asked.load(Ordering::SeqCst), 2, "the source is asked at each start");
}

#[tokio::test]
async fn a_start_that_is_called_off_does_not_wait_for_its_source() {
    let source = std::future::pending::<Result<Upstream, LaunchFailure>>;
    let launcher = UpstreamLauncher::new(kennel_exec::Limits::default(), source).expect("a launcher");
    let steps = Unwatched::default();
    steps.0.cancel();
    assert!(launcher.launch(&steps).await.is_err());
}

#[tokio::test]
async fn many_conversations_come_from_one_launcher() {
    let mut peer = Peer::new().await;
    let launcher = launcher(Upstream::new(&peer.url()).expect("an address"));
    let steps = Unwatched::default();
    let one = launcher.launch(&steps).await.unwrap_or_else(|failure| panic!("{failure:?}"));
    let two = launcher.launch(&steps).await.unwrap_or_else(|failure| panic!("{failure:?}"));
    assert_ne!(one.process, two.process);
    for launched in [&one, &two] {
        let feed = launched.attachment.feed(&launched.process).expect("it runs");
        feed.send(format!("{}\n", initialize()).into()).expect("it is taken");
        let asked = peer.next().await;
        assert_eq!(asked.json()["method"], json!("initialize"));
    }
}
