//! See `kennel_gateway::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kennel_gateway::fuzzing::websocket(data));
