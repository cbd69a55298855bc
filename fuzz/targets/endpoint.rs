//! See `kennel_upstream::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kennel_upstream::fuzzing::endpoint(data));
