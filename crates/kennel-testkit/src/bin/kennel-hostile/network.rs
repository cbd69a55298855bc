//! Attempts to reach a network, a socket of the host, or the network's configuration.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::time::Duration;

use crate::Runner;
use crate::finding::{Setup, Verdict, blocked, escaped, gate, not_possible};
use crate::scene::Scene;
use crate::system::{Argument, call, call_for_descriptor};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("tcp_loopback", |scene| tcp(LOOPBACK, scene.number(0)?)),
    ("tcp_host_address", |scene| tcp(scene.number(0)?, scene.number(1)?)),
    ("udp_loopback", |scene| udp(LOOPBACK, scene.number(0)?)),
    ("udp_host_address", |scene| udp(scene.number(0)?, scene.number(1)?)),
    ("raw_socket", |_| socket_of(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
    ("packet_socket", |_| socket_of(libc::AF_PACKET, libc::SOCK_RAW, 0)),
    ("vsock_socket", |_| socket_of(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("crypto_socket", |_| socket_of(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
    ("change_network", change_network),
    ("abstract_socket", abstract_socket),
    ("tun_device", tun_device),
];

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const PATIENCE: Duration = Duration::from_secs(3);

fn tcp(address: IpAddr, port: u16) -> Verdict {
    TcpStream::connect_timeout(&SocketAddr::new(address, port), PATIENCE)?;
    Ok(escaped(format!("connected to {address}")))
}

fn udp(address: IpAddr, port: u16) -> Verdict {
    let here = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(here)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(b"kennel", SocketAddr::new(address, port))?;
    let mut answer = [0; 16];
    match socket.recv_from(&mut answer) {
        Ok(_) => Ok(escaped(format!("got an answer from {address}"))),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(blocked("no answer")),
        Err(error) => Err(error.into()),
    }
}

fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    let arguments = [
        Argument::Number(family.into()),
        Argument::Number((kind | libc::SOCK_CLOEXEC).into()),
        Argument::Number(protocol.into()),
    ];
    call_for_descriptor(libc::SYS_socket, arguments)
}

fn socket_of(family: i32, kind: i32, protocol: i32) -> Verdict {
    socket(family, kind, protocol)?;
    Ok(escaped("made the socket"))
}

/// Asks to change a link that does not exist: who asks is checked before what is asked.
fn change_network(_: &Scene) -> Verdict {
    const MESSAGE_LENGTH: u32 = 32;
    const NO_SUCH_LINK: u32 = 0x7fff_fff0;

    let netlink = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK).cast_unsigned();
    // Header (length, type and flags, sequence, port), then the link (family and type, index,
    // flags, change mask).
    let kind_and_flags = u32::from(libc::RTM_SETLINK) | flags << 16;
    let request: Vec<u8> =
        [MESSAGE_LENGTH, kind_and_flags, 1, 0, 0, NO_SUCH_LINK, 0, 0].into_iter().flat_map(u32::to_ne_bytes).collect();
    let descriptor = i64::from(netlink.as_raw_fd());
    let arguments = [Argument::Number(descriptor), Argument::Bytes(&request), Argument::Number(MESSAGE_LENGTH.into())];
    call(libc::SYS_write, arguments)?;
    let mut answer = [0; 256];
    let arguments = [Argument::Number(descriptor), Argument::Fill(&mut answer), Argument::Number(256)];
    call(libc::SYS_read, arguments).setup("read the answer")?;
    let Some(Ok(error)) = answer.get(16..20).map(<[u8; 4]>::try_from) else {
        return Ok(not_possible("the answer is too short"));
    };
    match i32::from_ne_bytes(error) {
        0 => Ok(escaped("changed a link")),
        number => gate(Err(io::Error::from_raw_os_error(-number)), &[libc::ENODEV, libc::EINVAL]),
    }
}

fn abstract_socket(scene: &Scene) -> Verdict {
    let address = UnixAddress::from_abstract_name(scene.text(0)?).setup("make the address")?;
    UnixStream::connect_addr(&address)?;
    Ok(escaped("connected"))
}

/// The device goes away with its descriptor.
fn tun_device(_: &Scene) -> Verdict {
    const NAME_LENGTH: usize = 16;
    let device = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun")?;
    let mut request = [0; 40];
    let name = b"kennelhostile";
    request[..name.len()].copy_from_slice(name);
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI).to_ne_bytes();
    request[NAME_LENGTH..NAME_LENGTH + flags.len()].copy_from_slice(&flags);
    let set_interface = i64::try_from(libc::TUNSETIFF).unwrap_or_default();
    let arguments =
        [Argument::Number(device.as_raw_fd().into()), Argument::Number(set_interface), Argument::Fill(&mut request)];
    call(libc::SYS_ioctl, arguments)?;
    Ok(escaped("made a tun device"))
}
