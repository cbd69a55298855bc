//! The network: the host's when asked for, none otherwise.

use crate::support::caller::callers;
use crate::support::ground::Ground;
use crate::support::running::{Ran, run};
use std::io::Write;
use std::net::TcpListener;

/// Connects from a box to a listener of this test and prints what it says.
fn connect(ground: &Ground, flags: &[&str]) -> Ran {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Ends with the test program where nobody connects.
    std::thread::spawn(move || {
        if let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.write_all(b"hello from the host\n");
        }
    });
    run(ground.exec(flags, &["bash", "-c", &format!("exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3")]))
}

#[test]
fn the_network_is_there_only_when_asked_for() {
    for caller in callers() {
        let ground = Ground::new(caller);
        assert_eq!(connect(&ground, &["--network", "on"]).fine(), "hello from the host\n", "{caller:?}");
        assert_eq!(connect(&ground, &["--profile", "network_basic"]).fine(), "hello from the host\n", "{caller:?}");
        for flags in [&[][..], &["--network", "off"], &["--profile", "network_basic", "--network", "off"]] {
            let ran = connect(&ground, flags);
            assert_eq!((ran.code, ran.out()), (Some(1), String::new()), "{caller:?} {flags:?}");
            assert!(ran.err().contains("Connection refused"), "{}", ran.err());
        }
    }
}

#[test]
fn a_box_without_network_has_a_loopback_of_its_own() {
    for caller in callers() {
        let script = "import socket, threading
server = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b'own')).start()
print(socket.create_connection(server.getsockname()).recv(3).decode(), [name for _, name in socket.if_nameindex()])";
        let ran = run(Ground::new(caller).exec(&[], &["/usr/bin/python3", "-c", script]));
        assert_eq!(ran.fine(), "own ['lo']\n", "{caller:?}");
    }
}
