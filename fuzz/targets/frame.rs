//! See `kennel_wire::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kennel_wire::fuzzing::frame(data));
