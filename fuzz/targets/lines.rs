//! See `kennel_exec::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kennel_exec::fuzzing::lines(data));
