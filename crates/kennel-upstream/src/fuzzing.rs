//! What the fuzz targets check about this crate's parsers: any bytes may be given, and a finding is a panic.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use crate::address::Address;
use crate::sse::{Event, EventReader, KIND_BYTES, TooLarge};

/// Any stream of events in any pieces (cut at 0xff, after a byte that is the limit): its events are those of the whole
/// stream as the HTML standard reads it, and none is larger than the limit.
pub fn sse(data: &[u8]) {
    let Some((limit, data)) = data.split_first() else { return };
    let limit = usize::from(*limit);
    let pieces: Vec<&[u8]> = data.split(|byte| *byte == 0xff).collect();
    let stream = pieces.concat();
    let (events, end) = read(limit, &pieces);
    assert!(events.iter().all(|event| event.data.len() <= limit), "an event is larger than the limit");
    assert_eq!((events, end), expected(limit, &stream), "other events than those of the whole stream");
}

fn read(limit: usize, pieces: &[&[u8]]) -> (Vec<Event>, Result<(), TooLarge>) {
    let mut reader = EventReader::new(limit);
    let end = pieces.iter().try_for_each(|piece| reader.push(piece));
    assert!(reader.last_id().is_none_or(|id| id.bytes().all(|byte| (0x20..0x7f).contains(&byte))));
    (std::iter::from_fn(|| reader.next()).collect(), end)
}

/// The events of a stream, line by line, as simply as can be.
fn expected(limit: usize, stream: &[u8]) -> (Vec<Event>, Result<(), TooLarge>) {
    let (mut events, mut event, mut has_data) = (Vec::new(), Event::default(), false);
    let mut data: Vec<u8> = Vec::new();
    let mut rest = stream;
    let mut first = true;
    loop {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (mut line, after) = end.map_or((rest, None), |end| (&rest[..end], Some(&rest[end..])));
        if line.len() > limit + 64 {
            return (events, Err(TooLarge));
        }
        let Some(after) = after else { return (events, Ok(())) };
        rest = after.strip_prefix(b"\r\n").unwrap_or(&after[1..]);
        if std::mem::take(&mut first) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        let value = value.get(1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"" if line.is_empty() => {
                let Event { kind, .. } = std::mem::take(&mut event);
                let data = std::mem::take(&mut data).into();
                if std::mem::take(&mut has_data) {
                    events.push(Event { kind, data });
                }
            }
            b"event" => event.kind = String::from_utf8_lossy(&value[..value.len().min(KIND_BYTES)]).into_owned(),
            b"data" => {
                if data.len() + value.len() + usize::from(has_data) > limit {
                    return (events, Err(TooLarge));
                }
                if std::mem::replace(&mut has_data, true) {
                    data.push(b'\n');
                }
                data.extend_from_slice(value);
            }
            _ => {}
        }
    }
}

/// Any text as the address that a server names for messages: what is taken is of the server's own origin.
pub fn endpoint(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(server) = Address::parse("https://server.example:8443/one/two?three") else { return };
    if let Ok(found) = server.within_origin(&text) {
        let uri = found.uri();
        assert_eq!(uri.scheme_str(), Some("https"), "credentials would go over another scheme");
        assert!(uri.host().is_some_and(|host| host.eq_ignore_ascii_case("server.example")), "another host: {uri}");
        assert_eq!(uri.port_u16(), Some(8443), "another port: {uri}");
        assert!(!uri.authority().is_some_and(|authority| authority.as_str().contains('@')), "credentials: {uri}");
        assert!(!format!("{found} {found:?}").contains("three"), "more than the origin is shown");
    }
    if let Ok(address) = Address::parse(&text) {
        let spelled = address.uri().to_string();
        // Blanks at its end, which not all are ASCII, are no part of a reference.
        if spelled.trim() == spelled {
            assert_eq!(address.within_origin(&spelled).as_ref(), Ok(&address), "it does not find itself");
        }
    }
}

#[cfg(test)]
mod tests {
    use kennel_testkit::replay_corpus;

    #[test]
    fn the_corpora_of_the_fuzzer_have_no_findings() {
        replay_corpus("sse", super::sse).unwrap();
        replay_corpus("endpoint", super::endpoint).unwrap();
    }
}
