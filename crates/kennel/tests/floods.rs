//! What a peer can make Kennel keep, ask and write: each row of `docs/limits.md` is driven as fast as can be, by a server
//! in a box or by a client at a door, and has to stay below its bound, leave others alone, and be gone afterwards.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "floods/clients.rs"]
mod clients;
#[path = "floods/doors.rs"]
mod doors;
#[path = "floods/gateway.rs"]
mod gateway;
#[path = "floods/page.rs"]
mod page;
#[path = "floods/rows.rs"]
mod rows;
#[path = "floods/starts.rs"]
mod starts;
mod support;
#[path = "floods/upstream.rs"]
mod upstream;

use gateway::Gateway;
use kennel_testkit::Caller;
use rows::{ROWS, Row};
use support::caller::{myself, needs_root};

/// Drives these rows one after the other against one gateway.
fn drive(caller: Caller, is_driven: impl Fn(&Row) -> bool) {
    let _alone = support::alone();
    let gateway = Gateway::start(caller);
    let quiet = gateway.quiet();
    let mut complaints = Vec::new();
    for row in ROWS.iter().filter(|row| is_driven(row)) {
        let seen = gateway.drive(row);
        support::announce(&format!("{caller:?} {:24} {seen}", row.name));
        complaints.extend(seen.complaints(row, quiet).into_iter().map(|text| format!("{}: {text}", row.name)));
    }
    complaints.extend(gateway.end());
    assert!(complaints.is_empty(), "as {caller:?}:\n{}", complaints.join("\n"));
}

#[test]
fn what_a_peer_can_make_kennel_keep_is_bounded_and_released() {
    drive(myself(), |_| true);
}

#[test]
fn it_is_so_for_an_ordinary_user_too() {
    if needs_root("floods as an ordinary user beside root") {
        drive(Caller::User, |row| row.is_for_both);
    }
}

#[test]
fn the_page_names_what_is_driven_and_nothing_else() {
    let on_page = page::tests();
    let mut missing: Vec<_> = ROWS.iter().map(|row| row.name).filter(|name| !on_page.contains(*name)).collect();
    assert!(missing.is_empty(), "docs/limits.md does not name {missing:?}");
    let others = starts::ROWS;
    missing = on_page.iter().map(String::as_str).filter(|name| ROWS.iter().all(|row| row.name != *name)).collect();
    missing.retain(|name| !others.contains(name) && !page::is_a_file(name));
    assert!(missing.is_empty(), "docs/limits.md names tests that are not there: {missing:?}");
}
