//! What of the protocol arrives through Kennel, for clients and servers of both eras, over every door and with every process
//! model: each cell of `docs/fidelity.md` is looked at with a real Kennel, a real server in a box, and real bytes.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "fidelity/asking.rs"]
mod asking;
#[path = "fidelity/client.rs"]
mod client;
#[path = "fidelity/columns.rs"]
mod columns;
#[path = "fidelity/http.rs"]
mod http;
#[path = "fidelity/lines.rs"]
mod lines;
#[path = "fidelity/news.rs"]
mod news;
#[path = "fidelity/page.rs"]
mod page;
#[path = "fidelity/place.rs"]
mod place;
#[path = "fidelity/plain.rs"]
mod plain;
#[path = "fidelity/rows.rs"]
mod rows;
#[path = "fidelity/seen.rs"]
mod seen;
#[path = "fidelity/socket.rs"]
mod socket;
mod support;
#[path = "fidelity/tasks.rs"]
mod tasks;
#[path = "fidelity/wire.rs"]
mod wire;

use std::path::Path;

/// The variable that has the page written instead of compared.
const WRITE: &str = "KENNEL_WRITE_FIDELITY";

#[test]
fn the_page_says_what_arrives() {
    let (cells, failures) = columns::look();
    assert!(failures.is_empty(), "{} cells are not as they should be:\n{}", failures.len(), failures.join("\n"));
    let page = page::page(&cells);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fidelity.md");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, page).expect("the page can be written");
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differences = page::differences(&written, &page);
    assert!(
        written == page,
        "docs/fidelity.md (-) is not what was seen (+). If it is meant to be so, write it anew with {WRITE}=1 cargo test \
         -p kennel --test fidelity:\n{differences}"
    );
}
