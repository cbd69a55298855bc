//! Servers behind `kennel run`.

use crate::scene::Scene;
use crate::support::caller::{callers, myself};
use crate::support::running::{Ran, run};
use std::io::{Read, Write};
use std::net::TcpListener;

const LOOPBACK: [&str; 2] = ["--listen", "127.0.0.1:0"];

#[test]
fn a_tool_is_called_by_every_url_of_its_endpoint() {
    for caller in callers() {
        let scene = Scene::new(caller);
        let served = scene.serve(&LOOPBACK);
        let plain = served.url.strip_prefix("http://").unwrap();
        for url in [&served.url, plain, &format!("{}/mcp", served.url), &format!("{}/rpc", served.url)] {
            let ran = run(scene.kennel(&["call", "--url", url, "echo", "message=hi"]));
            assert_eq!((ran.fine().as_str(), ran.err().as_str()), ("hi\n", ""), "{caller:?} {url}");
        }
        served.stop();
        scene.ground.assert_clean();
    }
}

#[test]
fn answers_and_refusals_are_the_same_as_of_a_started_server() {
    let scene = Scene::new(myself());
    let served = scene.serve(&LOOPBACK);
    let call = |words: &[&str]| run(scene.kennel(&[&["call", "--url", &served.url], words].concat()));
    assert_eq!(call(&["large", "bytes=3000000"]).fine().len(), 3_000_001);
    let spelled = r#"{"a":1.0,"b":"5"}"#;
    assert_eq!(call(&["raw_arguments", "a:=1.0", "b:=\"5\""]).fine(), format!("{spelled}\n"));
    call(&["test_error_handling"])
        .refused(1, "kennel: test_error_handling failed: This tool intentionally returns an error for testing\n");
    call(&["echo", "message:=5"]).refused(
        1,
        "kennel: tools/call failed: Invalid params: the argument `message` must be a string (code -32602)\n",
    );
    call(&["ehco", "message=hi"]).refused(125, "kennel: the server has no tool `ehco`; did you mean `echo`?\n");
    let address = format!("{}/rpc", served.url);
    call(&["--max-message", "1M", "large", "bytes=3000000"])
        .refused(125, &format!("kennel: {address} answered with more than 1M\n  hint: raise --max-message\n"));
    call(&["--call-timeout", "0.7", "sleep", "ms=60000"])
        .refused(125, &format!("kennel: {address} has not answered within 0.7 s\n  hint: raise --call-timeout\n"));
    served.stop();
    scene.ground.assert_clean();
}

#[test]
fn an_endpoint_with_a_token_wants_it() {
    let scene = Scene::new(myself());
    let served = scene.serve(&["--listen", "0.0.0.0:0"]);
    let token = served.token.clone().expect("beyond this machine a token is asked for");
    let call = |token: Option<&str>| -> Ran {
        let mut command = scene.kennel(&["call", "--url", &served.url, "echo", "message=hi"]);
        command.envs(token.map(|token| ("KENNEL_TOKEN", token)));
        run(command)
    };
    assert_eq!(call(Some(&token)).fine(), "hi\n");
    for wrong in [None, Some("wrong")] {
        let ran = call(wrong);
        assert_eq!((ran.code, ran.out().as_str()), (Some(125), ""), "{}", ran.err());
        assert!(ran.err().contains("(HTTP 401)"), "{}", ran.err());
        let hint = "\n  hint: set KENNEL_TOKEN to the token of the gateway\n";
        assert!(ran.err().ends_with(hint), "{}", ran.err());
    }
    served.stop();
}

#[test]
fn where_nothing_listens_the_hint_says_what_to_start() {
    let scene = Scene::new(myself());
    // Taken and let go, so that nobody else has it.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for words in [&["call", "echo", "message=hi"][..], &["tools"]] {
        let mut command = scene.kennel(words);
        command.args(["--url", &format!("http://127.0.0.1:{port}")]);
        run(command).refused(
            125,
            &format!(
                "kennel: nothing listens at http://127.0.0.1:{port}/rpc\n  hint: start a server with `kennel run -- \
                 COMMAND`, or name another endpoint with --url\n"
            ),
        );
    }
}

#[test]
fn without_a_url_the_default_endpoint_is_asked() {
    let scene = Scene::new(myself());
    // Where there is no network at all, nobody can answer at the default port.
    let mut command = scene.ground.command(["unshare", "--user", "--map-root-user", "--net"]);
    command.arg(scene.ground.kennel_program()).args(["call", "echo", "message=hi"]);
    let ran = run(command);
    assert_eq!(ran.code, Some(125), "{}", ran.err());
    assert!(ran.err().starts_with("kennel: http://127.0.0.1:7330/rpc cannot be reached: "), "{}", ran.err());
}

#[test]
fn something_else_at_the_url_is_told_apart() {
    let scene = Scene::new(myself());
    for (answer, complaint) in [
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot\x1b here", "(HTTP 404): not\u{fffd} here"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "(HTTP 200): {}"),
        ("SSH-2.0-OpenSSH_9.6\r\n", "not HTTP: `SSH-2.0-OpenSSH_9.6`"),
        ("", "not HTTP: it broke off"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stranger = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // All of it, so that the end of the connection is no reset.
            let mut seen = Vec::new();
            while !seen.ends_with(b"}") {
                let mut piece = [0; 4096];
                let length = stream.read(&mut piece).unwrap();
                seen.extend_from_slice(&piece[..length]);
            }
            let _ = stream.write_all(answer.as_bytes());
        });
        let ran = run(scene.kennel(&["tools", "--url", &url]));
        stranger.join().unwrap();
        assert_eq!((ran.code, ran.out().as_str()), (Some(125), ""), "{answer}: {}", ran.err());
        assert!(ran.err().contains(complaint), "{answer}: {}", ran.err());
        let hint = "\n  hint: --url must name an endpoint of `kennel run`, such as http://127.0.0.1:7330\n";
        assert!(ran.err().ends_with(hint), "{answer}: {}", ran.err());
    }
}
