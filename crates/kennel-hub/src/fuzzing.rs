//! What the fuzz targets check about this crate's parsers: any bytes may be given, and a finding is a panic.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use crate::mirrored;
use crate::seal::{Sealer, Ticket};
use crate::union::cursor_again;
use kennel_wire::RawJson;
use std::collections::HashMap;
use std::sync::LazyLock;

static SEALER: LazyLock<Option<Sealer>> = LazyLock::new(Sealer::new);

/// Any bytes as a sealed state: only what was sealed opens, as it was, and one changed letter closes it.
pub fn seal(data: &[u8]) {
    let Some(sealer) = &*SEALER else { return };
    if let Ok(text) = std::str::from_utf8(data) {
        assert_eq!(sealer.open(text), None, "opened what nobody has sealed");
        if let Some((cursor, again)) = cursor_again(text) {
            assert_eq!(cursor, again, "a cursor leads elsewhere");
        }
    }
    let Some((at, payload)) = data.split_first() else { return };
    let Some(ticket) = Ticket::decode(payload) else { return };
    assert_eq!(ticket.encode(), payload, "one state has two spellings");
    let state = sealer.seal(&ticket);
    assert_eq!(sealer.open(&state).as_ref(), Some(&ticket), "what was sealed does not open");
    let mut changed = state.clone().into_bytes();
    let at = usize::from(*at) % changed.len();
    changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8_lossy(&changed);
    assert_eq!(sealer.open(&changed), None, "opened what somebody has changed");
    assert_eq!(sealer.open(&state[..at]), None, "opened a part");
}

/// A page of tools as a server sends it: the headers that its schemas ask for can be headers, each for one argument.
pub fn tools(data: &[u8]) {
    let Ok(page) = RawJson::parse(data.to_vec()) else { return };
    let mut known = HashMap::new();
    mirrored::note(&mut known, &[page]);
    for parameters in known.values() {
        for (index, parameter) in parameters.iter().enumerate() {
            assert!(parameter.header.bytes().all(|byte| byte.is_ascii_graphic() && !b":;,\"".contains(&byte)));
            assert!(!parameter.path.is_empty() && parameter.path.len() <= 16, "deeper than is looked");
            assert!(parameters.iter().skip(index + 1).all(|other| other.header != parameter.header));
        }
    }
}

#[cfg(test)]
mod tests {
    use kennel_testkit::replay_corpus;

    #[test]
    fn the_corpora_of_the_fuzzer_have_no_findings() {
        replay_corpus("seal", super::seal).unwrap();
        replay_corpus("tools", super::tools).unwrap();
    }
}
