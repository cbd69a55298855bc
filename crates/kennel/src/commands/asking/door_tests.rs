use super::{Answer, Door, DoorError, Trouble, read};
use crate::commands::asking::address::Address;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

/// What an answer is understood as, whatever the pieces it comes in.
fn understood(bytes: &[u8], most: usize) -> Result<Answer, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let parse = |piece: usize| {
        runtime.block_on(read(BufReader::with_capacity(piece, bytes), most)).map_err(|trouble| match trouble {
            Trouble::TooLong => "too long".to_owned(),
            Trouble::NotHttp(text) => text,
            Trouble::Broken(error) => error.to_string(),
        })
    };
    let whole = parse(64 << 10);
    for piece in [1, 2, 7] {
        assert_eq!(parse(piece), whole, "in pieces of {piece}");
    }
    whole
}

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, body: body.into() }
}

#[test]
fn bodies_end_where_the_head_says() {
    for (bytes, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}rest", answer(200, "{}")),
        ("HTTP/1.0 401 No\ncontent-length:0\n\n", answer(401, "")),
        ("HTTP/1.1 200 OK\r\n\r\nto the end", answer(200, "to the end")),
        ("HTTP/1.1 204 No Content\r\n\r\nrest", answer(204, "")),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", answer(200, "x")),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2;ext=1\r\nab\r\nA\r\ncdefghijkl\r\n0\r\nTrailer: x\r\n\r\n",
            answer(200, "abcdefghijkl"),
        ),
    ] {
        assert_eq!(understood(bytes.as_bytes(), 100), Ok(expected), "{bytes}");
    }
}

#[test]
fn answers_that_are_no_http_are_refused() {
    for (bytes, expected) in [
        ("", "it broke off"),
        ("SSH-2.0-OpenSSH\r\n", "`SSH-2.0-OpenSSH`"),
        ("HTTP/1.1 OK\r\n\r\n", "`HTTP/1.1 OK`"),
        ("HTTP/1.1 200 OK\r\nContent-Len", "it broke off"),
        ("HTTP/1.1 200 OK\r\nno field\r\n\r\n", "a field without a name"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "the length `-1`"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "it broke off"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "the transfer encoding `gzip`"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "the chunk length `zz`"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", "a chunk that is longer than it says"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "it broke off"),
    ] {
        assert_eq!(understood(bytes.as_bytes(), 100), Err(expected.to_owned()), "{bytes}");
    }
    let endless = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(20 << 10));
    assert_eq!(understood(endless.as_bytes(), 100), Err("a line without an end".to_owned()));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(200));
    assert_eq!(understood(many.as_bytes(), 100), Err("more than 128 fields".to_owned()));
}

#[test]
fn no_framing_lets_an_answer_grow_beyond_the_limit() {
    for head in ["Content-Length: 11\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n", "\r\n"] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{head}12345678901\r\n0\r\n\r\n");
        assert_eq!(understood(bytes.as_bytes(), 10), Err("too long".to_owned()), "{head}");
    }
    let most = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234567890";
    assert_eq!(understood(most.as_bytes(), 10), Ok(answer(200, "1234567890")));
    let monstrous = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n", usize::MAX);
    assert_eq!(understood(monstrous.as_bytes(), 10), Err("too long".to_owned()));
}

fn door(port: u16, token: Option<&str>) -> Door {
    let address = Address { host: "127.0.0.1".into(), port, path: "/rpc".into() };
    Door { address, token: token.map(str::to_owned), patience: Duration::from_secs(30), most_bytes: 1 << 20 }
}

#[tokio::test]
async fn a_request_says_all_that_a_gateway_asks_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let gateway = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut seen = Vec::new();
        while !seen.ends_with(b"{\"x\":1}") {
            assert_ne!(stream.read_buf(&mut seen).await.unwrap(), 0);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]").await.unwrap();
        String::from_utf8(seen).unwrap()
    });
    let answer = door(port, Some("s3cret")).post(b"{\"x\":1}").await.unwrap();
    assert_eq!(answer, Answer { status: 200, body: b"[]".to_vec() });
    let seen = gateway.await.unwrap();
    assert!(seen.starts_with("POST /rpc HTTP/1.1\r\n"), "{seen}");
    for field in [
        &format!("Host: 127.0.0.1:{port}"),
        "Content-Type: application/json",
        "Content-Length: 7",
        "Authorization: Bearer s3cret",
    ] {
        assert!(seen.contains(&format!("\r\n{field}\r\n")), "{field}: {seen}");
    }
}

#[tokio::test]
async fn an_answer_counts_that_comes_before_all_was_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let gateway = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        stream
    });
    // More than the connection holds while nobody reads.
    let answer = door(port, None).post(&vec![b' '; 64 << 20]).await.unwrap();
    assert_eq!(answer.status, 413);
    drop(gateway.await.unwrap());
}

#[tokio::test]
async fn nobody_and_silence_have_errors_of_their_own() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let patience = Duration::from_millis(50);
    let silent = Door { patience, ..door(port, None) }.post(b"{}").await;
    assert!(matches!(silent, Err(DoorError::TooSlow(..))), "{silent:?}");
    drop(listener);
    let nobody = door(port, None).post(b"{}").await.unwrap_err();
    assert!(matches!(nobody, DoorError::Refused(_)), "{nobody:?}");
    assert!(nobody.hint().contains("kennel run"));
    let broken = door(port, Some("two\r\nlines")).post(b"{}").await;
    assert!(matches!(broken, Err(DoorError::Token)), "{broken:?}");
}

#[tokio::test]
async fn who_takes_the_connection_and_resets_it_was_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let stranger = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // Closed with bytes unread, which is what resets a connection.
        stream.readable().await.unwrap();
    });
    let refused = door(port, None).post(b"{}").await.unwrap_err();
    stranger.await.unwrap();
    assert!(matches!(&refused, DoorError::NotHttp(_, text) if text == "it broke off"), "{refused}");
}
