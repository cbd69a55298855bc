//! Owns how what `[defaults]` says is added to what a server says.

use crate::keys::{Key, Kind};
use crate::tree::{Content, Entry, Node};

/// The server's table, with what the defaults say where it is silent. Tables are put together key by key, everything else
/// is the one or the other.
pub(crate) fn with_defaults(own: &Node, defaults: &Node, keys: &[Key]) -> Node {
    let mut entries: Vec<Entry> = own.entries().to_vec();
    for default in defaults.entries() {
        let Some(there) = entries.iter_mut().find(|entry| entry.key == default.key) else {
            entries.push(default.clone());
            continue;
        };
        let kind = keys.iter().find(|key| key.name == default.key).map(|key| &key.kind);
        match kind {
            Some(Kind::Table(keys)) => there.value = with_defaults(&there.value, &default.value, keys),
            // Names are not keys: what they are set to is taken whole.
            Some(Kind::Variables | Kind::Headers | Kind::ByTool(_)) => {
                there.value = with_defaults(&there.value, &default.value, &[]);
            }
            _ => {}
        }
    }
    Node::new(own.at, Content::Table(entries))
}
