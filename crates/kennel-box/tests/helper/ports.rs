//! A box on the host's network that may connect to some ports only.

use crate::scene::{block_on, engine, plan, sh};
use kennel_box::{BoxSpec, Engine, Network, PortWall};
use std::net::{TcpListener, UdpSocket};
use std::time::Duration;

pub(crate) fn a_box_connects_to_the_ports_it_may() {
    let (allowed, other) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let [allowed_port, other_port] = [&allowed, &other].map(|listener| listener.local_addr().unwrap().port());
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let udp_port = datagrams.local_addr().unwrap().port();
    let script = format!(
        "for port in {allowed_port} {other_port}; do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && echo yes || echo no; done; \
         /usr/bin/python3 -c 'import socket; socket.create_server((\"127.0.0.1\", 0))' 2>/dev/null && echo yes || echo no; \
         echo hello > /dev/udp/127.0.0.1/{udp_port} && echo yes"
    );
    block_on(async {
        let engine = engine();
        let spec = BoxSpec { network: Some(Network::On), ..BoxSpec::default() };
        // With all ports first, so that what is refused afterwards is refused for the list.
        let open = engine.create(&plan(&spec)).await.unwrap();
        assert_eq!(open.walls().ports, PortWall::NotAsked);
        assert_eq!(sh(&*open, &script).await.1, "yes\nyes\nyes\nyes\n");
        open.destroy().await.unwrap();
        let held = BoxSpec { connect_ports: Some(vec![allowed_port]), ..spec };
        let held = engine.create(&plan(&held)).await.unwrap();
        assert_eq!(held.walls().ports, PortWall::Landlock, "this kernel's Landlock knows no ports");
        // Datagrams are not held by Landlock.
        assert_eq!(sh(&*held, &script).await.1, "yes\nno\nno\nyes\n");
        held.destroy().await.unwrap();
    });
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_ok() && other.accept().is_err(), "there was one connection, from the first box");
}
