//! See `kennel_packages::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kennel_packages::fuzzing::installer_output(data));
