//! See `kennel_code::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kennel_code::fuzzing::cell_output(data));
