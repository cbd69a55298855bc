//! Connections that do nothing, where there are few open files: operators and servers still get theirs.

use crate::host::Host;
use crate::support::alone;
use crate::support::caller::{callers, myself};
use crate::support::gateway::{Connection, HEADERS};
use crate::support::ground::Ground;
use crate::support::running::run;
use serde_json::{Value, json};
use std::net::TcpStream;

fn file(fixture: &str) -> String {
    format!("[servers.one]\ncommand = {fixture:?}\n[servers.two]\ncommand = {fixture:?}\n")
}

fn call(host: &Host, server: &str) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let mut connection = Connection::open(&host.address).unwrap();
    let path = format!("/servers/{server}/rpc");
    let response = connection.request("POST", &path, &HEADERS, body.as_bytes()).unwrap();
    response.messages().pop().unwrap_or_else(|| panic!("{}: {}", response.status, response.text()))
}

#[test]
fn a_thousand_idle_connections_leave_room_for_operators_and_servers() {
    let _alone = alone();
    for caller in callers() {
        // A limit that holds, and one that can be raised.
        for open_files in ["-n 1024", "-Sn 256"] {
            let host = Host::serve(caller, file, open_files);
            let idle: Vec<TcpStream> = (0..1000).map(|_| TcpStream::connect(&host.address).unwrap()).collect();
            let shown = host.kennel(&["ps"]).fine();
            assert!(shown.contains("one") && shown.contains("two"), "{caller:?} {open_files}: {shown}");
            // A server that is called for the first time meanwhile.
            let answer = call(&host, "one");
            assert!(answer["result"]["tools"].is_array(), "{caller:?} {open_files}: {answer}");
            host.kennel(&["ps"]).fine();
            drop(idle);
            for server in ["one", "two"] {
                let answer = call(&host, server);
                assert!(answer["result"]["tools"].is_array(), "{caller:?} {open_files} afterwards: {answer}");
            }
            host.end();
        }
    }
}

#[test]
fn too_few_open_files_are_said_with_what_to_raise() {
    let _alone = alone();
    let ground = Ground::new(myself());
    for words in
        [["run", "--listen", "127.0.0.1:0", "--", "true"], ["serve", "--listen", "127.0.0.1:0", "-c", "/dev/null"]]
    {
        let mut command = ground.command(["sh", "-c", "ulimit -n 100 && exec \"$@\"", "sh"]);
        command.arg(ground.kennel_program()).args(words);
        let ran = run(command);
        assert_eq!(ran.code, Some(125), "{ran:?}");
        assert!(ran.err().contains("may open only 100 files") && ran.err().contains("ulimit -n"), "{ran:?}");
    }
    ground.assert_clean();
}

#[test]
fn boxes_and_programs_without_one_have_the_limits_that_they_should() {
    let _alone = alone();
    let ground = Ground::new(myself());
    let script = ground.make_file(
        "work/server.sh",
        "read line\nprintf '{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":1,\"message\":\"soft %s hard %s\"}}\\n' $(ulimit -Sn) $(ulimit -Hn)\necho \"limits $(ulimit -Sn) $(ulimit -Hn)\" >&2\n",
        0o755,
    );
    for (engine, expected) in [("native", "limits 1024 1024"), ("host", "limits 2048 ")] {
        let mut command = ground.command(["sh", "-c", "ulimit -Sn 2048 && exec \"$@\"", "sh"]);
        command.arg(ground.kennel_program()).args(["run", "--engine", engine, "--era", "legacy", "--restarts", "0"]);
        command.args(["--listen", "127.0.0.1:0", "--data", &ground.text("work/data"), "--", "sh"]).arg(&script);
        let ran = run(command);
        assert!(ran.err().contains(expected), "{engine}: {}", ran.err());
    }
    ground.assert_clean();
}
