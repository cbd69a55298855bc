//! Clients that send without end, never finish, or never read: what they can have the gateway hold, and for how long.

use crate::http::Connection;
use crate::support::{SOON, Scene, call, echo, initialize, request, text_of};
use crate::websocket::Socket;
use futures_util::{SinkExt, StreamExt};
use kennel_gateway::Limits;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message;

const MIB: usize = 1 << 20;
/// What the sockets of a connection may hold by themselves.
const SOCKETS: usize = 24 * MIB;
/// Long enough to be sure that nothing more is taken.
const QUIET: Duration = Duration::from_secs(2);

/// A WebSocket by hand, which never reads after the handshake.
async fn deaf_socket(scene: &Scene) -> TcpStream {
    let mut stream = TcpStream::connect(scene.address).await.unwrap();
    let handshake = format!(
        "GET /ws HTTP/1.1\r\nhost: {}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        scene.address
    );
    stream.write_all(handshake.as_bytes()).await.unwrap();
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 101");
    stream
}

/// A frame of a client.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | opcode];
    match payload.len() {
        short @ 0..126 => frame.push(0x80 | u8::try_from(short).unwrap()),
        long => {
            frame.push(0x80 | 0x7e);
            frame.extend(u16::try_from(long).unwrap().to_be_bytes());
        }
    }
    // Masked with zeros.
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

/// Sends a piece again and again, until none is taken for a while or so much was; returns how much.
async fn pour(stream: &mut TcpStream, piece: &[u8], most: usize) -> usize {
    let mut poured = 0;
    while poured < most {
        match timeout(QUIET, stream.write_all(piece)).await {
            Ok(Ok(())) => poured += piece.len(),
            Ok(Err(_)) | Err(_) => break,
        }
    }
    poured
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pings_of_a_socket_that_never_reads_are_taken_up_to_a_bound() {
    let scene = Scene::with(Limits { stalled: Duration::from_secs(5), ..Limits::default() }).await;
    let mut deaf = deaf_socket(&scene).await;
    let pings = frame(9, &[b'x'; 125]).repeat(500);
    let poured = pour(&mut deaf, &pings, 256 * MIB).await;
    assert!(poured < SOCKETS, "{poured} bytes of pings were taken");
    // And after a while it is given up.
    let gone = async { while deaf.write_all(&pings).await.is_ok() {} };
    timeout(SOON, gone).await.expect("a socket that does not read is given up");
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_a_socket_that_never_reads_are_taken_up_to_a_bound() {
    let scene = Scene::with(Limits { stalled: Duration::from_secs(5), ..Limits::default() }).await;
    let mut deaf = deaf_socket(&scene).await;
    deaf.write_all(&frame(1, initialize("2025-11-25").to_string().as_bytes())).await.unwrap();
    let requests = frame(1, echo(1, &"x".repeat(4000)).to_string().as_bytes()).repeat(16);
    let poured = pour(&mut deaf, &requests, 256 * MIB).await;
    assert!(poured < 2 * SOCKETS, "{poured} bytes of requests were taken");
    let gone = async { while deaf.write_all(&requests).await.is_ok() {} };
    timeout(SOON, gone).await.expect("a socket that does not read is given up");
    scene.end().await;
}

#[tokio::test]
async fn a_socket_may_say_a_lot_before_it_reads() {
    let scene = Scene::new().await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    for number in 0..5000 {
        socket.0.feed(Message::text(request(number, "ping", &json!({})).to_string())).await.unwrap();
    }
    socket.0.flush().await.unwrap();
    for number in 0..5000 {
        assert_eq!(socket.read().await.unwrap()["id"], number);
    }
    scene.end().await;
}

#[tokio::test]
async fn a_response_that_nobody_reads_is_not_held_for_long() {
    let scene = Scene::with(Limits { stalled: Duration::from_millis(500), ..Limits::default() }).await;
    let mut client = scene.session("2025-11-25").await;
    let message = call(1, "large", &json!({"bytes": 32 * MIB}));
    let id = client.id.clone();
    client.connection.send_post(&[("mcp-session-id", &id)], &message).await;
    scene.gate.open(1);
    let mut other = scene.connect().await;
    let started = Instant::now();
    let closed = async {
        while !other.ask("GET", "/metrics", &[], "").await.text().contains("kennel_http_connections 1\n") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, closed).await.expect("the connection is broken");
    assert!(started.elapsed() >= Duration::from_millis(500));
    scene.end().await;
}

/// Begins a POST of so many bytes, and sends all but the last one.
async fn unfinished(scene: &Scene, path: &str, session: Option<&str>, length: usize) -> TcpStream {
    let mut stream = TcpStream::connect(scene.address).await.unwrap();
    let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         {session}content-length: {length}\r\n\r\n",
        scene.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // One that is refused need not take all of it.
    let _ = stream.write_all(&vec![b' '; length - 1]).await;
    stream
}

/// The head of what a stream answers with, if it does within the time.
async fn head(stream: &mut TcpStream, patience: Duration) -> Option<String> {
    let mut answer = vec![0; 2048];
    let read = timeout(patience, stream.read(&mut answer)).await.ok()?.ok()?;
    Some(String::from_utf8_lossy(&answer[..read]).into_owned())
}

#[tokio::test]
async fn unfinished_bodies_share_one_budget_and_who_comes_late_is_told_when_to_come_back() {
    let limits = Limits { message_bytes: 2 * MIB, unfinished_bytes: 8 * MIB, ..Limits::default() };
    let scene = Scene::with(limits).await;
    let mut client = scene.session("2025-11-25").await;
    for path in ["/rpc", "/mcp"] {
        let mut held = Vec::new();
        let mut refused = None;
        for _ in 0..12 {
            let mut stream = unfinished(&scene, path, None, 2 * MIB).await;
            match head(&mut stream, Duration::from_millis(300)).await {
                None => held.push(stream),
                Some(answer) => refused = Some(answer),
            }
        }
        // Half of the budget is for those who have a session.
        assert_eq!(held.len(), 2, "{path}: {refused:?}");
        let refused = refused.expect("the others are sent away");
        assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1"), "{refused}");
        assert!(refused.contains("-31004"), "{refused}");
        let large = echo(7, &"x".repeat(MIB));
        assert_eq!(text_of(&client.post(&large).await.json()).len(), MIB, "a session still has its half");
        let small = scene.connect().await.ask("POST", "/rpc", &JSON, &echo(1, "small").to_string()).await;
        assert_eq!(text_of(&small.json()), "small", "what is short always passes");
        drop(held);
        let again = async {
            loop {
                let mut stream = unfinished(&scene, path, None, 2 * MIB).await;
                if head(&mut stream, Duration::from_millis(300)).await.is_none() {
                    return;
                }
            }
        };
        timeout(SOON, again).await.expect("what was held is given back");
    }
    scene.end().await;
}

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

#[tokio::test]
async fn unfinished_messages_of_sockets_and_heads_are_of_the_same_budget() {
    let limits = Limits { message_bytes: 2 * MIB, unfinished_bytes: 8 * MIB, ..Limits::default() };
    let scene = Scene::with(limits).await;
    let mut held = [unfinished(&scene, "/rpc", None, 2 * MIB).await, unfinished(&scene, "/rpc", None, 2 * MIB).await];
    for stream in &mut held {
        assert_eq!(head(stream, Duration::from_millis(300)).await, None, "all but the last byte is taken");
    }
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    // All but the last byte of a message.
    let mut long = vec![0x81, 0xff];
    long.extend((MIB as u64).to_be_bytes());
    long.extend([0; 4]);
    long.extend(vec![b' '; MIB - 1]);
    socket.0.get_mut().write_all(&long).await.unwrap();
    assert_eq!(socket.read().await, Err(1013), "try again later");
    let mut endless = TcpStream::connect(scene.address).await.unwrap();
    endless.write_all(b"GET /healthz HTTP/1.1\r\nx: ").await.unwrap();
    let gone = async { while endless.write_all(&vec![b'y'; 64 * 1024]).await.is_ok() {} };
    timeout(SOON, gone).await.expect("a head without an end is cut off");
    drop(held);
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    socket.ask(&initialize("2025-11-25")).await;
    assert_eq!(text_of(&socket.ask(&echo(1, &"x".repeat(MIB))).await).len(), MIB, "all was given back");
    scene.end().await;
}

#[tokio::test]
async fn a_body_that_comes_to_a_halt_is_not_waited_for() {
    let scene = Scene::with(Limits { body_pause: Duration::from_millis(300), ..Limits::default() }).await;
    let mut halted = unfinished(&scene, "/rpc", None, MIB).await;
    let answer = head(&mut halted, SOON).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    // A byte now and then is no progress either.
    let mut trickling = unfinished(&scene, "/rpc", None, MIB).await;
    trickling.set_nodelay(true).unwrap();
    let (mut reads, mut writes) = trickling.split();
    let mut answer = vec![0; 12];
    let trickle = async {
        loop {
            let _ = writes.write_all(b" ").await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        read = timeout(SOON, reads.read_exact(&mut answer)) => { read.expect("soon").unwrap(); }
        () = trickle => unreachable!("it trickles for ever"),
    }
    assert!(answer == b"HTTP/1.1 408" || answer == b"HTTP/1.1 400", "{answer:?}");
    scene.end().await;
}

#[tokio::test]
async fn idle_connections_make_room_for_one_that_is_used() {
    let scene = Scene::with(Limits { connections: 8, ..Limits::default() }).await;
    let mut used = scene.session("2025-11-25").await;
    let mut idle = Vec::new();
    for at in 0..40 {
        let mut stream = TcpStream::connect(scene.address).await.unwrap();
        if at % 2 == 0 {
            // Not even a whole head.
            stream.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
        }
        idle.push(stream);
    }
    for _ in 0..3 {
        let mut late = scene.connect().await;
        let response = timeout(SOON, late.ask("POST", "/rpc", &JSON, &echo(1, "late").to_string())).await;
        assert_eq!(text_of(&response.expect("there is room").json()), "late");
    }
    // A request in hand is not cut off, and a session goes on.
    let mut connection = scene.connect().await;
    let id = used.id.clone();
    connection.send_post(&[("mcp-session-id", &id)], &call(1, "hold", &json!({}))).await;
    for _ in 0..40 {
        idle.push(TcpStream::connect(scene.address).await.unwrap());
    }
    let mut late = scene.connect().await;
    timeout(SOON, late.ask("GET", "/healthz", &[], "")).await.expect("there is room");
    scene.gate.open(1);
    assert_eq!(text_of(&connection.response().await.json()), "held");
    used.connection = scene.connect().await;
    assert_eq!(text_of(&used.post(&echo(2, "still")).await.json()), "still");
    drop(idle);
    scene.end().await;
}

#[tokio::test]
async fn heads_of_many_lines_or_without_an_end_are_refused() {
    let scene = Scene::new().await;
    let mut stream = TcpStream::connect(scene.address).await.unwrap();
    let mut many = b"GET /healthz HTTP/1.1\r\n".to_vec();
    for number in 0..5000 {
        many.extend(format!("x-{number}: y\r\n").into_bytes());
    }
    many.extend(b"\r\n");
    let _ = stream.write_all(&many).await;
    let answer = head(&mut stream, SOON).await.unwrap_or_default();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431") || answer.starts_with("HTTP/1.1 400"), "{answer}");
    let mut endless = TcpStream::connect(scene.address).await.unwrap();
    endless.write_all(b"GET /healthz HTTP/1.1\r\nx: ").await.unwrap();
    let poured = pour(&mut endless, &vec![b'y'; 64 * 1024], 64 * MIB).await;
    assert!(poured < SOCKETS, "{poured} bytes of a head were taken");
    let mut connection: Connection = scene.connect().await;
    assert_eq!(connection.ask("GET", "/healthz", &[], "").await.status, 200);
    scene.end().await;
}

#[tokio::test]
async fn trailers_without_an_end_are_refused() {
    let scene = Scene::new().await;
    let mut stream = TcpStream::connect(scene.address).await.unwrap();
    let head = format!(
        "POST /rpc HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
        scene.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let poured = pour(&mut stream, &b"x: y\r\n".repeat(1024), 64 * MIB).await;
    assert!(poured < SOCKETS, "{poured} bytes of trailers were taken");
    scene.end().await;
}

#[tokio::test]
async fn a_socket_that_reads_gets_its_pongs() {
    let scene = Scene::new().await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    for _ in 0..1000 {
        socket.0.send(Message::Ping(vec![b'x'; 125].into())).await.unwrap();
        let pong = timeout(SOON, socket.0.next()).await.unwrap().unwrap().unwrap();
        assert!(matches!(pong, Message::Pong(_)), "{pong:?}");
    }
    assert_eq!(socket.ask(&request(1, "ping", &json!({}))).await["result"], json!({}));
    scene.end().await;
}
