//! The lines of the admin socket, whose parser is in the program itself.
#![no_main]

#[path = "../../crates/kennel/src/commands/admin/fuzzing.rs"]
mod fuzzing;
#[path = "../../crates/kennel/src/commands/admin/message.rs"]
mod message;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzing::admin(data));
