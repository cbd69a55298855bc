//! Files of every client, as they look in the field: read without loss, changed without harm, and broken ones refused.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "clients/broken.rs"]
mod broken;
#[path = "clients/export.rs"]
mod export;
#[path = "clients/import.rs"]
mod import;
#[path = "clients/install.rs"]
mod install;
#[path = "clients/plan.rs"]
mod plan;
#[path = "clients/properties.rs"]
mod properties;
#[path = "clients/scene.rs"]
mod scene;
