//! The WebSocket door.

use crate::support::{SOON, Scene, call, echo, initialize, text_of};
use futures_util::{SinkExt, StreamExt};
use kennel_gateway::Limits;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// A client of the door.
pub(crate) struct Socket(pub(crate) WebSocketStream<TcpStream>);

impl Socket {
    pub(crate) async fn open(
        scene: &Scene,
        headers: &[(&'static str, &'static str)],
    ) -> Result<(Self, Option<String>), tungstenite::Error> {
        Self::at(scene.address, "/ws", headers).await
    }

    /// One whose door is at this path.
    pub(crate) async fn at(
        address: SocketAddr,
        path: &str,
        headers: &[(&'static str, &'static str)],
    ) -> Result<(Self, Option<String>), tungstenite::Error> {
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_static(value));
        }
        let stream = TcpStream::connect(address).await.unwrap();
        let (socket, response) = client_async(request, stream).await?;
        let protocol = response.headers().get("sec-websocket-protocol").map(|value| value.to_str().unwrap().to_owned());
        Ok((Self(socket), protocol))
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.expect("it is taken");
    }

    /// The next text, or the code of the close frame.
    pub(crate) async fn read(&mut self) -> Result<Value, u16> {
        loop {
            match timeout(SOON, self.0.next()).await.expect("something comes soon") {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).expect("JSON")),
                Some(Ok(Message::Close(frame))) => return Err(frame.map_or(0, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(0),
            }
        }
    }

    pub(crate) async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.read().await.expect("an answer")
    }
}

#[tokio::test]
async fn a_session_lives_as_long_as_its_socket() {
    let scene = Scene::new().await;
    let (mut socket, protocol) = Socket::open(&scene, &[("sec-websocket-protocol", "other, mcp")]).await.unwrap();
    assert_eq!(protocol.as_deref(), Some("mcp"));
    assert_eq!(socket.ask(&echo(1, "too early")).await["error"]["code"], -32600);
    assert_eq!(socket.ask(&initialize("2025-11-25")).await["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(text_of(&socket.ask(&echo("a", "hello")).await), "hello");
    socket.send(&call(2, "steps", &json!({"count": 2}))).await;
    for number in 1..=2 {
        assert_eq!(socket.read().await.unwrap()["params"], json!({"progressToken": 2, "progress": number}));
    }
    scene.gate.open(1);
    assert_eq!(text_of(&socket.read().await.unwrap()), "stepped");
    socket.0.send(Message::text("{")).await.unwrap();
    assert_eq!(socket.read().await.unwrap()["error"]["code"], -32700, "and it goes on");
    assert_eq!(socket.ask(&json!([echo(3, "batch")])).await["error"]["code"], -32600);
    assert_eq!(scene.engine.live(), 1);
    socket.0.close(None).await.unwrap();
    let gone = async {
        while scene.engine.live() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, gone).await.expect("the process ends with its socket");
    scene.end().await;
}

#[tokio::test]
async fn only_proper_handshakes_from_proper_pages_are_taken() {
    let scene = Scene::new().await;
    let status = |error| match error {
        tungstenite::Error::Http(response) => response.status().as_u16(),
        other => panic!("{other}"),
    };
    let refused = Socket::open(&scene, &[("origin", "http://evil.example.com")]).await.err().map(status);
    assert_eq!(refused, Some(403));
    let refused = Socket::open(&scene, &[("sec-websocket-version", "12")]).await.err().map(status);
    assert_eq!(refused, Some(400));
    let refused = Socket::open(&scene, &[("origin", "http://localhost:3000")]).await.err().map(status);
    assert_eq!(refused, Some(403), "a page of another program on this machine");
    let own = format!("http://localhost:{}", scene.address.port()).leak();
    let (_socket, protocol) = Socket::open(&scene, &[("origin", own)]).await.unwrap();
    assert_eq!(protocol, None);
    let plain = scene.connect().await.ask("GET", "/ws", &[], "").await;
    assert_eq!((plain.status, plain.header("upgrade")), (426, Some("websocket")));
    scene.end().await;
}

#[tokio::test]
async fn a_socket_is_closed_with_the_reason() {
    let scene = Scene::with(Limits { message_bytes: 1000, ..Limits::default() }).await;
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    socket.send(&echo(1, &"x".repeat(1000))).await;
    assert_eq!(socket.read().await, Err(1009));
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    socket.0.send(Message::binary(&b"{}"[..])).await.unwrap();
    assert_eq!(socket.read().await, Err(1003));
    let (mut socket, _) = Socket::open(&scene, &[]).await.unwrap();
    socket.ask(&initialize("2025-11-25")).await;
    scene.shutdown.cancel();
    assert_eq!(socket.read().await, Err(1001));
    scene.end().await;
}

#[tokio::test]
async fn a_socket_that_gives_no_sign_of_life_is_given_up() {
    let scene = Scene::with(Limits { keep_alive: Duration::from_millis(200), ..Limits::default() }).await;
    let (mut alive, _) = Socket::open(&scene, &[]).await.unwrap();
    let (mut dead, _) = Socket::open(&scene, &[]).await.unwrap();
    for socket in [&mut alive, &mut dead] {
        socket.ask(&initialize("2025-11-25")).await;
        socket.ask(&echo(1, "hello")).await;
    }
    assert_eq!(scene.engine.started(), 2);
    // A client that does not read does not answer pings either.
    let gone = async {
        while scene.engine.live() > 1 {
            let waited = timeout(Duration::from_millis(10), alive.0.next()).await;
            assert!(matches!(waited, Err(_) | Ok(Some(Ok(Message::Ping(_))))), "{waited:?}");
        }
    };
    timeout(SOON, gone).await.expect("the dead one is given up");
    assert_eq!(text_of(&alive.ask(&echo(1, "alive")).await), "alive");
    drop(dead);
    scene.end().await;
}
