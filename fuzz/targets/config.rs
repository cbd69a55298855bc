//! See `kennel_config::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kennel_config::fuzzing::config(data));
