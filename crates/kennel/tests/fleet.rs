//! A whole fleet behind `kennel serve`: a hundred servers, some of them broken, a gateway that is killed, and a file that
//! changes while many clients call.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "fleet/broken.rs"]
mod broken;
#[path = "fleet/editing.rs"]
mod editing;
#[path = "fleet/good.rs"]
mod good;
#[path = "fleet/hundred.rs"]
mod hundred;
#[path = "fleet/restarting.rs"]
mod restarting;
#[path = "serve/scene.rs"]
#[allow(dead_code, reason = "each test program uses its own part of this")]
mod scene;
mod support;
