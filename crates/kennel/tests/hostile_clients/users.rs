//! Who may use an endpoint on loopback: its own user and root, and others only with a token.

use crate::host::{Host, INITIALIZE, LIST, STRANGER, UPGRADE, as_user, asked, exchange, request};
use crate::support::alone;
use crate::support::caller::{callers, needs_root, user_id};
use crate::support::running::run;
use kennel_testkit::Caller;
use std::process::Stdio;

const TOKEN: &str = "a token that nobody guesses";

fn uid(caller: Caller) -> u32 {
    match caller {
        Caller::Root => 0,
        Caller::User => user_id(),
    }
}

/// What each door answers with, by its first line.
fn doors(who: u32, address: &str, headers: &str) -> Vec<(&'static str, String, String)> {
    let ask = |line, body, extra: &str| {
        let answer = asked(who, address, line, &format!("{headers}{extra}"), body);
        (line, answer.lines().next().unwrap_or_default().trim().to_owned(), answer)
    };
    vec![
        ask("POST /mcp", INITIALIZE, ""),
        ask("POST /rpc", LIST, ""),
        ask("GET /metrics", "", ""),
        ask("DELETE /mcp", "", "Mcp-Session-Id: x\r\n"),
    ]
}

#[test]
fn other_users_of_the_machine_are_refused() {
    let _alone = alone();
    if !needs_root("other users") {
        return;
    }
    for caller in callers() {
        for listen in ["127.0.0.1:0", "[::1]:0"] {
            let host = Host::run(caller, &["--listen", listen]);
            for (door, status, answer) in doors(STRANGER, &host.address, "") {
                assert_eq!(status, "HTTP/1.1 403 Forbidden", "{caller:?} {listen} {door}: {answer}");
                assert!(answer.contains(&format!("user {STRANGER}")) && answer.contains("--token-env"), "{answer}");
            }
            let socket = asked(STRANGER, &host.address, "GET /ws", UPGRADE, "");
            assert!(socket.starts_with("HTTP/1.1 403"), "{socket}");
            // Only whether it lives and is ready is told to everybody, and no names.
            assert!(asked(STRANGER, &host.address, "GET /healthz", "", "").starts_with("HTTP/1.1 200"));
            let ready = asked(STRANGER, &host.address, "GET /readyz", "", "");
            assert!(ready.starts_with("HTTP/1.1 200") && !ready.contains("not_ready"), "{ready}");
            for own in [uid(caller), 0] {
                for (door, status, answer) in doors(own, &host.address, "").into_iter().take(3) {
                    assert_eq!(status, "HTTP/1.1 200 OK", "{caller:?} {listen} {own} {door}: {answer}");
                }
            }
            host.end();
        }
    }
}

#[test]
fn a_client_that_is_gone_before_it_is_looked_at_is_not_taken_for_root() {
    let _alone = alone();
    if !needs_root("other users") {
        return;
    }
    for caller in callers() {
        let host = Host::run(caller, &[]);
        let body = request(&host.address, "POST /rpc", "", LIST);
        // Many connections of one shell, each closed at once after the request, without waiting for the answer.
        let script = "for i in $(seq 300); do exec 3<>/dev/tcp/$1/$2 && printf '%s' \"$3\" >&3; exec 3>&-; done";
        let (ip, port) = host.address.rsplit_once(':').unwrap();
        run(as_user(STRANGER, &["bash", "-c", script, "bash", ip, port, &body]));
        let metrics = asked(uid(caller), &host.address, "GET /metrics", "", "");
        let served =
            metrics.lines().find(|line| line.starts_with("kennel_mcp_requests_total{door=\"rpc\",era=\"legacy\"}"));
        assert!(served.is_some_and(|line| line.ends_with(" 0")), "{caller:?}: {metrics}");
        host.end();
    }
}

#[test]
fn a_token_lets_other_users_in_and_is_asked_of_all() {
    let _alone = alone();
    if !needs_root("other users") {
        return;
    }
    let token = TOKEN.replace(' ', "-");
    for caller in callers() {
        let ground = crate::support::ground::Ground::new(caller);
        let file = ground.make_file("work/token", format!("{token}\n"), 0o600);
        let mut host = Host::run(caller, &["--token-file", file.to_str().unwrap()]);
        let bearer = format!("Authorization: Bearer {token}\r\n");
        for who in [STRANGER, uid(caller)] {
            for (door, status, answer) in doors(who, &host.address, &bearer).into_iter().take(3) {
                assert_eq!(status, "HTTP/1.1 200 OK", "{caller:?} {who} {door}: {answer}");
            }
            for (door, status, answer) in doors(who, &host.address, "") {
                assert_eq!(status, "HTTP/1.1 401 Unauthorized", "{caller:?} {who} {door}: {answer}");
            }
        }
        // Kennel's own commands send it.
        let url = format!("http://{}", host.address);
        let mut tools = host.ground.kennel(["tools", "--url", &url]);
        tools.env("KENNEL_TOKEN", &token);
        run(tools).fine();
        assert!(run(host.ground.kennel(["tools", "--url", &url])).err().contains("KENNEL_TOKEN"));
        let mut connect = host.ground.kennel(["connect", "--url", &url]);
        connect.env("KENNEL_TOKEN", &token);
        let said = crate::support::running::run_with_input(connect, format!("{INITIALIZE}\n").as_bytes());
        assert!(said.fine().contains("serverInfo"), "{said:?}");
        // It is in nothing that Kennel prints.
        assert!(!host.events().iter().any(|event| event.to_string().contains(&token)));
        host.end();
    }
}

#[test]
fn tokens_come_from_variables_and_the_file_and_weak_ones_are_refused() {
    let _alone = alone();
    let ground = crate::support::ground::Ground::new(crate::support::caller::myself());
    let refused = |flags: &[&str], token: Option<&str>| {
        let mut command = ground.kennel([&["run", "--listen", "127.0.0.1:0"], flags, &["--", "true"]].concat());
        command.envs(token.map(|token| ("A_TOKEN", token)));
        let ran = run(command);
        assert_eq!(ran.code, Some(125), "{ran:?}");
        ran.err()
    };
    assert!(refused(&["--token-env", "A_TOKEN"], Some("short")).contains("at least 16 characters"));
    assert!(refused(&["--token-env", "A_TOKEN"], Some("with blanks in it, and long")).contains("printable"));
    assert!(refused(&["--token-env", "A_TOKEN"], None).contains("A_TOKEN"));
    assert!(refused(&["--token-file", "/nonexistent/token"], None).contains("/nonexistent/token"));
    let file = |fixture: &str| {
        format!("[servers.one]\ncommand = {fixture:?}\n[gateway]\ntoken = {{ from-file = \"token\" }}\n")
    };
    let place = Host::serve_with(crate::support::caller::myself(), file, &[("token", "a-token-in-a-file-of-its-own")]);
    let own = rustix::process::geteuid().as_raw();
    let without = asked(own, &place.address, "POST /rpc", "", LIST);
    assert!(without.starts_with("HTTP/1.1 401"), "{without}");
    let with = asked(own, &place.address, "POST /rpc", "Authorization: Bearer a-token-in-a-file-of-its-own\r\n", LIST);
    assert!(with.starts_with("HTTP/1.1 200"), "{with}");
    place.end();
    ground.assert_clean();
}

#[test]
fn a_box_of_root_with_network_is_refused() {
    let _alone = alone();
    if !needs_root("boxes with users of their own") {
        return;
    }
    let host = Host::run(Caller::Root, &[]);
    for line in ["POST /rpc", "POST /mcp"] {
        let words = exchange(&host.address, &request(&host.address, line, "Connection: close\r\n", LIST));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut inside = host.ground.exec(&["--network", "on"], &words);
        inside.stdin(Stdio::null());
        let answer = run(inside).out();
        assert!(answer.starts_with("HTTP/1.1 403"), "{line}: {answer}");
    }
    host.end();
}

#[test]
fn a_server_that_could_call_the_endpoint_as_its_user_is_warned_about() {
    let _alone = alone();
    for caller in callers() {
        let warned = |flags: &[&str]| {
            let mut host = Host::run(caller, flags);
            // Said right after it serves.
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(2);
            let mut warned = false;
            while std::time::Instant::now() < deadline && !warned {
                let is_it = |event: &serde_json::Value| event.to_string().contains("could call this endpoint as you");
                warned = host.events().iter().any(is_it);
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            host.end();
            warned
        };
        let expected = caller == Caller::User;
        assert_eq!(warned(&["--network", "on"]), expected, "{caller:?}");
        assert!(!warned(&[]), "{caller:?}");
        let ground = crate::support::ground::Ground::new(caller);
        let file = ground.make_file("work/token", "0123456789abcdef0123", 0o600);
        assert!(!warned(&["--network", "on", "--token-file", file.to_str().unwrap()]), "{caller:?}");
    }
}
