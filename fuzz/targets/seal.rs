//! See `kennel_hub::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kennel_hub::fuzzing::seal(data));
