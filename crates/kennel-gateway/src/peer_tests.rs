use super::*;
use proptest::prelude::*;
use std::net::{TcpListener, TcpStream};

fn tuple(client: &str, gateway: &str) -> Tuple {
    Tuple { client: client.parse().expect("an address"), gateway: gateway.parse().expect("an address") }
}

/// A connection that stays open, and how the gateway's side tells it.
fn connected(listen: &str, connect: impl Fn(u16) -> String) -> (TcpStream, TcpStream, Tuple) {
    let listener = TcpListener::bind(listen).expect("a free port");
    let address = listener.local_addr().expect("an address");
    let client = TcpStream::connect(connect(address.port())).expect("somebody listens");
    let (accepted, peer) = listener.accept().expect("somebody connects");
    (client, accepted, Tuple { client: peer, gateway: address })
}

fn own() -> Uid {
    rustix::process::geteuid().as_raw()
}

#[tokio::test]
async fn the_kernel_says_whose_a_connection_is() {
    let over_ipv4 = connected("127.0.0.1:0", |port| format!("127.0.0.1:{port}"));
    let over_ipv6 = connected("[::1]:0", |port| format!("[::1]:{port}"));
    // A client's IPv6 socket that is connected over IPv4.
    let mapped = connected("127.0.0.1:0", |port| format!("[::ffff:127.0.0.1]:{port}"));
    for (_client, _accepted, tuple) in [over_ipv4, over_ipv6, mapped] {
        let mut netlink = Netlink::open().expect("sock_diag");
        let Diagnosis::Found(owned) = netlink.ask(tuple) else { panic!("not found: {tuple:?}") };
        assert_eq!(owned.uid, own());
        assert!(owned.inode != 0);
        assert_eq!(look_up(tuple), Some(owned), "the tables say the same");
        assert_eq!(Peers::new().identify(tuple).await, Peer::Own);
    }
}

#[tokio::test]
async fn without_sock_diag_the_tables_are_read() {
    let (_client, _accepted, tuple) = connected("127.0.0.1:0", |port| format!("127.0.0.1:{port}"));
    let peers = Peers { netlink: Mutex::new(None), ..Peers::new() };
    assert_eq!(peers.identify(tuple).await, Peer::Own);
}

#[tokio::test]
async fn a_client_that_has_gone_is_unknown_and_not_root() {
    let (client, _accepted, tuple) = connected("127.0.0.1:0", |port| format!("127.0.0.1:{port}"));
    drop(client);
    for netlink in [Netlink::open().ok(), None] {
        let peers = Peers { netlink: Mutex::new(netlink), ..Peers::new() };
        assert_eq!(peers.identify(tuple).await, Peer::Unknown);
    }
}

#[tokio::test]
async fn a_listener_at_the_clients_port_is_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let nobody = Tuple { client: address, gateway: "127.0.0.1:9".parse().expect("an address") };
    assert_eq!(Peers::new().identify(nobody).await, Peer::Unknown);
}

#[test]
fn only_the_own_user_and_root_are_let_in() {
    let peers = Peers { own: 1000, ..Peers::new() };
    let judged = |uid, inode| peers.judge(Owned { uid, inode });
    assert_eq!(judged(1000, 7), Peer::Own);
    assert_eq!(judged(0, 7), Peer::Own);
    assert_eq!(judged(0, 0), Peer::Unknown);
    assert_eq!(judged(1000, 0), Peer::Unknown);
    assert_eq!(judged(1001, 7), Peer::Other(1001));
}

#[test]
fn lines_of_the_tables_are_read() {
    let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1CA2 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
   1: 0100007F:C350 0100007F:1CA2 01 00000000:00000000 00:00000000 00000000 54321        0 4712 1 0 20 4 30 10 -1
   2: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:1CA2 01 00000000:00000000 00:00000000 00000000  1000        0 4713
   3: 00000000000000000000000001000000:C352 00000000000000000000000001000000:1CA2 01 00000000:00000000 00:00000000 00000000  1001        0 4714\n";
    let find = |client, gateway| table::find(table, tuple(client, gateway));
    if cfg!(target_endian = "little") {
        assert_eq!(find("127.0.0.1:50000", "127.0.0.1:7330"), Some(Owned { uid: 54321, inode: 4712 }));
        assert_eq!(find("127.0.0.1:50001", "127.0.0.1:7330"), Some(Owned { uid: 1000, inode: 4713 }));
        assert_eq!(find("[::1]:50002", "[::1]:7330"), Some(Owned { uid: 1001, inode: 4714 }));
    }
    assert_eq!(find("127.0.0.1:7330", "127.0.0.1:50000"), None, "the gateway's own side");
    assert_eq!(find("127.0.0.1:50003", "127.0.0.1:7330"), None);
}

proptest! {
    #[test]
    fn foreign_lines_are_read_without_harm(line in ".{0,200}") {
        let _ = table::read(&line);
    }

    #[test]
    fn lines_with_foreign_fields_are_read_without_harm(fields in proptest::collection::vec("[0-9A-Fa-f:+é]{0,40}", 0..14)) {
        let _ = table::read(&fields.join(" "));
    }

    #[test]
    fn foreign_answers_are_read_without_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let asked = tuple("127.0.0.1:50000", "127.0.0.1:7330");
        prop_assert!(!matches!(netlink::read(&bytes, 1, asked), Some(Diagnosis::Found(_))));
    }

    /// Whatever an answer says, it is only believed about the connection that was asked about.
    #[test]
    fn only_an_answer_about_the_connection_counts(
        length in 0..120u32, kind in 0..24u16, sequence in 0..2u32, body in proptest::collection::vec(any::<u8>(), 72..80)
    ) {
        let asked = tuple("127.0.0.1:50000", "127.0.0.1:7330");
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 2]);
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(&body);
        prop_assert!(!matches!(netlink::read(&bytes, 1, asked), Some(Diagnosis::Found(_))));
    }
}
