//! What the fuzz targets check about this crate's parsers: any bytes may be given, and a finding is a panic.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use crate::access::Access;
use crate::conversation::Received;
use crate::directory::Address;
use crate::lines::LineInlet;
use crate::settings::{AccessSettings, Limits, Token};
use crate::{declared, headers, mirrored, websocket};
use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use kennel_hub::{HeaderParameter, HeaderParameterKind, Principal};
use kennel_wire::{Frame, Kind, Message};
use serde_json::Value;
use std::io::{Read, Write};
use std::sync::{Arc, LazyLock};
use tokio_tungstenite::tungstenite;

/// A request by HTTP, as lines of a head, an empty line and a body: what the headers repeat is what `serde_json` finds in
/// the body, and nobody comes in without the token.
pub fn http(data: &[u8]) {
    let (head, body) = match data.windows(2).position(|pair| pair == b"\n\n") {
        Some(end) => (&data[..end], &data[end + 2..]),
        None => (data, [].as_slice()),
    };
    let mut lines = head.split(|byte| *byte == b'\n');
    let path = String::from_utf8_lossy(lines.next().unwrap_or_default());
    if let Some((address, before, door)) = Address::split(&path) {
        assert_eq!(format!("{before}/{door}"), path, "the path is another one");
        assert!(!matches!(address, Address::Server("") | Address::View("")), "a name is empty");
    }
    let mut map = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        let value = HeaderValue::from_bytes(value.get(1..).unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), value) {
            map.append(name, value);
        }
    }
    admitted(&path, &map);
    let _ = (headers::accepts_answers(&map), headers::accepts_events(&map), headers::sends_json(&map));
    let _ = (headers::speaks_version(&map), headers::session_id(&map));
    let messages = match Frame::parse(Bytes::copy_from_slice(body)) {
        Ok(Frame::Single(message)) => vec![message],
        Ok(Frame::Batch(messages)) => messages.into_iter().flatten().collect(),
        Err(_) => return,
    };
    for message in messages {
        if declared::is_modern(&message) && matches!(message.kind(), Kind::Request { .. }) {
            let _ = declared::check(&message);
            repeated(&map, &message);
        }
    }
}

const SECRET: &str = "0123456789abcdef0123456789abcdef";

static ACCESS: LazyLock<Access> = LazyLock::new(|| {
    let tokens = vec![Token { secret: SECRET.to_owned(), principal: Principal::new("fuzz") }];
    Access::new(&AccessSettings { tokens, ..AccessSettings::default() }, ([127, 0, 0, 1], 7330).into())
});

static PARAMETERS: LazyLock<Arc<[HeaderParameter]>> = LazyLock::new(|| {
    let parameter = |header: &str, kind| HeaderParameter { header: header.into(), path: vec![header.into()], kind };
    Arc::new([
        parameter("text", HeaderParameterKind::String),
        parameter("count", HeaderParameterKind::Integer),
        parameter("flag", HeaderParameterKind::Boolean),
    ])
});

/// Who has not the token, or calls the gateway by a foreign name, stays outside.
fn admitted(path: &str, map: &HeaderMap) {
    let Ok(uri) = path.parse() else { return };
    if ACCESS.check(crate::peer::Peer::Own, &uri, map).is_ok() {
        let told = map.get("authorization").and_then(|told| told.to_str().ok()).unwrap_or_default();
        assert!(told.ends_with(SECRET), "somebody came in without the token");
        let host = uri.host().or_else(|| map.get("host").and_then(|host| host.to_str().ok())).unwrap_or_default();
        let host = host.to_ascii_lowercase();
        let is_own = ["localhost", "127.", "[::1]", "[0", "[::", "::1"].iter().any(|own| host.starts_with(own));
        assert!(is_own, "a foreign name was taken: {host}");
    }
}

/// Where headers are accepted, they say what the body says.
fn repeated(map: &HeaderMap, message: &Message) {
    if mirrored::check(map, message, |_| Some(Arc::clone(&PARAMETERS))).is_err() {
        return;
    }
    let Ok(body) = serde_json::from_slice::<Value>(message.bytes()) else { panic!("accepted what is not JSON") };
    let header = |name: &str| {
        let text = map.get(name)?.to_str().ok()?.trim_matches([' ', '\t']);
        mirrored::decoded(map, name, name).ok()?.map(|decoded| (text.to_owned(), decoded.into_owned()))
    };
    let method = body["method"].as_str();
    assert_eq!(header("mcp-method").map(|(text, _)| text).as_deref(), method, "the method is another one");
    let name = match method {
        Some("tools/call" | "prompts/get") => body.pointer("/params/name"),
        Some("resources/read") => body.pointer("/params/uri"),
        _ => return,
    };
    let name = name.and_then(Value::as_str);
    assert_eq!(header("mcp-name").map(|(_, text)| text).as_deref(), name, "the name is another one");
    if method != Some("tools/call") || name.is_none() {
        return;
    }
    let argument = |name: &str| body["params"]["arguments"].get(name).filter(|value| !value.is_null());
    let said = |name: &str| header(&format!("mcp-param-{name}")).map(|(_, text)| text);
    assert_eq!(said("text").as_deref(), argument("text").and_then(Value::as_str), "an argument is another one");
    assert_eq!(
        said("flag").as_deref(),
        argument("flag").map(|flag| if *flag == Value::Bool(true) { "true" } else { "false" })
    );
    let number = |text: String| text.parse::<f64>().ok().map(f64::to_bits);
    // Zero is one number, whatever its sign.
    let number = |text: String| number(text).map(|bits| if bits << 1 == 0 { 0 } else { bits });
    if let Some(Value::Number(count)) = argument("count")
        && let (Some(left), Some(right)) = (number(count.to_string()), said("count").and_then(number))
    {
        assert_eq!(left, right, "a number is another one");
    }
}

/// What a client over stdio sends, in any pieces (cut at 0xff, after a byte that is the limit): its lines are those of the
/// whole stream, and never more than the limit is held.
pub fn stdio(data: &[u8]) {
    let Some((limit, data)) = data.split_first() else { return };
    let limit = usize::from(*limit);
    let pieces: Vec<&[u8]> = data.split(|byte| *byte == 0xff).collect();
    let stream = pieces.concat();
    let mut found = Vec::new();
    let held = LineInlet::new(tokio::io::empty(), limit).fed(&pieces, |received| {
        found.push(match received {
            Received::Frame(line) => Some(line.to_vec()),
            Received::TooLong { .. } => None,
        });
    });
    assert!(held <= limit, "more is held than a line may have");
    let mut lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    lines.pop_if(|last| last.is_empty());
    let lines = lines.into_iter().filter(|line| line.len() > limit || !line.trim_ascii().is_empty());
    let expected: Vec<_> = lines.map(|line| (line.len() <= limit).then(|| line.to_vec())).collect();
    assert_eq!(found, expected, "other lines than those of the stream");
}

/// Any bytes after the handshake of a WebSocket, in any pieces: no message is longer than the limit, and what is answered
/// by itself is no more than what came.
pub fn websocket(data: &[u8]) {
    const LIMIT: usize = 64;
    let limits = Limits { message_bytes: LIMIT, ..Limits::default() };
    let pipe = Pipe { rest: data, written: 0 };
    let config = Some(websocket::config(&limits));
    let mut socket = tungstenite::WebSocket::from_raw_socket(pipe, tungstenite::protocol::Role::Server, config);
    let mut total = 0;
    while let Ok(message) = socket.read() {
        if let tungstenite::Message::Text(text) = &message {
            total += text.len();
        }
        assert!(message.len() <= LIMIT.max(125), "a message is longer than the limit");
    }
    let _ = socket.flush();
    assert!(total <= data.len(), "more came out than went in");
    // The last word is the close frame of the protocol, with at most 125 bytes.
    assert!(socket.get_ref().written <= data.len() + 2 + 125, "more was answered than was sent");
}

/// The bytes of a client, and how many were written to it.
struct Pipe<'a> {
    rest: &'a [u8],
    written: usize,
}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.rest.len().min(buffer.len()).min(7);
        let (now, rest) = self.rest.split_at(length);
        buffer[..length].copy_from_slice(now);
        self.rest = rest;
        Ok(length)
    }
}

impl Write for Pipe<'_> {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.written += buffer.len();
        Ok(buffer.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kennel_testkit::replay_corpus;

    #[test]
    fn the_corpora_of_the_fuzzer_have_no_findings() {
        replay_corpus("http", super::http).unwrap();
        replay_corpus("stdio", super::stdio).unwrap();
        replay_corpus("websocket", super::websocket).unwrap();
    }
}
