//! The channel over real sockets.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use kennel_code::channel::{Channel, ChannelError, ChannelLimits, HEADER_BYTES, MAX_PAYLOAD, Token};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg, socketpair,
};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

fn pair() -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
}

fn channel(limits: ChannelLimits) -> (Channel, OwnedFd) {
    let (near, far) = pair();
    (Channel::new(near, limits).unwrap(), far)
}

fn packet(token: Token, number: u32, payload: &[u8]) -> Vec<u8> {
    [token.bytes().as_slice(), &number.to_le_bytes(), &[0; 4], payload].concat()
}

fn send_raw(socket: &OwnedFd, bytes: &[u8]) {
    let mut nothing = SendAncillaryBuffer::default();
    sendmsg(socket, &[IoSlice::new(bytes)], &mut nothing, SendFlags::empty()).unwrap();
}

#[tokio::test]
async fn messages_of_any_size_pass_whole_while_others_are_sent() {
    let (near, far) = pair();
    let near = Channel::new(near, ChannelLimits::default()).unwrap();
    let mut far = Channel::new(far, ChannelLimits::default()).unwrap();
    let tokens = [Token::random().unwrap(), Token::random().unwrap()];
    let sizes = [0, 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 5_000_000];
    let mut senders = tokio::task::JoinSet::new();
    for (token, fill) in tokens.into_iter().zip(1_u8..) {
        far.known.admit(token);
        let sender = near.sender.clone();
        senders.spawn(async move {
            for size in sizes {
                sender.send(token, &vec![fill; size]).await.unwrap();
            }
        });
    }
    let mut received = [Vec::new(), Vec::new()];
    for _ in 0..2 * sizes.len() {
        let message = far.receiver.next().await.unwrap();
        let which = tokens.iter().position(|token| *token == message.token).unwrap();
        assert!(message.body.iter().all(|byte| usize::from(*byte) == which + 1), "messages are mixed");
        received[which].push(message.body.len());
    }
    assert_eq!(received, [sizes.to_vec(), sizes.to_vec()]);
    assert_eq!(far.receiver.dropped(), kennel_code::channel::Dropped::default());
}

#[tokio::test]
async fn odd_packets_are_dropped_and_counted() {
    let (mut channel, far) = channel(ChannelLimits { received: 100, ..ChannelLimits::default() });
    let (token, other) = (Token::random().unwrap(), Token::random().unwrap());
    channel.known.admit(token);
    send_raw(&far, b"");
    send_raw(&far, b"short");
    send_raw(&far, &vec![0; HEADER_BYTES + MAX_PAYLOAD + 1]);
    send_raw(&far, &packet(other, 0, b"{}"));
    send_raw(&far, &packet(token, 1, &[b'x'; 101]));
    send_raw(&far, &packet(token, 2, b"whole"));
    assert_eq!(channel.receiver.next().await.unwrap().body, "whole", "an empty packet is not the end");
    let dropped = channel.receiver.dropped();
    assert_eq!((dropped.malformed, dropped.unknown, dropped.too_large), (3, 1, 1), "{dropped:?}");
}

#[tokio::test]
async fn descriptors_that_are_sent_along_never_arrive() {
    let (mut channel, far) = channel(ChannelLimits::default());
    let token = Token::random().unwrap();
    channel.known.admit(token);
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let sent_along = [writer.as_fd()];
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&sent_along)));
    sendmsg(&far, &[IoSlice::new(&packet(token, 0, b"{}"))], &mut ancillary, SendFlags::empty()).unwrap();
    drop(writer);
    assert_eq!(channel.receiver.next().await.unwrap().body, "{}");
    // The end of the pipe is seen only if no copy of its other side is open anywhere.
    let mut byte = [0];
    let ended = tokio::task::spawn_blocking(move || rustix::io::read(&reader, &mut byte).unwrap());
    assert_eq!(tokio::time::timeout(std::time::Duration::from_secs(30), ended).await.unwrap().unwrap(), 0);
}

#[tokio::test]
async fn the_end_is_told_in_both_directions_after_what_was_said() {
    let (mut channel, far) = channel(ChannelLimits::default());
    let token = Token::random().unwrap();
    channel.known.admit(token);
    channel.sender.send(token, b"never read").await.unwrap();
    send_raw(&far, &packet(token, 0, b"last words"));
    drop(far);
    assert_eq!(channel.receiver.next().await.unwrap().body, "last words");
    assert!(matches!(channel.receiver.next().await, Err(ChannelError::Closed)));
    assert!(matches!(channel.sender.send(token, b"x").await, Err(ChannelError::Closed)));
}

#[tokio::test]
async fn a_message_over_the_limit_is_not_sent() {
    let (channel, _far) = channel(ChannelLimits { sent: 10, ..ChannelLimits::default() });
    let token = Token::random().unwrap();
    let error = channel.sender.send(token, &[0; 11]).await.unwrap_err();
    assert!(error.to_string().contains("11 bytes") && error.to_string().contains("takes 10"), "{error}");
    channel.sender.send(token, &[0; 10]).await.unwrap();
}

#[tokio::test]
async fn an_abandoned_message_does_not_spoil_the_next() {
    let (near, far) = pair();
    let near = Channel::new(near, ChannelLimits::default()).unwrap();
    let mut far = Channel::new(far, ChannelLimits::default()).unwrap();
    let token = Token::random().unwrap();
    far.known.admit(token);
    let large = vec![1; 10_000_000];
    // Nobody reads, so that it cannot be finished.
    tokio::select! {
        biased;
        _ = near.sender.send(token, &large) => panic!("there is no room for all of it"),
        () = tokio::task::yield_now() => {}
    }
    let next = tokio::spawn(async move { near.sender.send(token, b"next").await });
    assert_eq!(far.receiver.next().await.unwrap().body, "next");
    next.await.unwrap().unwrap();
    assert_eq!(far.receiver.dropped().unfinished, 1);
}
