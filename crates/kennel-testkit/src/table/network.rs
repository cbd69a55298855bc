//! Attempts to reach a network or another network stack while the box has none.

use crate::attempt::Argument::{AbstractSocket, HostAddress, TcpPort, UdpPort};
use crate::attempt::Attempt;

const CAPABILITY: &str = "needs CAP_NET_RAW or CAP_NET_ADMIN";

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("tcp_loopback", "connects to the host's 127.0.0.1").needs(&[TcpPort]),
    Attempt::new("tcp_host_address", "connects to an address of the host").needs(&[HostAddress, TcpPort]),
    Attempt::new("udp_loopback", "gets an answer by UDP from the host's 127.0.0.1").needs(&[UdpPort]),
    Attempt::new("udp_host_address", "gets an answer by UDP from an address of the host")
        .needs(&[HostAddress, UdpPort]),
    Attempt::new("raw_socket", "makes a raw IP socket").only_root(CAPABILITY),
    Attempt::new("packet_socket", "makes a packet socket").only_root(CAPABILITY),
    Attempt::new("vsock_socket", "makes a socket to the hypervisor").if_exists("/dev/vsock"),
    Attempt::new("crypto_socket", "makes a socket of the kernel's crypto API")
        .nobody("the kernel is built without the crypto API's sockets"),
    Attempt::new("change_network", "passes the permission check of a netlink change").only_root(CAPABILITY),
    Attempt::new("abstract_socket", "connects to an abstract Unix socket of the host").needs(&[AbstractSocket]),
    Attempt::new("tun_device", "makes a tun device")
        .if_exists("/dev/net/tun")
        .only_root("the device's mode keeps ordinary users out"),
];
